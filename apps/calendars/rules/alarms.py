"""When the alarms of an object fire (RFC 5545 section 3.6.6)."""

from typing import NamedTuple

from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.content_lines import Component, parameter
from apps.calendars.rules.placements import Placement, placements, slot_text, undated_placement
from apps.calendars.rules.property_checks import trigger_of
from apps.calendars.rules.series import Series, read_object
from apps.calendars.rules.values import DAY_MS, TimeValue, parse_duration

_MAX_REPEATS = 100


class Alarm(NamedTuple):
    """One firing: its instant, the slot of its occurrence ("" for an absolute one), title and action."""

    at_ms: int
    slot: str
    title: str
    action: str


def alarms_between(
    *, stored: StoredObject, window_start_ms: int, window_end_ms: int, limit: int = 1_000
) -> list[Alarm]:
    """Alarms that fire in the half-open window, ordered; cancelled and completed occurrences have none.

    A relative trigger keeps nominal days and exact hours; an absolute one fires once for a whole series.
    """
    series = read_object(stored=stored)
    parts = [part for part in (series.master, *(o.part for o in series.overrides.values())) if part is not None]
    alarms = [alarm for part in parts for alarm in part.reading.component.components(name="VALARM")]
    if not alarms:
        return []
    reach = max(_reach(alarm) for alarm in alarms)
    if series.master is not None and series.master.anchor is None:
        placed = [undated_placement(series.master)]
    else:
        low, high = window_start_ms - reach, window_end_ms + reach
        placed = placements(series=series, start_ms=low, end_ms=high, limit=limit * 10)
    found: list[Alarm] = []
    for placement in placed:
        found += _of_placement(series, placement)
    # An absolute alarm belongs to no occurrence, so the window may hold none of them.
    for part in parts:
        details = part.details
        for alarm in part.reading.component.components(name="VALARM"):
            at = _absolute(alarm)
            if at is not None and not _silent(details.status, details.completed):
                found += _repeated(alarm, at, "", details.title)
    inside = [alarm for alarm in found if window_start_ms <= alarm.at_ms < window_end_ms]
    return sorted(inside)[:limit]


def _silent(status: str, completed: bool) -> bool:
    return status == "CANCELLED" or completed


def _absolute(alarm: Component) -> int | None:
    line = alarm.first("TRIGGER")
    trigger = trigger_of(line) if line is not None else None
    return trigger.wall_ms if isinstance(trigger, TimeValue) else None


def _reach(alarm: Component) -> int:
    line = alarm.first("TRIGGER")
    trigger = trigger_of(line) if line is not None else None
    offset = 0 if trigger is None or isinstance(trigger, TimeValue) else abs(trigger[0]) * DAY_MS + abs(trigger[1])
    count, step = _repeats(alarm)
    return offset + count * step + 3 * DAY_MS


def _repeats(alarm: Component) -> tuple[int, int]:
    repeat, duration = alarm.first("REPEAT"), alarm.first("DURATION")
    step = parse_duration(duration.value) if duration is not None else None
    text = repeat.value.strip() if repeat is not None else ""
    if step is None or step.total_ms <= 0 or not (text.isascii() and text.isdigit()):
        return 0, 0
    return min(int(text[:6]), _MAX_REPEATS), step.total_ms


def _of_placement(series: Series, placement: Placement) -> list[Alarm]:
    part, times = placement.part, placement.times
    details = part.details
    if _silent(details.status, details.completed):
        return []
    found: list[Alarm] = []
    slot = slot_text(series=series, slot=placement.slot)
    for alarm in part.reading.component.components(name="VALARM"):
        line = alarm.first("TRIGGER")
        trigger = trigger_of(line) if line is not None else None
        if line is None or trigger is None or isinstance(trigger, TimeValue):
            continue
        related_end = (parameter(line, name="RELATED") or "START").upper() == "END"
        base = times.end_ms if related_end or times.start_ms is None else times.start_ms
        zone = part.end_zone if related_end or times.start_ms is None else part.anchor_zone
        if base is not None:
            nominal = zone.to_utc(zone.to_wall(base) + trigger[0] * DAY_MS) if trigger[0] else base
            found += _repeated(alarm, nominal + trigger[1], slot, details.title)
    return found


def _repeated(alarm: Component, at_ms: int, slot: str, title: str) -> list[Alarm]:
    count, step = _repeats(alarm)
    action = alarm.text("ACTION").strip().upper()
    return [Alarm(at_ms + number * step, slot, title, action) for number in range(count + 1)]
