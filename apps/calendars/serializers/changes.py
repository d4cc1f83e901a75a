"""What a change changes, field by field."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django.utils import formats
from django.utils.translation import gettext as _

from apps.calendars.queries.bodies import local
from apps.calendars.serializers.days import Facts


def also(facts: Facts, zone: ZoneInfo) -> str:
    """Return the sentence that names what else changes, with a blank before it; empty when nothing does."""
    lines = [label for label, _value in change_lines(facts, zone)]
    return " " + _("It also changes: %(fields)s.") % {"fields": ", ".join(lines)} if lines else ""


def field_labels() -> dict[str, str]:
    """Return what people call the fields of an item."""
    return {
        "title": _("Title"),
        "notes": _("Notes"),
        "location": _("Where"),
        "start_ms": _("Start"),
        "end_ms": _("End"),
        "due_ms": _("Due"),
        "all_day": _("All day"),
        "reminder_minutes": _("Alarm, minutes before"),
        "priority": _("Priority"),
        "completed": _("Done"),
        "rrule": _("Repeats"),
        "calendar": _("Calendar"),
    }


def change_lines(facts: Facts, zone: ZoneInfo) -> tuple[tuple[str, str], ...]:
    """Return each changed field with its value before and after."""
    before, after = facts.get("before") or {}, facts.get("after") or {}
    if not before:
        return ()
    labels = field_labels()
    return tuple(
        (labels.get(name, name), f"{_value(name, before.get(name), zone)} → {_value(name, after.get(name), zone)}")
        for name in before
    )


def _value(name: str, value: Any, zone: ZoneInfo) -> str:
    if value is None:
        return _("(nothing)")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if name.endswith("_ms"):
        moment = local(value, zone=zone.key)
        return f"{formats.date_format(moment.date(), _('l, j F Y'))}, {moment:%H:%M}"
    return str(value)
