"""The wall clocks of one recurrence rule in order, begun near a window instead of at DTSTART.

A rule is cut into periods (its FREQ times INTERVAL) that are numbered from DTSTART's own, so that period 40,000 costs
what period 1 costs. COUNT needs the number of instances before the window: by arithmetic where every period holds the
same number, by walking otherwise.
"""

from collections.abc import Iterator

from apps.calendars.rules.period_days import DayRules
from apps.calendars.rules.recurrence import Rule
from apps.calendars.rules.values import DAY_MS, MAX_WALL_MS, SECOND_MS, civil, day_number, weekday

HOUR_MS = 3_600_000
# A rule without an instance in this many periods (54 years of days, 1,600 of months) is taken to have no more.
MAX_BARREN_PERIODS = 20_000
# How many periods one walk looks at: 34 years of hours, 800 of days. Nothing that people plan needs more at once.
MAX_WALKED_PERIODS = 300_000
_MOST_DAYS = {"WEEKLY": 7, "MONTHLY": 31, "YEARLY": 366}


class RuleWalk:
    """Instances of `rule` for a series that starts at `start_ms` (wall clock)."""

    def __init__(self, *, rule: Rule, start_ms: int) -> None:
        self.rule = rule
        self.start_ms = start_ms
        self.start_day, of_day = divmod(start_ms, DAY_MS)
        self.hourly = rule.freq == "HOURLY"
        self.days = DayRules(rule=rule, start_day=self.start_day)
        self.clocks = self._clocks(of_day=of_day)
        self.positions = rule.bysetpos
        self.freq = rule.freq
        if rule.freq == "DAILY" and rule.interval == 1 and not self.positions and not self.days.unrestricted:
            # The same days, found a month at a time: most days of a sparse rule need not be asked.
            self.freq = "MONTHLY"
        # Periods looked at so far, for callers that must not spend too many.
        self.periods = 0
        year, month, _ = civil(self.start_day)
        self.first_month = year * 12 + month - 1
        self.week_start = self.start_day - (weekday(self.start_day) - rule.wkst) % 7
        self.start_is_instance = start_ms in self._candidates(0)

    def _clocks(self, *, of_day: int) -> tuple[int, ...]:
        """Milliseconds since midnight (HOURLY: since the full hour) of the instances of one day (hour)."""
        seconds, rule = of_day // SECOND_MS, self.rule
        hours = (0,) if self.hourly else rule.byhour or (seconds // 3600,)
        minutes = rule.byminute or (seconds // 60 % 60,)
        within = rule.bysecond or (seconds % 60,)
        return tuple((h * 3600 + m * 60 + s) * SECOND_MS for h in hours for m in minutes for s in within)

    def period_begin(self, index: int) -> int | None:
        """Wall clock at which a period begins, or None past the last year."""
        step = index * self.rule.interval
        match self.freq:
            case "YEARLY":
                day = day_number(self.first_month // 12 + step, month=1, day=1)
                return None if day is None else day * DAY_MS
            case "MONTHLY":
                month = self.first_month + step
                day = day_number(month // 12, month=month % 12 + 1, day=1)
                return None if day is None else day * DAY_MS
            case "WEEKLY":
                begin = (self.week_start + 7 * step) * DAY_MS
            case "DAILY":
                begin = (self.start_day + step) * DAY_MS
            case _:
                begin = (self.start_ms // HOUR_MS + step) * HOUR_MS
        return begin if begin < MAX_WALL_MS else None

    def period_of(self, wall_ms: int) -> int:
        """Index of the last period that begins at or before a wall clock inside the calendar, at least 0."""
        day = wall_ms // DAY_MS
        match self.freq:
            case "YEARLY":
                passed = civil(day)[0] - self.first_month // 12
            case "MONTHLY":
                year, month, _ = civil(day)
                passed = year * 12 + month - 1 - self.first_month
            case "WEEKLY":
                passed = (day - self.week_start) // 7
            case "DAILY":
                passed = day - self.start_day
            case _:
                passed = wall_ms // HOUR_MS - self.start_ms // HOUR_MS
        return max(0, passed // self.rule.interval)

    def _candidates(self, index: int) -> Iterator[int]:
        """Wall clocks of one period in order, those before DTSTART included."""
        if self.hourly:
            begin = (self.start_ms // HOUR_MS + index * self.rule.interval) * HOUR_MS
            fits = not self.rule.byhour or begin % DAY_MS // HOUR_MS in self.rule.byhour
            starts = [begin] if fits and self.days.fits(begin // DAY_MS) else []
        else:
            starts = [day * DAY_MS for day in self._days(index)]
        if self.positions:
            return iter(self._at_positions(starts=starts))
        clocks = self.clocks
        if len(clocks) == 1:
            clock = clocks[0]
            return iter([start + clock for start in starts])
        return (start + clock for start in starts for clock in clocks)

    def _days(self, index: int) -> list[int]:
        step = index * self.rule.interval
        match self.freq:
            case "YEARLY":
                return self.days.of_year(self.first_month // 12 + step)
            case "MONTHLY":
                month = self.first_month + step
                return self.days.of_month(month // 12, month % 12 + 1)
            case "WEEKLY":
                return self.days.of_week(self.week_start + 7 * step)
            case _:
                day = self.start_day + step
                return [day] if self.days.fits(day) else []

    def _at_positions(self, *, starts: list[int]) -> list[int]:
        # By arithmetic: the set of a period can be far too large to build.
        size = len(starts) * len(self.clocks)
        found = set()
        for position in self.positions:
            place = position - 1 if position > 0 else size + position
            if 0 <= place < size:
                found.add(starts[place // len(self.clocks)] + self.clocks[place % len(self.clocks)])
        return sorted(found)

    def walls(self, *, low_ms: int, high_ms: int) -> Iterator[int]:
        """Wall clocks from `low_ms` up to before `high_ms`, never before DTSTART; COUNT applies, UNTIL does not."""
        start_ms = self.start_ms
        high_ms = min(high_ms, MAX_WALL_MS)
        if low_ms >= high_ms:
            # Past UNTIL: without this the whole series would be walked to find nothing.
            return
        index, seen, count = self._entry(low_ms, high_ms)
        barren = walked = 0
        while barren < MAX_BARREN_PERIODS and walked < MAX_WALKED_PERIODS:
            self.periods += 1
            walked += 1
            begin = self.period_begin(index)
            if begin is None or begin >= high_ms or (count is not None and seen >= count):
                return
            empty = True
            for wall in self._candidates(index):
                empty = False
                if wall < start_ms:
                    continue
                if count is not None:
                    seen += 1
                    if seen > count:
                        return
                if wall >= high_ms:
                    return
                if wall >= low_ms:
                    yield wall
            barren = barren + 1 if empty else 0
            index = self._next(index, empty=empty, begin=begin)

    def _entry(self, low_ms: int, high_ms: int) -> tuple[int, int, int | None]:
        """The period to begin with, how many of COUNT are past by then, and the COUNT that still matters."""
        count = self.rule.count
        # DTSTART is the first of COUNT even where the rule does not generate it.
        seen = 0 if self.start_is_instance else 1
        if count is not None and high_ms > self.start_ms and count >= self._most_before(high_ms):
            # It cannot run out before the window ends, so nothing needs counting.
            count = None
        if not self.start_ms < low_ms < high_ms:
            return 0, seen, count
        index = max(0, self.period_of(low_ms) - 1)
        if count is None:
            return index, seen, None
        return (index, seen + self._before(index), count) if self._is_even() else (0, seen, count)

    def _next(self, index: int, *, empty: bool, begin: int) -> int:
        """The period to look at next; an hourly rule leaves a whole day that does not fit in one step."""
        if not (empty and self.hourly) or self.days.fits(begin // DAY_MS):
            return index + 1
        left = (begin // DAY_MS + 1) * DAY_MS - begin
        step_ms = self.rule.interval * HOUR_MS
        return index + max(1, -(-left // step_ms))

    def _most_before(self, wall_ms: int) -> int:
        """More instances than there can be before a wall clock, DTSTART included."""
        each = _MOST_DAYS.get(self.freq, 1) * len(self.clocks)
        return (self.period_of(min(wall_ms, MAX_WALL_MS - 1)) + 1) * each + 1

    def can_run_out(self) -> bool:
        """Whether COUNT may be reached before the last year; one of a billion days never is."""
        count = self.rule.count
        return count is not None and count < self._most_before(MAX_WALL_MS)

    def _is_even(self) -> bool:
        """Whether every period holds the same number of instances."""
        if self.positions or (self.hourly and self.rule.byhour):
            return False
        if self.freq == "WEEKLY":
            return self.days.only_weekdays
        return self.freq in ("DAILY", "HOURLY") and self.days.unrestricted

    def _before(self, index: int) -> int:
        """Instances in the periods before `index`, for an even rule."""
        if index == 0:
            return 0
        each = sum(1 for _ in self._candidates(1))
        skipped = sum(1 for wall in self._candidates(0) if wall < self.start_ms)
        return index * each - skipped

    def count_before(self, *, wall_ms: int) -> int | None:
        """How many of COUNT lie before a wall clock, DTSTART always among them; None when counting takes too long."""
        index = max(0, self.period_of(wall_ms) - 1)
        if not self._is_even():
            if index > MAX_WALKED_PERIODS:
                return None
            index = 0
        number = self._before(index) + (0 if self.start_is_instance else 1)
        while (begin := self.period_begin(index)) is not None and begin < wall_ms:
            number += sum(1 for wall in self._candidates(index) if self.start_ms <= wall < wall_ms)
            index += 1
        return number
