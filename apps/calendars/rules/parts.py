"""One component of a stored object with its zones: what its occurrences look like (see `values` for wall clocks)."""

from functools import cached_property
from typing import NamedTuple

from apps.calendars.rules.details import Details, details_of
from apps.calendars.rules.reading import Reading
from apps.calendars.rules.values import DAY_MS, Duration, TimeValue
from apps.calendars.rules.zone_book import ZoneBook, year_of
from apps.calendars.rules.zones import Zone


class Slot(NamedTuple):
    """An original start: known by `key` (its instant, or the wall clock of a DATE), shown as `wall_ms`."""

    key: int
    wall_ms: int


class Times(NamedTuple):
    """Start and end of one component as wall clocks, instants and dates.

    `end_ms` is None for a to-do without DUE, `start_ms` for one without DTSTART. `first_ms` and `last_ms` bound the
    span that is matched against windows; they are None for a to-do without any time.
    """

    start_ms: int | None
    end_ms: int | None
    all_day: bool
    start_day: int | None
    end_day: int | None
    first_ms: int | None
    last_ms: int | None


class Part:
    """One component of an object with its zones resolved."""

    def __init__(self, *, reading: Reading, book: ZoneBook) -> None:
        self.reading = reading
        self.book = book
        self.years = _years(reading)
        self.todo = reading.kind == "VTODO"
        start, end = reading.start, reading.end
        self.start_zone = self.zone_of(start) if start is not None else book.owner
        self.end_zone = self.zone_of(end) if end is not None else self.start_zone
        self.anchor = reading.anchor
        self.anchor_zone = self.start_zone if start is not None else self.end_zone
        self.all_day = self.anchor is not None and self.anchor.is_date
        self.loose: list[str] = []
        self._settle_end()

    @cached_property
    def details(self) -> Details:
        """What the component says beside its times."""
        return details_of(component=self.reading.component)

    def zone_of(self, value: TimeValue) -> Zone:
        """The zone in which a value of this component is written."""
        return self.book.zone_of(value, first_year=self.years[0], last_year=self.years[1])

    def instant_of(self, value: TimeValue) -> int:
        """Instant of a value; a DATE is local midnight in the owner's zone."""
        return self.zone_of(value).to_utc(value.wall_ms)

    def _settle_end(self) -> None:
        """Bring DTEND, DUE and DURATION into one form: a fixed number of days, or nominal days and exact time."""
        reading = self.reading
        start, end = reading.start, reading.end
        self.length = Duration(1, 0) if self.all_day and not self.todo else Duration(0, 0)
        self.due_only = self.todo and start is None and end is not None
        self.has_end = end is not None or not self.todo
        if start is not None and end is not None:
            self._settle_given_end(start, end)
        elif start is not None and reading.duration is not None and reading.duration.total_ms > 0:
            self.has_end = True
            self.length = reading.duration
            if self.all_day:
                self.length = Duration(max(1, reading.duration.total_ms // DAY_MS), 0)

    def _settle_given_end(self, start: TimeValue, end: TimeValue) -> None:
        mixed = start.is_date != end.is_date
        if start.is_date and end.is_date:
            days = (end.wall_ms - start.wall_ms) // DAY_MS
            backwards = days < 0 if self.todo else days <= 0
            length = Duration(days, 0)
        else:
            # RFC 5545 3.8.5.3: an end given as DTEND makes an exact duration for every instance.
            exact = self.end_zone.to_utc(end.wall_ms) - self.start_zone.to_utc(start.wall_ms)
            backwards = exact < 0
            if mixed and end.is_date:
                backwards = end.wall_ms // DAY_MS < start.wall_ms // DAY_MS
            length = Duration(0, exact)
        if not backwards:
            self.length = length
        elif self.todo:
            self.loose.append("due_before_start")
            self.anchor, self.anchor_zone, self.all_day = end, self.end_zone, end.is_date
            self.due_only, self.length = True, Duration(0, 0)
        else:
            self.loose.append("end_not_after_start")

    def times(self, wall_ms: int) -> Times:
        """Times of the occurrence whose anchor shows that wall clock."""
        if self.all_day:
            return self._day_times(wall_ms)
        begin = self.anchor_zone.to_utc(wall_ms)
        if self.due_only:
            return Times(None, begin, False, None, None, begin, begin)
        end = self._end_of(wall_ms, begin)
        if self.todo:
            return self._todo_times(begin, end)
        return Times(begin, end, False, None, None, begin, end)

    def _end_of(self, wall_ms: int, begin: int) -> int:
        days, exact = self.length
        if days:
            return self.anchor_zone.to_utc(wall_ms + days * DAY_MS) + exact
        return begin + exact

    def _todo_times(self, begin: int, end: int) -> Times:
        if not self.has_end:
            return Times(begin, None, False, None, None, begin, begin)
        due = self.reading.end
        if due is not None and due.is_date:
            day = (begin + self.length.exact_ms - self.end_zone.to_utc(due.wall_ms) + due.wall_ms) // DAY_MS
            close = self.end_zone.to_utc((day + 1) * DAY_MS)
            return Times(begin, end, False, None, day, begin, max(begin, close))
        return Times(begin, end, False, None, None, begin, end)

    def _day_times(self, wall_ms: int) -> Times:
        day = wall_ms // DAY_MS
        owner = self.book.owner
        begin = owner.to_utc(day * DAY_MS)
        if self.due_only:
            return Times(None, begin, True, None, day, begin, owner.to_utc((day + 1) * DAY_MS))
        end_day = day + self.length.days
        end = owner.to_utc(end_day * DAY_MS) + self.length.exact_ms
        if not self.todo:
            return Times(begin, end, True, day, end_day, begin, end)
        if not self.has_end:
            return Times(begin, None, True, day, None, begin, owner.to_utc((day + 1) * DAY_MS))
        return Times(begin, end, True, day, end_day, begin, owner.to_utc((end_day + 1) * DAY_MS))


def _years(reading: Reading) -> tuple[int, int]:
    """Years in which the zone of a component matters; an endless rule looks a few years ahead."""
    values = [value for value in (reading.start, reading.end, reading.recurrence_id) if value is not None]
    values += [extra.start for extra in reading.extra_dates]
    if not values:
        return 2000, 2000
    low, high = min(value.wall_ms for value in values), max(value.wall_ms for value in values)
    first, last = year_of(low), year_of(high)
    if reading.rules:
        ends = [year_of(rule.until.wall_ms) if rule.until is not None else first + 4 for rule in reading.rules]
        last = max(last, min(max(ends), first + 4))
    return first, last
