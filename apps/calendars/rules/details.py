"""What a component says beside its times: texts, status, alarms, people."""

from typing import NamedTuple

from apps.calendars.rules.content_lines import Component, parameter, split_list
from apps.calendars.rules.property_checks import trigger_of
from apps.calendars.rules.values import DAY_MS, TimeValue, parse_time

_MINUTE_MS = 60_000


class Details(NamedTuple):
    """Texts are unescaped and otherwise as written; `priority` is 0 to 9 with 0 for none."""

    title: str
    location: str
    notes: str
    categories: tuple[str, ...]
    status: str
    transparent: bool
    alarm_minutes: int | None
    alarms: int
    attendees: int
    priority: int
    completed: bool
    completed_ms: int | None
    created_ms: int | None


def details_of(*, component: Component) -> Details:
    """The details of a VEVENT or VTODO."""
    first: dict[str, str] = {}
    attendees = 0
    categories: list[str] = []
    for line in component.lines():
        if line.name == "ATTENDEE":
            attendees += 1
        elif line.name == "CATEGORIES":
            categories += split_list(line.value)
        else:
            first.setdefault(line.name, line.value)
    status = first.get("STATUS", "").strip().upper()
    completed_ms = _instant(first.get("COMPLETED"))
    alarms = component.components(name="VALARM")
    return Details(
        title=component.text("SUMMARY"),
        location=component.text("LOCATION"),
        notes=component.text("DESCRIPTION"),
        categories=tuple(categories),
        status=status,
        transparent=first.get("TRANSP", "").strip().upper() == "TRANSPARENT",
        alarm_minutes=_minutes_before(alarms) if alarms else None,
        alarms=len(alarms),
        attendees=attendees,
        priority=_priority(first.get("PRIORITY", "0").strip()),
        completed=component.name == "VTODO" and (status == "COMPLETED" or completed_ms is not None),
        completed_ms=completed_ms,
        created_ms=_instant(first.get("CREATED")),
    )


def _instant(text: str | None) -> int | None:
    value = parse_time(text.strip()) if text is not None else None
    return value.wall_ms if value is not None else None


def _priority(text: str) -> int:
    digits = text.removeprefix("+")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) == 1 else 0


def _minutes_before(alarms: list[Component]) -> int | None:
    """Minutes of the first alarm that fires at or before the start, a nominal day counted as 24 hours."""
    for alarm in alarms:
        line = alarm.first("TRIGGER")
        trigger = trigger_of(line) if line is not None else None
        if line is None or trigger is None or isinstance(trigger, TimeValue):
            continue
        total = trigger[0] * DAY_MS + trigger[1]
        if total <= 0 and (parameter(line, name="RELATED") or "START").upper() == "START":
            return -total // _MINUTE_MS
    return None


def priority_level(priority: int) -> str:
    """RFC 5545 3.8.1.9 in a word: 1 to 4 high, 5 medium, 6 to 9 low, 0 none."""
    if priority == 0:
        return "none"
    return "high" if priority < 5 else "medium" if priority == 5 else "low"
