"""DATE, DATE-TIME, DURATION and PERIOD values of RFC 5545 section 3.3 as integers.

A wall clock is `wall_ms`: the milliseconds since 1970-01-01T00:00:00 as that clock shows them, without a zone. Plain
integers hold every day from year 1 to the day after 9999-12-31, which `datetime` cannot.
"""

import re
from datetime import date
from functools import lru_cache
from typing import NamedTuple

DAY_MS = 86_400_000
SECOND_MS = 1000
_EPOCH = 719_163
_LAST_ORDINAL = date.max.toordinal()
MAX_WALL_MS = (_LAST_ORDINAL - _EPOCH + 1) * DAY_MS
MIN_WALL_MS = (1 - _EPOCH) * DAY_MS

_TIME = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})([0-9]{2})(Z)?)?\Z")
_DURATION = re.compile(
    r"([+-]?)P(?:([0-9]{1,9})W)?(?:([0-9]{1,9})D)?"
    r"(T)?(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})S)?\Z"
)
# No value that the patterns above take is longer, so what is remembered stays small.
_LONGEST_TIME, _LONGEST_DURATION = 16, 64
_OFFSET = re.compile(r"([+-])([0-9]{2})([0-9]{2})([0-9]{2})?\Z")
_MAX_DURATION_DAYS = 366 * 10_000


class TimeValue(NamedTuple):
    """A DATE or DATE-TIME as written: its wall clock, whether it is a DATE, whether it ends in Z, and its TZID."""

    wall_ms: int
    is_date: bool
    utc: bool
    tzid: str | None


class Duration(NamedTuple):
    """Nominal days and exact milliseconds, both with the sign of the value (RFC 5545 3.3.6)."""

    days: int
    exact_ms: int

    @property
    def total_ms(self) -> int:
        """Length with days of 24 hours, for comparing only."""
        return self.days * DAY_MS + self.exact_ms


@lru_cache(maxsize=8192)
def day_number(year: int, *, month: int, day: int) -> int | None:
    """Days since 1970-01-01, or None for a day that the calendar does not have."""
    try:
        return date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return None


@lru_cache(maxsize=16384)
def civil(day: int) -> tuple[int, int, int]:
    """Year, month and day of month of a day number; days outside years 1 to 9999 count as the first or last one."""
    found = date.fromordinal(min(max(day + _EPOCH, 1), _LAST_ORDINAL))
    return found.year, found.month, found.day


def parse_time(text: str, *, tzid: str | None = None) -> TimeValue | None:
    """A DATE or DATE-TIME in the basic form of RFC 5545, or None."""
    found = _time_value(text) if len(text) <= _LONGEST_TIME else None
    if tzid is None or found is None or found.is_date or found.utc:
        return found
    return TimeValue(found.wall_ms, False, False, tzid)


@lru_cache(maxsize=16384)
def _time_value(text: str) -> TimeValue | None:
    match = _TIME.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, zulu = match.groups()
    number = day_number(int(year), month=int(month), day=int(day))
    if number is None:
        return None
    if hour is None:
        return TimeValue(number * DAY_MS, True, False, None)
    hours, minutes, seconds = int(hour), int(minute), int(second)
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    wall_ms = number * DAY_MS + (hours * 3600 + minutes * 60 + min(seconds, 59)) * SECOND_MS
    return TimeValue(wall_ms, False, zulu is not None, None)


def parse_duration(text: str) -> Duration | None:
    """A DURATION, or None when it cannot be read."""
    clean = text.strip()
    return _duration(clean) if len(clean) <= _LONGEST_DURATION else None


@lru_cache(maxsize=1024)
def _duration(text: str) -> Duration | None:
    match = _DURATION.match(text)
    if match is None:
        return None
    sign, weeks, days, mark, hours, minutes, seconds = match.groups()
    parts = (weeks, days, hours, minutes, seconds)
    if all(part is None for part in parts) or (mark is None) != all(part is None for part in parts[2:]):
        return None
    factor = -1 if sign == "-" else 1
    whole = int(weeks or 0) * 7 + int(days or 0)
    exact = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    if whole > _MAX_DURATION_DAYS or exact > _MAX_DURATION_DAYS * 86_400:
        return None
    return Duration(factor * whole, factor * exact * SECOND_MS)


def parse_offset(text: str) -> int | None:
    """A UTC-OFFSET in milliseconds, or None."""
    match = _OFFSET.match(text.strip())
    if match is None:
        return None
    sign, hours, minutes, seconds = match.groups()
    total = int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)
    if total >= 86_400:
        return None
    return (-total if sign == "-" else total) * SECOND_MS


@lru_cache(maxsize=16384)
def date_text(day: int) -> str:
    """ISO 8601 date of a day number; the day after 9999-12-31 takes the expanded form."""
    if day + _EPOCH > _LAST_ORDINAL:
        return "+10000-01-01"
    year, month, number = civil(day)
    return f"{year:04d}-{month:02d}-{number:02d}"


@lru_cache(maxsize=4096)
def clock_text(of_day_ms: int) -> str:
    """hh:mm:ss of the milliseconds since midnight."""
    seconds = of_day_ms // SECOND_MS
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def basic_text(wall_ms: int, *, is_date: bool, utc: bool = False) -> str:
    """A DATE or DATE-TIME value as RFC 5545 writes it."""
    day, of_day = divmod(wall_ms, DAY_MS)
    head = date_text(min(day, _LAST_ORDINAL - _EPOCH)).replace("-", "")
    if is_date:
        return head
    return f"{head}T{clock_text(of_day).replace(':', '')}{'Z' if utc else ''}"


def weekday(day: int) -> int:
    """Weekday of a day number, Monday 0."""
    return (day + 3) % 7
