"""What a page is told at its moment: the alarms of events, and reminders that are due."""

from __future__ import annotations

from apps.calendars.rules.alarms import Alarm, alarms_between
from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.occurrences import expand
from apps.calendars.rules.values import DAY_MS

DUE = "DUE"
"""The action of a reminder that is due, beside those that an alarm of iCalendar may have."""
MORNING_MS = 9 * 3_600_000
"""When a reminder of a whole day is due: at nine."""
LOOKS_MS = (8 * DAY_MS, 60 * DAY_MS, 400 * DAY_MS)
"""How far ahead the next firing is looked for, nearby first."""
_OVER = frozenset({"COMPLETED", "CANCELLED"})
_MOST = 500


def may_ring(*, kind: str, ics: str) -> bool:
    """Tell whether an object may have anything to say at some moment, without reading it."""
    return kind == "VTODO" or "BEGIN:VALARM" in ics.upper()


def firings_between(*, stored: StoredObject, start_ms: int, end_ms: int) -> list[Alarm]:
    """Return what fires in the half-open window, in order; an alarm at the very moment a reminder is due is one."""
    found = alarms_between(stored=stored, window_start_ms=start_ms, window_end_ms=end_ms, limit=_MOST)
    if stored.kind == "VTODO":
        told = {(alarm.at_ms, alarm.slot) for alarm in found}
        found = sorted([*found, *(one for one in _due(stored, start_ms, end_ms) if (one.at_ms, one.slot) not in told)])
    return found


def _due(stored: StoredObject, start_ms: int, end_ms: int) -> list[Alarm]:
    found = []
    # A due day counts from its morning on: what is due in the window may have begun before it.
    for each in expand(stored=stored, window_start_ms=start_ms - 2 * DAY_MS, window_end_ms=end_ms, limit=_MOST):
        if each.end_ms is None or each.completed or each.status in _OVER:
            continue
        at_ms = each.end_ms + (MORNING_MS if each.all_day else 0)
        if start_ms <= at_ms < end_ms:
            found.append(Alarm(at_ms, each.slot, each.title, DUE))
    return found


def next_firing_ms(*, stored: StoredObject, after_ms: int) -> int | None:
    """Return when something fires next, or None when nothing does for a long while."""
    for look_ms in LOOKS_MS:
        found = firings_between(stored=stored, start_ms=after_ms + 1, end_ms=after_ms + look_ms)
        if found:
            return found[0].at_ms
    return None
