"""Numbers, texts, days and instants as the contract counts them.

Instants are integer milliseconds since 1970, days are integers since 1970-01-01; both reach beyond the years that
`datetime` knows, in the proleptic Gregorian calendar.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

SECOND_MS = 1000
MINUTE_MS = 60_000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000
MAX_SAFE = 2**53 - 1
MIN_MS = -62_135_596_800_000
"""0001-01-01T00:00:00.000Z."""
MAX_MS = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z."""
CYCLE_DAYS = 146_097
"""Days of 400 years, after which dates and weekdays repeat."""
CYCLE_MS = CYCLE_DAYS * DAY_MS

BLANKS = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What counts as white space, as the inside of a character class."""
_TRIMMED = BLANKS.replace("\u2000-\u200a", "".join(map(chr, range(0x2000, 0x200B))))
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_LAST_ORDINAL = date.max.toordinal()
_LENGTHS = ((0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31))
MONTHS_OF_YEAR = tuple(tuple((sum(lengths[:month]), lengths[month]) for month in range(13)) for lengths in _LENGTHS)
"""For a common and a leap year, by month: the days of the year before it, and its length."""

_CANONICAL = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,3}))?")


def safe_integer(value: object) -> int | None:
    """Return the integer that a JSON value is, `60.0` too, or None for all else and beyond 2^53-1."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and -MAX_SAFE <= value <= MAX_SAFE else None


def trim(text: str) -> str:
    """Return the text without white space around, by the set of the contract."""
    return text.strip(_TRIMMED)


def is_trimmed(text: str) -> bool:
    """Tell whether a text is not empty and has no white space around."""
    return text != "" and trim(text) == text


def utf16_length(text: str) -> int:
    """Count the UTF-16 code units of a text."""
    return len(text) + sum(character > "\uffff" for character in text)


def in_range(instant_ms: int) -> bool:
    """Tell whether an instant lies in the years 1 to 9999."""
    return MIN_MS <= instant_ms <= MAX_MS


def is_leap(year: int) -> bool:
    """Tell whether a year has 366 days."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def first_day_of(year: int) -> int:
    """Return the day number of January 1."""
    before = year - 1
    return before * 365 + before // 4 - before // 100 + before // 400 + 1 - _EPOCH_ORDINAL


def day_number(*, year: int, month: int, day: int) -> int | None:
    """Return the day number of a date, or None when the calendar has no such date."""
    if not 1 <= month <= 12:
        return None
    before, length = MONTHS_OF_YEAR[is_leap(year)][month]
    return first_day_of(year) + before + day - 1 if 1 <= day <= length else None


def date_of(day: int) -> tuple[int, int, int]:
    """Return year, month and day of a day number."""
    ordinal = day + _EPOCH_ORDINAL
    if 1 <= ordinal <= _LAST_ORDINAL:
        found = date.fromordinal(ordinal)
        return found.year, found.month, found.day
    cycles = (ordinal - 1) // CYCLE_DAYS
    found = date.fromordinal(ordinal - cycles * CYCLE_DAYS)
    return found.year + cycles * 400, found.month, found.day


def parse_time(text: str) -> int | None:
    """Return the milliseconds of the day of `HH:mm:ss[.f{1,3}]`, or None."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    hour, minute, second, fraction = match.groups()
    return time_ms(hour=int(hour), minute=int(minute), second=int(second), fraction=fraction or "")


def time_ms(*, hour: int, minute: int, second: int, fraction: str) -> int | None:
    """Return the milliseconds of a time of day, or None when no clock shows it."""
    if hour > 23 or minute > 59 or second > 59:
        return None
    return hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + int(fraction.ljust(3, "0"))


def format_time(time_of_day_ms: int) -> str:
    """Return `HH:mm:ss.SSS`."""
    seconds, fraction = divmod(time_of_day_ms, SECOND_MS)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02d}:{minute:02d}:{second:02d}.{fraction:03d}"


def format_wall(wall_ms: int) -> str:
    """Return `YYYY-MM-DDTHH:mm:ss.SSS` of a local date and time given as milliseconds."""
    day, rest = divmod(wall_ms, DAY_MS)
    year, month, date_day = date_of(day)
    return f"{year:04d}-{month:02d}-{date_day:02d}T{format_time(rest)}"


@lru_cache(maxsize=4096)
def format_instant(instant_ms: int) -> str:
    """Return the canonical text of an instant, `YYYY-MM-DDTHH:mm:ss.SSSZ`."""
    return f"{format_wall(instant_ms)}Z"


def parse_instant(value: object) -> int | None:
    """Return the instant of a canonical text, or None for any other value."""
    match = _CANONICAL.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    number = day_number(year=year, month=month, day=day)
    clock = time_ms(hour=hour, minute=minute, second=second, fraction=match[7])
    return None if number is None or clock is None or year < 1 else number * DAY_MS + clock
