"""Reading calendars."""

from __future__ import annotations

from typing import Any

from apps.calendars.models import Calendar, CalendarObject
from apps.calendars.rules.targets import NAME_OF_KIND

_NAMES = ("id", "name", "colour", "is_default", "read_only")


def calendars_of(*, profile_id: str) -> list[dict[str, Any]]:
    """Return the calendars of a profile, the default one first."""
    return list(Calendar.objects.filter(profile_id=profile_id).values(*_NAMES))


def calendar_body(row: Calendar) -> dict[str, Any]:
    """Return a calendar as clients see it."""
    return {name: getattr(row, name) for name in _NAMES}


def items_without(*, calendar_id: str, uids: set[str]) -> list[dict[str, Any]]:
    """Return the items of a calendar whose UID is not among those given."""
    rows = CalendarObject.objects.filter(calendar_id=calendar_id).order_by("first_ms", "id")
    return [
        {"uid": uid, "kind": NAME_OF_KIND[kind], "title": title, "id": pk}
        for pk, uid, kind, title in rows.values_list("pk", "uid", "kind", "title")
        if uid not in uids
    ]


def texts_of(*, calendar_id: str) -> list[dict[str, Any]]:
    """Return the texts of everything in a calendar, for writing a file."""
    rows = CalendarObject.objects.filter(calendar_id=calendar_id).order_by("first_ms", "id")
    return [dict(row) for row in rows.values("uid", "kind", "ics", "owner_zone")]
