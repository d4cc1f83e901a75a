"""Rules of the wall clock as dates and times of day, ready to be walked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache

from apps.schedules.rules.cron import parse_expression, values_of
from apps.schedules.rules.kinds import Cron, Daily, WallRule, Weekly
from apps.schedules.rules.values import HOUR_MS, MINUTE_MS, MONTHS_OF_YEAR, date_of, first_day_of, is_leap
from apps.schedules.rules.zones import Zone, zone_of

_EVERY_DATE = (1 << 31) - 1
_EVERY_WEEKDAY = 0b111_1111
_ALWAYS = (1 << 28) - 1
"""The dates that every month has."""
_ALL_MONTHS = tuple(range(1, 13))
_WEEKLY = tuple(sum(1 << date for date in range(first, 31, 7)) for first in range(7))
"""By the first date (from 0), the dates of a month a week apart."""
_LONGEST = {month: 29 if month == 2 else MONTHS_OF_YEAR[0][month][1] for month in _ALL_MONTHS}


class Pattern:
    """Which local dates and which times of day, in which zone.

    Dates of the month are counted from 0 here. `both` asks a date to satisfy the month's and the week's condition;
    without it, either is enough.
    """

    __slots__ = ("both", "dates", "months", "times", "weekdays", "zone")

    def __init__(
        self, *, zone: Zone, times: tuple[int, ...], dates: int, months: tuple[int, ...], weekdays: int, both: bool
    ) -> None:
        """Keep the sets."""
        self.zone = zone
        self.times = times
        self.dates = dates
        self.months = months
        self.weekdays = weekdays
        self.both = both

    @property
    def can_match(self) -> bool:
        """Whether the calendar has any date of the pattern."""
        if not self.both or self.dates & _ALWAYS:
            return True
        earliest = (self.dates & -self.dates).bit_length()
        return any(earliest <= _LONGEST[month] for month in self.months)

    def days(self, *, first: int, last: int) -> Iterator[int]:
        """Give the matching day numbers from the first to the last, ascending."""
        if not self.can_match:
            return
        dates, weekdays, both = self.dates, self.weekdays, self.both
        year, first_month, _ = date_of(first)
        months = self.months[bisect_left(self.months, first_month) :]
        while True:
            start, lengths = first_day_of(year), MONTHS_OF_YEAR[is_leap(year)]
            for month in months:
                before, length = lengths[month]
                month_start = start + before
                if month_start > last:
                    return
                for date in _dates_of(dates, weekdays, both, (month_start + 4) % 7, length):
                    day = month_start + date
                    if day >= first:
                        if day > last:
                            return
                        yield day
            if start > last:
                return
            year += 1
            months = self.months

    def days_back(self, *, first: int, last: int) -> Iterator[int]:
        """Give the matching day numbers from the last to the first, descending."""
        if not self.can_match:
            return
        dates, weekdays, both = self.dates, self.weekdays, self.both
        year, last_month, _ = date_of(last)
        months = self.months[: bisect_right(self.months, last_month)][::-1]
        while True:
            start, lengths = first_day_of(year), MONTHS_OF_YEAR[is_leap(year)]
            for month in months:
                before, length = lengths[month]
                month_start = start + before
                if month_start + length <= first:
                    return
                for date in reversed(_dates_of(dates, weekdays, both, (month_start + 4) % 7, length)):
                    day = month_start + date
                    if day <= last:
                        if day < first:
                            return
                        yield day
            if start < first:
                return
            year -= 1
            months = self.months[::-1]


@lru_cache(maxsize=4096)
def _dates_of(dates: int, weekdays: int, both: bool, first_weekday: int, length: int) -> tuple[int, ...]:
    """Return the matching dates of a month of a length whose first date is a weekday, Sunday 0."""
    by_week = _EVERY_DATE
    if weekdays != _EVERY_WEEKDAY:
        by_week = 0
        for weekday in values_of(weekdays):
            by_week |= _WEEKLY[(weekday - first_weekday) % 7]
    found = dates & by_week if both else dates | by_week
    return values_of(found & (1 << length) - 1)


@lru_cache(maxsize=4096)
def pattern_of(rule: WallRule) -> Pattern:
    """Return the pattern of a rule."""
    zone = zone_of(rule.time_zone)
    if isinstance(rule, Cron):
        return _cron(rule.expression, zone)
    weekdays = _EVERY_WEEKDAY
    if isinstance(rule, Weekly):
        weekdays = sum(1 << day % 7 for day in rule.weekdays)
    assert isinstance(rule, Daily | Weekly)
    times = (rule.time_ms,)
    return Pattern(zone=zone, times=times, dates=_EVERY_DATE, months=_ALL_MONTHS, weekdays=weekdays, both=True)


def _cron(expression: str, zone: Zone) -> Pattern:
    fields = parse_expression(expression)
    return Pattern(
        zone=zone,
        times=_times(fields.hour.values, fields.minute.values),
        dates=fields.day_of_month.values >> 1,
        months=values_of(fields.month.values),
        weekdays=fields.day_of_week.values,
        both=fields.day_of_month.star or fields.day_of_week.star,
    )


@lru_cache(maxsize=512)
def _times(hours: int, minutes: int) -> tuple[int, ...]:
    in_hour = [minute * MINUTE_MS for minute in values_of(minutes)]
    return tuple(hour * HOUR_MS + minute for hour in values_of(hours) for minute in in_hour)
