"""RRULE values: reading, bounds, and writing (RFC 5545 section 3.3.10)."""

import re
from dataclasses import dataclass, replace
from math import prod

from apps.calendars.rules.limits import DEFAULT, InvalidRecurrence, RuleTooDense, RuleTooFrequent
from apps.calendars.rules.values import TimeValue, basic_text, parse_time

WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
FREQUENCIES = ("SECONDLY", "MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")
REFUSED_FREQUENCIES = ("SECONDLY", "MINUTELY")
_BYDAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)\Z")
_INTEGER = re.compile(r"[+-]?[0-9]{1,10}\Z")

# Part -> lowest and highest value, and whether negative values count from the end.
_BOUNDS: dict[str, tuple[int, int, bool]] = {
    "BYSECOND": (0, 60, False),
    "BYMINUTE": (0, 59, False),
    "BYHOUR": (0, 23, False),
    "BYMONTHDAY": (1, 31, True),
    "BYYEARDAY": (1, 366, True),
    "BYWEEKNO": (1, 53, True),
    "BYMONTH": (1, 12, False),
    "BYSETPOS": (1, 366, True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One RRULE; `byday` holds (ordinal or 0, weekday with Monday 0)."""

    freq: str
    interval: int = 1
    count: int | None = None
    until: TimeValue | None = None
    byday: tuple[tuple[int, int], ...] = ()
    bysecond: tuple[int, ...] = ()
    byminute: tuple[int, ...] = ()
    byhour: tuple[int, ...] = ()
    bymonthday: tuple[int, ...] = ()
    byyearday: tuple[int, ...] = ()
    byweekno: tuple[int, ...] = ()
    bymonth: tuple[int, ...] = ()
    bysetpos: tuple[int, ...] = ()
    wkst: int = 0


def frequency(value: str) -> str:
    """FREQ of a rule in upper case without reading the rest, or an empty string."""
    for part in value.upper().split(";"):
        name, _, text = part.partition("=")
        if name.strip() == "FREQ":
            return text.strip()
    return ""


def by_product(value: str) -> int:
    """Product of the lengths of the BY lists, from the text alone."""
    parts = (part.partition("=") for part in value.upper().split(";"))
    return prod(text.count(",") + 1 for name, _, text in parts if name.strip().startswith("BY") and text.strip())


def check_density(value: str) -> None:
    """Raise for a rule that no import would take either: too frequent, or with lists that make too many times."""
    if frequency(value) in REFUSED_FREQUENCIES:
        raise RuleTooFrequent
    if by_product(value) > DEFAULT.by_product:
        raise RuleTooDense


def parse_rule(value: str) -> Rule:
    """The rule of an RRULE value; raises InvalidRecurrence.

    Parts nobody defines are passed over; a calendar other than the Gregorian (RFC 7529) cannot be read.
    """
    parts: dict[str, str] = {}
    for part in value.upper().split(";"):
        name, equals, text = part.partition("=")
        if not part.strip():
            continue
        if not equals or name.strip() in parts:
            raise InvalidRecurrence(f"{part!r} is not one NAME=VALUE")
        parts[name.strip()] = text.strip()
    if parts.get("FREQ") not in FREQUENCIES:
        raise InvalidRecurrence(f"FREQ is {parts.get('FREQ')!r}")
    if parts.get("RSCALE", "GREGORIAN") != "GREGORIAN" or parts.get("SKIP", "OMIT") != "OMIT":
        raise InvalidRecurrence("only the Gregorian calendar without SKIP can be read")
    lists = {name.lower(): _numbers(name=name, text=parts[name]) for name in _BOUNDS if name in parts}
    if "bysecond" in lists:
        lists["bysecond"] = tuple(sorted({min(second, 59) for second in lists["bysecond"]}))
    rule = Rule(
        freq=parts["FREQ"],
        interval=_positive(name="INTERVAL", text=parts.get("INTERVAL", "1")),
        count=_positive(name="COUNT", text=parts["COUNT"]) if "COUNT" in parts else None,
        until=_until(parts["UNTIL"]) if "UNTIL" in parts else None,
        byday=_weekdays(parts["BYDAY"]) if "BYDAY" in parts else (),
        wkst=_weekday(parts.get("WKST", "MO")),
    )
    return replace(rule, **lists) if lists else rule  # type: ignore[arg-type]


def _positive(*, name: str, text: str) -> int:
    if not _INTEGER.match(text) or int(text) < 1:
        raise InvalidRecurrence(f"{name} is {text!r}")
    return int(text)


def _numbers(*, name: str, text: str) -> tuple[int, ...]:
    low, high, signed = _BOUNDS[name]
    found = set()
    for item in text.split(","):
        if not _INTEGER.match(item.strip()):
            raise InvalidRecurrence(f"{name} holds {item!r}")
        number = int(item)
        if not low <= (abs(number) if signed else number) <= high:
            raise InvalidRecurrence(f"{name} holds {number}")
        found.add(number)
    return tuple(sorted(found))


def _weekday(text: str) -> int:
    if text not in WEEKDAYS:
        raise InvalidRecurrence(f"{text!r} is no weekday")
    return WEEKDAYS.index(text)


def _weekdays(text: str) -> tuple[tuple[int, int], ...]:
    found = []
    for item in text.split(","):
        match = _BYDAY.match(item.strip())
        if match is None or (match[1] is not None and not 1 <= abs(int(match[1])) <= 53):
            raise InvalidRecurrence(f"BYDAY holds {item!r}")
        found.append((int(match[1] or 0), WEEKDAYS.index(match[2])))
    return tuple(dict.fromkeys(found))


def _until(text: str) -> TimeValue:
    until = parse_time(text)
    if until is None:
        raise InvalidRecurrence(f"UNTIL is {text!r}")
    return until


def with_bound(value: str, *, count: int | None = None, until: TimeValue | None = None) -> str:
    """The RRULE value with its COUNT and UNTIL replaced by the one given; every other part stays as written."""
    kept = [part for part in value.split(";") if part.partition("=")[0].strip().upper() not in ("COUNT", "UNTIL", "")]
    if count is not None:
        kept.append(f"COUNT={count}")
    if until is not None:
        kept.append(f"UNTIL={basic_text(until.wall_ms, is_date=until.is_date, utc=until.utc)}")
    return ";".join(kept)
