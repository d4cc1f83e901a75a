"""What a rule will do, before it is stored: its next occurrences, with what the clock changes do to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from apps.schedules.rules.errors import InvalidRule, InvalidSelector, TimeOutOfRange
from apps.schedules.rules.kinds import After, At, Every, Rule, WallRule
from apps.schedules.rules.patterns import pattern_of
from apps.schedules.rules.timing import SELECTORS, read_timing
from apps.schedules.rules.values import CYCLE_DAYS, DAY_MS, MAX_MS, format_wall, safe_integer
from apps.schedules.rules.zones import zone_of

MOST_OCCURRENCES = 50
DEFAULT_OCCURRENCES = 5
MOST_NOTES = 10
GAP = "gap"
"""The clock skips this local time, so nothing happens then."""
OVERLAP = "overlap"
"""The clock shows this local time twice; it counts the first time only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A local time that a clock change skips or repeats."""

    kind: str
    local: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Coming:
    """An occurrence with its local time; `notes` are about it and the times before it, `more_notes` counts the rest."""

    at_ms: int
    local: str
    offset_s: int
    notes: tuple[Note, ...] = ()
    more_notes: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """The rule as it would be stored, the zone of the local times, and the next occurrences."""

    rule: Rule
    time_zone: str
    coming: tuple[Coming, ...]


def preview_of(request: Mapping[str, object], *, now_ms: int, time_zone: str) -> Preview:
    """Return what the selector of a request will do; `time_zone` is for rules that have none.

    Raises the error that creating would raise, titles and prompts apart.
    """
    selectors = [name for name in SELECTORS if name in request]
    if len(selectors) != 1:
        raise InvalidSelector
    count = safe_integer(request.get("count", DEFAULT_OCCURRENCES))
    if count is None or not 1 <= count <= MOST_OCCURRENCES:
        raise InvalidRule(f"count must be a whole number from 1 to {MOST_OCCURRENCES}", field="count")
    timing = read_timing(selectors[0], value=request[selectors[0]])
    first = timing.first_target(now_ms=now_ms)
    rule = timing.rule
    if isinstance(rule, After | At | Every):
        step = rule.every_seconds * 1000 if isinstance(rule, Every) else MAX_MS
        instants = range(first, MAX_MS + 1, step)[:count]
        return Preview(rule=rule, time_zone=time_zone, coming=tuple(_coming(time_zone, at_ms=at) for at in instants))
    coming = tuple(one for one, _ in zip(_walk(rule, now_ms=now_ms), range(count), strict=False))
    if not coming:
        raise TimeOutOfRange
    return Preview(rule=rule, time_zone=rule.time_zone, coming=coming)


def _coming(time_zone: str, *, at_ms: int, notes: tuple[Note, ...] = ()) -> Coming:
    offset = zone_of(time_zone).offset_ms(at_ms)
    return Coming(
        at_ms=at_ms,
        local=format_wall(at_ms + offset),
        offset_s=offset // 1000,
        notes=notes[:MOST_NOTES],
        more_notes=max(0, len(notes) - MOST_NOTES),
    )


def _walk(rule: WallRule, *, now_ms: int) -> Iterator[Coming]:
    """Give the occurrences with notes by looking at each local time of the rule."""
    pattern = pattern_of(rule)
    zone = pattern.zone
    first_day = zone.day_of(now_ms)
    last, notes = now_ms, []
    for day in pattern.days(first=first_day, last=first_day + CYCLE_DAYS):
        for time in pattern.times:
            wall = day * DAY_MS + time
            instants = zone.instants(wall)
            if not instants:
                notes.append(Note(kind=GAP, local=format_wall(wall)))
            elif instants[-1] > last and len(instants) > 1:
                notes.append(Note(kind=OVERLAP, local=format_wall(wall)))
            if instants and instants[0] > last:
                if instants[0] > MAX_MS:
                    return
                last = instants[0]
                yield _coming(rule.time_zone, at_ms=last, notes=tuple(notes))
                notes = []
