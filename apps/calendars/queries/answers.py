"""What a `list` request answers, and what its card shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.calendars.queries.bodies import item_body, local
from apps.calendars.queries.items import calendar_names, find_calendar, owner_of
from apps.calendars.queries.listing import read_window
from apps.calendars.queries.reminders import reminders


def listed_items(*, profile_id: str, request: Mapping[str, Any], now_ms: int) -> dict[str, Any]:
    """Return what a `list` request answers: the items, whether there are more, and the values that were used."""
    owner = owner_of(profile_id=profile_id)
    calendar = request.get("calendar", "")
    calendar_id = find_calendar(profile_id=profile_id, name=calendar).pk if calendar else ""
    limit = request["limit"]
    span = {"start_ms": request["start_ms"], "end_ms": request["end_ms"], "limit": limit}
    if request["capability"] == "calendar":
        found, more = read_window(profile_id=profile_id, kind="VEVENT", calendar_id=calendar_id, **span)
    else:
        found, more = reminders(
            profile_id=profile_id,
            include_completed=request["include_completed"],
            with_open=request.get("default_window", False),
            calendar_id=calendar_id,
            **span,
        )
    names = calendar_names(profile_id=profile_id)
    items = [item_body(shown, zone=owner.zone, calendar=names.get(shown.calendar_id, "")) for shown in found]
    used = {name: request[name] for name in ("start_ms", "end_ms", "limit", "include_completed") if name in request}
    return {"items": items, "truncated": more, "used": used}


def list_preview_facts(*, request: Mapping[str, Any], zone: str) -> dict[str, Any]:
    """Return what a card about reading shows."""
    return {
        "title": "",
        "capability": request["capability"],
        "start_ms": request["start_ms"],
        "end_ms": request["end_ms"],
        "start": local(request["start_ms"], zone=zone).isoformat(timespec="minutes")[:16],
        "time_zone": zone,
        "limit": request["limit"],
    }
