"""The conversions of the mobile-calendar request and answer: what counts as a text, a number, a time.

Source: contracts/calendars.md sections 3.1, 8 and 14. The original is JavaScript,
so trimming, truth and lengths follow it.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from apps.core.errors import InvalidField, SaysoError

MINUTE_MS = 60_000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000
LONGEST_SPAN_MS = 31 * DAY_MS
EARLIEST_MS = 978_307_200_000
"""2001-01-01T00:00Z."""
FARTHEST_MS = 5 * 365 * DAY_MS
SECONDS_BOUND = 10**11
"""At or below this a number was meant as seconds."""
TIMEOUT_DEFAULT_MS = 300_000
TIMEOUT_MIN_MS = 3_000

BLANKS = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_DIGITS = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PREFIXED = {"0x": 16, "0o": 8, "0b": 2}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class InvalidRequest(SaysoError):
    """A valid item is required"""

    code = "invalid_request"


def trim(text: str) -> str:
    """Take the blanks off both ends as the original does: U+FEFF is one, U+0085 and U+001C to U+001F are none."""
    return text.strip(BLANKS)


def length(text: str) -> int:
    """Return the length in UTF-16 units."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)


def cut(text: str, *, units: int) -> str:
    """Cut to so many UTF-16 units, on whole characters."""
    if len(text) * 2 <= units or length(text) <= units:
        return text
    used = 0
    for index, character in enumerate(text):
        used += 2 if character > "\uffff" else 1
        if used > units:
            return text[:index]
    return text


def truthy(value: Any) -> bool:
    """Tell truth as the original does: empty lists and objects are true, NaN is false."""
    if isinstance(value, list | dict):
        return True
    return bool(value) and value == value


def pick(item: dict[str, Any], *, names: tuple[str, ...]) -> tuple[str, Any]:
    """Return name and value of the first truthy member; else of the last that is not null; else null."""
    chosen: tuple[str, Any] = (names[0], None)
    for name in names:
        value = item.get(name)
        if truthy(value):
            return name, value
        if value is not None:
            chosen = (name, value)
    return chosen


def named(name: str, *, canonical: str) -> str:
    """Return how an error names a field that has two spellings."""
    return name if name == canonical else f"{name} ({canonical})"


def as_text(value: Any) -> str:
    """Return any value as text, as the original does; a falsy one is empty."""
    if not truthy(value):
        return ""
    if isinstance(value, str):
        return value
    if value is True:
        return "true"
    if isinstance(value, list):
        return ",".join("" if member is None else _inner_text(member) for member in value)
    return "[object Object]" if isinstance(value, dict) else number_text(value)


def _inner_text(value: Any) -> str:
    if value is False:
        return "false"
    return as_text(value) or ("0" if value == 0 and not isinstance(value, str | list | dict) else "")


def number_text(value: float) -> str:
    """Return a number as the original writes it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if isinstance(value, int) and abs(value) >= 10**21:
        value = float(value) if value.bit_length() < 1024 else math.inf if value > 0 else -math.inf
    text = repr(value)
    return re.sub(r"e([+-])0*([0-9])", r"e\1\2", text)


def clean_text(value: Any, *, units: int) -> str:
    """Return text(v, n) of section 3.1: as text, trimmed, then cut."""
    return cut(trim(as_text(value)), units=units)


def text_field(value: Any, *, name: str, units: int) -> str:
    """Return a text of a request: numbers become text; raise for a boolean, list or object."""
    if isinstance(value, bool | list | dict):
        raise InvalidField(name, f"{name} must be a text")
    return clean_text(value, units=units)


def id_field(value: Any, *, name: str) -> str:
    """Return an id: trimmed, never cut, because a cut id is another id."""
    if isinstance(value, bool | list | dict):
        raise InvalidField(name, f"{name} must be a text")
    text = trim(as_text(value))
    if length(text) > 512:
        raise InvalidField(name, f"{name} must be at most 512 characters")
    return text


def bool_field(value: Any, *, name: str) -> bool | None:
    """Return a boolean or, for null, None; raise for anything else."""
    if value is None or isinstance(value, bool):
        return value
    raise InvalidField(name, f"{name} must be true or false")


def half_up(value: float) -> int:
    """Round half up, toward plus infinity."""
    return value if isinstance(value, int) else math.floor(value + 0.5)


def number_field(value: Any, *, name: str) -> int:
    """Return a rounded number: a number or decimal digits as text; raise for anything else."""
    if isinstance(value, str) and _DIGITS.fullmatch(trim(value)):
        return int(trim(value)[:40])
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidField(name, f"{name} must be a number")
    return half_up(value)


def int_field(value: Any, *, name: str, low: int, high: int) -> int:
    """Return a number clamped into its bounds."""
    return min(max(number_field(value, name=name), low), high)


def time_field(value: Any, *, name: str, now_ms: int) -> int:
    """Return Unix milliseconds from a number, digits, or an ISO 8601 time with offset; before 2001 becomes 2001."""
    if isinstance(value, str) and not _DIGITS.fullmatch(trim(value)):
        moment = iso_ms(trim(value))
        if moment is None:
            raise InvalidField(name, f"{name} must be Unix milliseconds or an ISO 8601 time with offset")
    else:
        moment = number_field(value, name=name)
    if moment <= SECONDS_BOUND:
        raise InvalidField(name, f"{name} must be in milliseconds since 1970, not in seconds")
    if moment > now_ms + FARTHEST_MS:
        raise InvalidField(name, f"{name} is more than five years ahead")
    return max(moment, EARLIEST_MS)


def iso_ms(text: str) -> int | None:
    """Return the milliseconds of an ISO 8601 time with offset, or None."""
    if not text.isascii() or len(text) > 64:
        return None
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    try:
        return half_up((moment - _EPOCH) / timedelta(milliseconds=1))
    except OverflowError:
        return None


def as_number(value: Any) -> float | None:
    """Return any value as the original reads a number, or None where that is not finite."""
    if value is None or value == "" or value is False or value == []:
        return 0
    if value is True:
        return 1
    if isinstance(value, list):
        return as_number(value[0]) if len(value) == 1 else None
    if isinstance(value, str):
        return _number_of_text(trim(value))
    if isinstance(value, int | float):
        return plain_number(value)
    return None


def _number_of_text(text: str) -> float | None:
    if text == "":
        return 0
    if _DIGITS.fullmatch(text) and len(text) < 16:
        return int(text)
    base = _PREFIXED.get(text[:2].lower())
    try:
        if base is not None and "_" not in text and text[2:3] not in ("+", "-", ""):
            return plain_number(int(text[2:], base))
        number = float(text) if _DECIMAL.fullmatch(text) else math.nan
    except (ValueError, OverflowError):
        return None
    return plain_number(int(number) if number.is_integer() else number)


def plain_number(value: float) -> float | None:
    """Return a finite number that every JSON writer can write: whole ones of more than 63 bits as a double."""
    try:
        number = float(value) if isinstance(value, int) and value.bit_length() > 63 else value
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def timeout_ms_of(value: Any) -> int:
    """Return how long a request waits, by section 8."""
    number = as_number(value)
    rounded = 0 if number is None else half_up(number)
    if rounded <= 0:
        return TIMEOUT_DEFAULT_MS
    return min(max(rounded, TIMEOUT_MIN_MS), TIMEOUT_DEFAULT_MS)
