"""The cron dialect: five fields of numbers, the sets they stand for, and their canonical text.

A set is an integer with one bit for each value. A field that begins with `*` is a star whatever it matches, which
decides how the two day fields work together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from apps.schedules.rules.errors import InvalidRule
from apps.schedules.rules.values import BLANKS, is_trimmed

_FIVE = re.compile(f"[{BLANKS}]+".join([f"([^{BLANKS}]+)"] * 5))
_STAR_STEP = re.compile(r"\*/([0-9]+)")
_ELEMENT = re.compile(r"([0-9]+)(?:-([0-9]+))?(?:/([0-9]+))?")
_MOST_DIGITS = 5
_CACHED_LENGTH = 128
_SUNDAY = 1 << 7


class Bounds(NamedTuple):
    """A field by name, with its lowest and highest value."""

    name: str
    low: int
    high: int


class Field(NamedTuple):
    """The values of a field as a set, and whether its text begins with `*`."""

    values: int
    star: bool


class Fields(NamedTuple):
    """A whole expression."""

    minute: Field
    hour: Field
    day_of_month: Field
    month: Field
    day_of_week: Field


BOUNDS = (
    Bounds("minute", 0, 59),
    Bounds("hour", 0, 23),
    Bounds("day-of-month", 1, 31),
    Bounds("month", 1, 12),
    Bounds("day-of-week", 0, 7),
)


def parse_expression(expression: object) -> Fields:
    """Return the fields of an expression; raises InvalidRule, which names the first bad `field` if it is one."""
    if isinstance(expression, str) and len(expression) <= _CACHED_LENGTH:
        return _short_expression(expression)
    return _parse(expression)


@lru_cache(maxsize=1024)
def _short_expression(expression: str) -> Fields:
    return _parse(expression)


def _parse(expression: object) -> Fields:
    match = _FIVE.fullmatch(expression) if isinstance(expression, str) else None
    if match is None:
        if not isinstance(expression, str) or not is_trimmed(expression):
            raise InvalidRule("The cron expression must be a text without white space around")
        raise InvalidRule("The cron expression must have five fields: minute hour day-of-month month day-of-week")
    read = _short_field if len(match[0]) <= _CACHED_LENGTH else _field
    return Fields(*map(read, range(len(BOUNDS)), match.groups()))


def canonical_expression(fields: Fields) -> str:
    """Return the one text that stands for the fields."""
    return " ".join(map(_field_text, range(len(BOUNDS)), fields))


@lru_cache(maxsize=4096)
def _short_field(number: int, text: str) -> Field:
    return _field(number, text)


def _field(number: int, text: str) -> Field:
    bounds = BOUNDS[number]
    values = 0
    for element in text.split(","):
        for value in _element(element, bounds):
            values |= 1 << value
    if values & _SUNDAY and bounds.high == 7:
        values ^= _SUNDAY | (~values & 1)
    return Field(values, text.startswith("*"))


def _element(text: str, bounds: Bounds) -> range:
    name, low, high = bounds
    if not text:
        raise _bad(name, "has an empty element")
    if text.startswith("*"):
        if text == "*":
            return range(low, high + 1)
        starred = _STAR_STEP.fullmatch(text)
        if starred is None:
            raise _bad(name, "has an element that is not understood")
        return range(low, high + 1, _step(starred[1], name))
    match = _ELEMENT.fullmatch(text)
    if match is None:
        raise _bad(name, "has an element that is not understood")
    start = _number(match[1])
    if not low <= start <= high:
        raise _bad(name, f"has a value outside {low} to {high}")
    if match[2] is None:
        if match[3] is not None:
            raise _bad(name, "has a step without a range")
        return range(start, start + 1)
    end = _number(match[2])
    if not low <= end <= high:
        raise _bad(name, f"has a value outside {low} to {high}")
    if start > end:
        raise _bad(name, "has a range whose end lies before its start")
    return range(start, end + 1, 1 if match[3] is None else _step(match[3], name))


def _step(digits: str, name: str) -> int:
    step = _number(digits)
    if step == 0:
        raise _bad(name, "has a step of 0")
    return step


def _number(digits: str) -> int:
    """Read digits of any number; what is too large for every field stays so."""
    shown = digits.lstrip("0")
    return int(shown[:_MOST_DIGITS] or "0")


def _bad(name: str, fault: str) -> InvalidRule:
    return InvalidRule(f"The {name} field of the cron expression {fault}", field=name)


@lru_cache(maxsize=4096)
def _field_text(number: int, field: Field) -> str:
    values, star = field
    if not star:
        return _listing(values)
    # Every walk is in the list, so one of them is what the field was written as or better.
    step, walk = next((step, walk) for step, walk in _WALKS[number] if walk & ~values == 0)
    rest = values & ~walk
    text = "*" if step == 1 else f"*/{step}"
    return f"{text},{_listing(rest)}" if rest else text


def _listing(values: int) -> str:
    members = values_of(values)
    gaps = {later - earlier for earlier, later in pairwise(members)}
    if len(gaps) == 1:
        gap = gaps.pop()
        return f"{members[0]}-{members[-1]}" + (f"/{gap}" if gap > 1 else "")
    runs: list[list[int]] = []
    for value in members:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


@lru_cache(maxsize=4096)
def values_of(values: int) -> tuple[int, ...]:
    """Return the members of a set, ascending."""
    return tuple(value for value in range(values.bit_length()) if values >> value & 1)


def _walk(bounds: Bounds, step: int) -> int:
    return _set(value % 7 if bounds.high == 7 else value for value in range(bounds.low, bounds.high + 1, step))


def _set(values: Iterable[int]) -> int:
    found = 0
    for value in values:
        found |= 1 << value
    return found


def _walks(bounds: Bounds) -> tuple[tuple[int, int], ...]:
    """Return what `*/1`, `*/2`, ... stand for, those with most values first."""
    walks = [(step, _walk(bounds, step)) for step in range(1, bounds.high - bounds.low + 2)]
    return tuple(sorted(walks, key=lambda walk: (-walk[1].bit_count(), walk[0])))


_WALKS = tuple(_walks(bounds) for bounds in BOUNDS)
