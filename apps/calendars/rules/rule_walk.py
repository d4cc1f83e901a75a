"""The wall clocks of one recurrence rule in order, begun near a window instead of at DTSTART.

A rule is cut into periods (its FREQ times INTERVAL) that are numbered from DTSTART's own, so that period 40,000 costs
what period 1 costs. COUNT needs the number of instances before the window: by arithmetic where every period holds the
same number, by counting periods otherwise. No instance outside the window is ever made, however many a day holds.
"""

from collections.abc import Iterator
from math import gcd

from apps.calendars.rules.period_days import DayRules
from apps.calendars.rules.recurrence import Rule
from apps.calendars.rules.rule_clocks import Clocks
from apps.calendars.rules.values import DAY_MS, MAX_WALL_MS, SECOND_MS, civil, day_number, weekday

HOUR_MS = 3_600_000
# How many periods of a frequency until the calendar repeats itself (400 years): a rule without an instance in so many
# has none.
_CYCLES = {"YEARLY": 400, "MONTHLY": 4_800, "WEEKLY": 20_871, "DAILY": 146_097, "HOURLY": 3_506_328}
# A rule without an instance in this many periods (32 years of days, 230 of weeks) is taken to have no more.
MAX_BARREN_PERIODS = 12_000
# How many periods one walk looks at: 160 years of days. Nothing that people plan needs more at once.
MAX_WALKED_PERIODS = 60_000
_MOST_DAYS = {"WEEKLY": 7, "MONTHLY": 31, "YEARLY": 366}


class RuleWalk:
    """Instances of `rule` for a series that starts at `start_ms` (wall clock)."""

    def __init__(self, *, rule: Rule, start_ms: int) -> None:
        self.rule = rule
        self.start_ms = start_ms
        self.start_day, of_day = divmod(start_ms, DAY_MS)
        self.days = DayRules(rule=rule, start_day=self.start_day)
        self.positions = rule.bysetpos
        self.freq, self.interval = rule.freq, rule.interval
        hours = rule.byhour or (of_day // HOUR_MS,)
        if self.freq == "HOURLY":
            hours = self._hours_of_days(start_hour=of_day // HOUR_MS) if self._is_daily() else (0,)
        if self.freq == "DAILY" and self.interval == 1 and not self.positions and not self.days.unrestricted:
            # The same days, found a month at a time: most days of a sparse rule need not be asked.
            self.freq = "MONTHLY"
        self.hourly = self.freq == "HOURLY"
        seconds = of_day // SECOND_MS
        minutes = rule.byminute or (seconds // 60 % 60,)
        self.clocks = Clocks(hours=hours, minutes=minutes, seconds=rule.bysecond or (seconds % 60,))
        self.most_barren = min(MAX_BARREN_PERIODS, _CYCLES[self.freq] // gcd(_CYCLES[self.freq], self.interval))
        # Periods looked at so far, for callers that must not spend too many.
        self.periods = 0
        # Whether a walk ended because it had looked at too many, so that what it found says nothing of the rest.
        self.gave_up = False
        year, month, _ = civil(self.start_day)
        self.first_month = year * 12 + month - 1
        self.week_start = self.start_day - (weekday(self.start_day) - rule.wkst) % 7
        self.start_is_instance = next(self._since(0, start_ms), None) == start_ms

    def _is_daily(self) -> bool:
        """Whether an hourly rule has the same hours each day."""
        return not self.positions and 24 % self.interval == 0

    def _hours_of_days(self, *, start_hour: int) -> tuple[int, ...]:
        """Make the rule one of whole days, and return its hours."""
        step, wanted = self.interval, self.rule.byhour
        self.freq, self.interval = "DAILY", 1
        return tuple(h for h in range(24) if (h - start_hour) % step == 0 and (not wanted or h in wanted))

    def period_begin(self, index: int) -> int | None:
        """Wall clock at which a period begins, or None past the last year."""
        step = index * self.interval
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
        return max(0, passed // self.interval)

    def _starts(self, index: int) -> list[int]:
        """Wall clocks of the midnights (HOURLY: full hours) that the clocks of one period are counted from."""
        if not self.hourly:
            return [day * DAY_MS for day in self._days(index)]
        begin = (self.start_ms // HOUR_MS + index * self.interval) * HOUR_MS
        wanted = self.rule.byhour
        fits = not wanted or begin % DAY_MS // HOUR_MS in wanted
        return [begin] if fits and self.days.fits(begin // DAY_MS) else []

    def _days(self, index: int) -> list[int]:
        step = index * self.interval
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

    def _at_positions(self, starts: list[int]) -> list[int]:
        # By arithmetic: the set of a period can be far too large to build.
        each = self.clocks.size
        size = len(starts) * each
        found = set()
        for position in self.positions:
            place = position - 1 if position > 0 else size + position
            if 0 <= place < size:
                found.add(starts[place // each] + self.clocks[place % each])
        return sorted(found)

    def _size(self, starts: list[int]) -> int:
        """How many instances a period holds, those before DTSTART included."""
        return len(self._at_positions(starts)) if self.positions else len(starts) * self.clocks.size

    def _below(self, starts: list[int], wall_ms: int) -> int:
        """How many of them lie before a wall clock."""
        if self.positions:
            return sum(1 for wall in self._at_positions(starts) if wall < wall_ms)
        clocks = self.clocks
        if not starts or starts[-1] + clocks.last < wall_ms:
            return len(starts) * clocks.size
        if starts[0] + clocks.first >= wall_ms:
            return 0
        return sum(clocks.below(wall_ms - start) for start in starts)

    def _since(self, index: int, wall_ms: int) -> Iterator[int]:
        """Wall clocks of a period from one on, in order."""
        return self._of_starts(self._starts(index), wall_ms)

    def _of_starts(self, starts: list[int], wall_ms: int) -> Iterator[int]:
        if self.positions:
            return (wall for wall in self._at_positions(starts) if wall >= wall_ms)
        clocks = self.clocks
        if clocks.size == 1:
            clock = clocks.first
            return (start + clock for start in starts if start + clock >= wall_ms)
        return (start + clock for start in starts for clock in clocks.since(wall_ms - start))

    def walls(self, *, low_ms: int, high_ms: int) -> Iterator[int]:
        """Wall clocks from `low_ms` up to before `high_ms`, never before DTSTART; COUNT applies, UNTIL does not."""
        high_ms = min(high_ms, MAX_WALL_MS)
        if low_ms >= high_ms or not self.clocks.size:
            # Past UNTIL: without this the whole series would be walked to find nothing.
            return
        index, seen, count = self._entry(low_ms, high_ms)
        first_ms = max(low_ms, self.start_ms)
        barren = walked = 0
        while barren < self.most_barren and walked < MAX_WALKED_PERIODS:
            self.periods += 1
            walked += 1
            begin = self.period_begin(index)
            if begin is None or begin >= high_ms or (count is not None and seen >= count):
                return
            starts = self._starts(index)
            if count is not None:
                seen += self._below(starts, first_ms) - self._below(starts, self.start_ms)
            for wall in self._of_starts(starts, first_ms):
                if wall >= high_ms or (count is not None and seen >= count):
                    return
                seen += 1
                yield wall
            empty = not self._size(starts) if self.positions else not starts
            barren = barren + 1 if empty else 0
            index = self._next(index, empty=empty, begin=begin)
        self.gave_up = self.gave_up or walked >= MAX_WALKED_PERIODS

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
        step_ms = self.interval * HOUR_MS
        return index + max(1, -(-left // step_ms))

    def _most_before(self, wall_ms: int) -> int:
        """More instances than there can be before a wall clock, DTSTART included."""
        each = _MOST_DAYS.get(self.freq, 1) * self.clocks.size
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
        return index * self._size(self._starts(1)) - self._below(self._starts(0), self.start_ms)

    def count_before(self, *, wall_ms: int) -> int | None:
        """How many of COUNT lie before a wall clock, DTSTART always among them; None when counting takes too long."""
        index = max(0, self.period_of(wall_ms) - 1)
        if not self._is_even():
            if index > MAX_WALKED_PERIODS:
                return None
            index = 0
        number = self._before(index) + (0 if self.start_is_instance else 1)
        while (begin := self.period_begin(index)) is not None and begin < wall_ms:
            starts = self._starts(index)
            number += max(0, self._below(starts, wall_ms) - self._below(starts, self.start_ms))
            index += 1
        return number
