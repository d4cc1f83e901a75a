"""From the selector of a request to a rule and its first target, checked in the contract's order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from apps.schedules.rules.cron import canonical_expression, parse_expression
from apps.schedules.rules.decisions import first_target
from apps.schedules.rules.errors import (
    FrequencyTooHigh,
    InvalidRule,
    InvalidTimeZone,
    NotFuture,
    TimeOutOfRange,
)
from apps.schedules.rules.kinds import After, At, Cron, Daily, Every, Rule, WallRule, Weekly
from apps.schedules.rules.values import DAY_MS, MAX_SAFE, day_number, in_range, parse_time, safe_integer, time_ms
from apps.schedules.rules.zone_names import canonical_zone
from apps.schedules.rules.zones import zone_of

LEAST_EVERY_SECONDS = 60
_DAILY = frozenset({"time", "time_zone"})
_WEEKLY = _DAILY | {"weekdays"}
_LOCAL = _DAILY | {"date"}
_CRON = frozenset({"expression", "time_zone"})
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_INSTANT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,3}))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """A rule, checked; `at_ms` is the instant of an `at`."""

    rule: Rule
    at_ms: int = 0

    def first_target(self, *, now_ms: int) -> int:
        """Return the first target; raises TimeOutOfRange or NotFuture."""
        rule = self.rule
        if isinstance(rule, At):
            return _target(self.at_ms, now_ms=now_ms)
        if isinstance(rule, After):
            return _target(now_ms + rule.after_seconds * 1000, now_ms=now_ms)
        if isinstance(rule, Every):
            return _target(now_ms + rule.every_seconds * 1000, now_ms=now_ms)
        return _wall_target(rule, now_ms=now_ms)


def read_timing(selector: str, *, value: object) -> Timing:
    """Return the timing that a selector and its value ask for; raises the error of the first fault."""
    return _READERS[selector](value)


def read_at(value: object) -> int:
    """Return the instant of an `at`: a text with an offset, or an object of date, time and time_zone."""
    return _instant(value) if isinstance(value, str) else _wall_instant(value)


def _after(value: object) -> Timing:
    seconds = safe_integer(value)
    if seconds is None or seconds <= 0:
        raise InvalidRule("after_seconds must be a whole number of at least 1")
    return Timing(rule=After(after_seconds=seconds))


def _at(value: object) -> Timing:
    return Timing(rule=At(), at_ms=read_at(value))


def _every(value: object) -> Timing:
    seconds = safe_integer(value)
    if seconds is None:
        raise InvalidRule("every_seconds must be a whole number of at least 60")
    if seconds < LEAST_EVERY_SECONDS:
        raise FrequencyTooHigh
    return Timing(rule=Every(every_seconds=seconds))


def _daily(value: object) -> Timing:
    given = _exact(value, _DAILY)
    time, zone = _time_and_zone(given)
    return Timing(rule=Daily(time_ms=time, time_zone=zone))


def _weekly(value: object) -> Timing:
    given = _exact(value, _WEEKLY)
    time, zone = _time_and_zone(given)
    return Timing(rule=Weekly(time_ms=time, time_zone=zone, weekdays=_weekdays(given["weekdays"])))


def _cron(value: object) -> Timing:
    given = _exact(value, _CRON)
    expression, zone = given["expression"], given["time_zone"]
    if not isinstance(expression, str):
        raise InvalidRule("The cron expression must be a text")
    if not isinstance(zone, str):
        raise InvalidTimeZone
    text = canonical_expression(parse_expression(expression))
    return Timing(rule=Cron(expression=text, time_zone=canonical_zone(zone)))


_READERS: dict[str, Callable[[object], Timing]] = {
    "after_seconds": _after,
    "at": _at,
    "every_seconds": _every,
    "daily": _daily,
    "weekly": _weekly,
    "cron": _cron,
}
SELECTORS = tuple(_READERS)
"""The members of a request that say when; exactly one is given."""


def _exact(value: object, keys: frozenset[str]) -> Mapping[str, object]:
    """Return an object that has all of the keys and no other."""
    if not isinstance(value, Mapping) or value.keys() != keys:
        raise InvalidRule(f"The timing must be an object of exactly {', '.join(sorted(keys))}")
    return value


def _time_and_zone(given: Mapping[str, object]) -> tuple[int, str]:
    time, zone = given["time"], given["time_zone"]
    if not isinstance(time, str):
        raise InvalidRule("The time must be a text such as 09:00:00")
    if not isinstance(zone, str):
        raise InvalidTimeZone
    found = parse_time(time)
    if found is None:
        raise InvalidRule("The time must be written like 09:00:00 or 09:00:00.125")
    return found, canonical_zone(zone)


def _weekdays(value: object) -> tuple[int, ...]:
    days = [safe_integer(day) for day in value] if isinstance(value, list | tuple) else []
    known = [day for day in days if day is not None and 1 <= day <= 7]
    if not days or len(known) < len(days) or len(set(known)) < len(known):
        raise InvalidRule("weekdays must be a list of different numbers from 1 for Monday to 7 for Sunday")
    return tuple(sorted(known))


def _instant(text: str) -> int:
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise InvalidRule("at must be written like 2026-08-06T09:00:00+08:00")
    sign, hours, minutes = match[8], int(match[9] or 0), int(match[10] or 0)
    if hours > 23 or minutes > 59 or (sign == "-" and hours == minutes == 0):
        raise InvalidRule("The offset of at must lie between -23:59 and +23:59, and -00:00 says nothing")
    clock = time_ms(hour=int(match[4]), minute=int(match[5]), second=int(match[6]), fraction=match[7] or "")
    wall = _wall_ms(year=int(match[1]), month=int(match[2]), day=int(match[3]), clock=clock)
    return wall - (-1 if sign == "-" else 1) * (hours * 60 + minutes) * 60_000


def _wall_instant(value: object) -> int:
    given = _exact(value, _LOCAL)
    date, time, zone = given["date"], given["time"], given["time_zone"]
    if not isinstance(date, str) or not isinstance(time, str):
        raise InvalidRule("date and time must be texts")
    if not isinstance(zone, str):
        raise InvalidTimeZone
    match, clock = _DATE.fullmatch(date), parse_time(time)
    if match is None:
        raise InvalidRule("date and time must be written like 2026-08-06 and 09:00:00")
    wall = _wall_ms(year=int(match[1]), month=int(match[2]), day=int(match[3]), clock=clock)
    found = zone_of(canonical_zone(zone)).resolve(wall)
    if found is None:
        raise InvalidRule("The clock of the time zone skips this time on that date")
    return found


def _wall_ms(*, year: int, month: int, day: int, clock: int | None) -> int:
    number = day_number(year=year, month=month, day=day) if year else None
    if number is None or clock is None:
        raise InvalidRule("There is no such date or time")
    return number * DAY_MS + clock


def _target(target_ms: int, *, now_ms: int) -> int:
    if abs(now_ms) > MAX_SAFE or not in_range(target_ms):
        raise TimeOutOfRange
    if target_ms <= now_ms:
        raise NotFuture
    return target_ms


def _wall_target(rule: WallRule, *, now_ms: int) -> int:
    found = first_target(rule, now_ms=now_ms) if in_range(now_ms) else None
    if found is None:
        raise TimeOutOfRange
    return found
