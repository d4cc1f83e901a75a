"""A VTIMEZONE as a zone, and how it compares with the IANA zone of the same name (RFC 5545 section 3.6.5)."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from heapq import merge
from itertools import islice
from typing import NamedTuple

from apps.calendars.rules.content_lines import Component, parameter, parse_tree
from apps.calendars.rules.limits import InvalidRecurrence
from apps.calendars.rules.recurrence import REFUSED_FREQUENCIES, by_product, parse_rule
from apps.calendars.rules.rule_walk import RuleWalk
from apps.calendars.rules.values import (
    DAY_MS,
    MAX_WALL_MS,
    MIN_WALL_MS,
    civil,
    day_number,
    parse_offset,
    parse_time,
)
from apps.calendars.rules.zones import Zone

_MAX_OBSERVANCES = 600
# Two a year need 16,000 until 9999; without a bound a file could make every look at its times slow.
_MAX_ONSETS = 20_000
_FIRST_HORIZON_YEAR = 2060


class Onset(NamedTuple):
    """The moment an observance begins: its instant and the offsets before and after it."""

    utc_ms: int
    offset_from: int
    offset_to: int


class _Observance(NamedTuple):
    daylight: bool
    offset_from: int
    offset_to: int
    start_ms: int
    dates: tuple[int, ...]
    walks: tuple[tuple[RuleWalk, int | None], ...]


class DefinedZone:
    """A zone by the rules of a VTIMEZONE; before its first observance the offset that it names as the one before."""

    def __init__(self, *, name: str, observances: list[_Observance]) -> None:
        self.name = name
        self._observances = observances
        self._horizon_ms = MIN_WALL_MS
        self._reach(_FIRST_HORIZON_YEAR)

    def _reach(self, year: int) -> None:
        day = day_number(min(year, 9999), month=12, day=31) or 0
        self._horizon_ms = MAX_WALL_MS if year >= 9999 else day * DAY_MS
        found = merge(*(_onsets(each, until_ms=self._horizon_ms) for each in self._observances))
        onsets = list(islice(found, _MAX_ONSETS))
        self.onsets = onsets
        self._instants = [onset.utc_ms for onset in onsets]
        # A wall clock is past an onset when it shows what the later of both clocks shows at that moment.
        self._walls = [onset.utc_ms + max(onset.offset_from, onset.offset_to) for onset in onsets]
        for index in range(1, len(self._walls)):
            self._walls[index] = max(self._walls[index], self._walls[index - 1])

    def _extend(self, clock_ms: int) -> None:
        if clock_ms + 400 * DAY_MS > self._horizon_ms < MAX_WALL_MS:
            self._reach(civil(min(max(clock_ms, MIN_WALL_MS), MAX_WALL_MS - 1) // DAY_MS)[0] + 50)

    def _offset(self, index: int) -> int:
        return self.onsets[index - 1].offset_to if index else self.onsets[0].offset_from

    def to_utc(self, wall_ms: int) -> int:
        """Instant of a wall clock."""
        self._extend(wall_ms)
        return wall_ms - self._offset(bisect_right(self._walls, wall_ms))

    def to_wall(self, utc_ms: int) -> int:
        """Wall clock of an instant."""
        self._extend(utc_ms)
        return utc_ms + self._offset(bisect_right(self._instants, utc_ms))

    def offsets_near(self, utc_ms: int) -> tuple[int, int]:
        """The least and the largest offset within two days of an instant."""
        self._extend(utc_ms)
        first = bisect_right(self._instants, utc_ms - 2 * DAY_MS)
        last = bisect_right(self._instants, utc_ms + 2 * DAY_MS)
        offsets = [self._offset(index) for index in range(first, last + 1)]
        return min(offsets), max(offsets)


def _onsets(each: _Observance, *, until_ms: int) -> Iterator[Onset]:
    """Onsets of one observance in order, each once."""
    parts: list[Iterable[int]] = [sorted({each.start_ms, *each.dates})]
    parts += (_until(each, walk, until_utc_ms, until_ms) for walk, until_utc_ms in each.walks)
    before = None
    for wall in merge(*parts):
        if wall != before:
            yield Onset(wall - each.offset_from, each.offset_from, each.offset_to)
        before = wall


def _until(each: _Observance, walk: RuleWalk, until_utc_ms: int | None, until_ms: int) -> Iterator[int]:
    for wall in walk.walls(low_ms=MIN_WALL_MS, high_ms=until_ms):
        if until_utc_ms is not None and wall - each.offset_from > until_utc_ms:
            return
        yield wall


class Definition(NamedTuple):
    """A readable VTIMEZONE; `complete` means that it has a STANDARD and a DAYLIGHT block."""

    zone: DefinedZone
    complete: bool


@lru_cache(maxsize=512)
def definition_of(text: str) -> Definition | None:
    """The definition in the text of one VTIMEZONE, or None when nothing in it can be read."""
    tree = parse_tree(text=f"BEGIN:VCALENDAR\n{text}\nEND:VCALENDAR")
    zones = tree.calendars[0].components(name="VTIMEZONE") if tree.calendars else []
    if not zones:
        return None
    found = []
    for item in zones[0].items[:_MAX_OBSERVANCES]:
        if isinstance(item, Component) and item.name in ("STANDARD", "DAYLIGHT"):
            observance = _observance(item)
            if observance is not None:
                found.append(observance)
    if not found:
        return None
    kinds = {observance.daylight for observance in found}
    return Definition(DefinedZone(name=zones[0].text("TZID"), observances=found), len(kinds) == 2)


def _observance(component: Component) -> _Observance | None:
    start_line = component.first("DTSTART")
    start = parse_time(start_line.value.strip()) if start_line is not None else None
    offsets = [component.first(name) for name in ("TZOFFSETFROM", "TZOFFSETTO")]
    to = parse_offset(offsets[1].value) if offsets[1] is not None else None
    if start is None or to is None:
        return None
    before = parse_offset(offsets[0].value) if offsets[0] is not None else None
    before = to if before is None else before
    dates: list[int] = []
    for line in component.all("RDATE"):
        if parameter(line, name="VALUE") != "PERIOD":
            times = (parse_time(text.strip()) for text in line.value.split(",")[:_MAX_ONSETS])
            dates += [time.wall_ms + (before if time.utc else 0) for time in times if time is not None]
    walks = []
    for line in component.all("RRULE"):
        try:
            rule = parse_rule(line.value)
        except InvalidRecurrence:
            continue
        if rule.freq in (*REFUSED_FREQUENCIES, "HOURLY") or by_product(line.value) > 1000:
            continue
        until = None
        if rule.until is not None:
            until = rule.until.wall_ms - (0 if rule.until.utc else before) + (DAY_MS - 1 if rule.until.is_date else 0)
        walks.append((RuleWalk(rule=rule, start_ms=start.wall_ms), until))
    return _Observance(component.name == "DAYLIGHT", before, to, start.wall_ms, tuple(dates), tuple(walks))


@lru_cache(maxsize=8192)
def _same_year(text: str, other: Zone, year: int) -> bool:
    definition = definition_of(text)
    first = day_number(year, month=1, day=1)
    if definition is None or first is None:
        return False
    zone = definition.zone
    low, high = first * DAY_MS, (first + 366) * DAY_MS
    instants = [low + step * 5 * DAY_MS for step in range(74)]
    # The days around each of its own changes show a change that the other has at another hour.
    for onset in zone.onsets:
        if low <= onset.utc_ms < high:
            instants += [onset.utc_ms - 1000, onset.utc_ms]
    return all(zone.to_wall(instant) == other.to_wall(instant) for instant in instants)


def agrees(*, text: str, other: Zone, first_year: int, last_year: int) -> bool:
    """Whether a VTIMEZONE gives the same times as another zone in all those years."""
    return all(_same_year(text, other, year) for year in range(first_year, min(last_year, first_year + 60) + 1))
