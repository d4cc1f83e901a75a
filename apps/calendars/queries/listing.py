"""Reading a window: from occurrence rows, with series expanded on demand where the rows end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.calendars.queries.bodies import item_body, local
from apps.calendars.queries.items import (
    OBJECT_COLUMNS,
    ROW_COLUMNS,
    calendar_names,
    find_calendar,
    owner_of,
    shown_from,
    shown_of,
)
from apps.calendars.queries.values import Shown
from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.occurrences import expand
from apps.calendars.rules.targets import LONG_MS
from apps.core.rows import execute

_FROM = (
    "from calendars_occurrence r join calendars_calendarobject o on o.id = r.object_id"
    " where r.profile_id = %s and r.kind = %s and "
)
_SELECT = f"select {OBJECT_COLUMNS}, {ROW_COLUMNS} {_FROM}"
_SHORT = _SELECT + "r.long = false and r.at_ms > %s and r.at_ms < %s and (r.until_ms > %s or r.at_ms >= %s)"
_LONG = _SELECT + "r.long = true and r.at_ms < %s and r.until_ms > %s"
_OVERDUE = _SELECT + (
    "r.at_ms < %s and coalesce(r.end_ms, r.start_ms) < %s and not (o.completed = true and o.recurring = false)"
    " order by coalesce(r.end_ms, r.start_ms)"
)
_TIMELESS = _SELECT + "r.long = false and r.at_ms is null"
_OUTSIDE = (
    "select o.id, o.kind, o.uid, o.ics, o.owner_zone, o.calendar_id, o.rrule from calendars_calendarobject o"
    " where o.id in (select id from calendars_calendarobject where profile_id = %s and rows_to_ms < %s"
    " union select id from calendars_calendarobject where profile_id = %s and rows_from_ms > %s)"
    " and o.kind = %s and (o.first_ms is null or o.first_ms < %s) and (o.last_ms is null or o.last_ms >= %s)"
)


def window_items(*, profile_id: str, kind: str, start_ms: int, end_ms: int, calendar_id: str = "") -> list[Shown]:
    """Return the occurrences that touch a half-open window of instants, ordered by time."""
    outside = _outside(profile_id, kind, start_ms, end_ms)
    rows = execute(_SHORT, [profile_id, kind, start_ms - LONG_MS - 1, end_ms, start_ms, start_ms]).fetchall()
    rows += execute(_LONG, [profile_id, kind, end_ms, start_ms]).fetchall()
    if outside:
        skip = {row[0] for row in outside}
        found = [shown_of(row) for row in rows if row[0] not in skip]
        for row in outside:
            found += _expanded(row, start_ms, end_ms)
    else:
        found = [shown_of(row) for row in rows]
    if calendar_id:
        found = [shown for shown in found if shown.calendar_id == calendar_id]
    found.sort(key=_order)
    return found


def _order(shown: Shown) -> tuple[int, str, str]:
    at = shown.at_ms if shown.at_ms is not None else shown.start_ms
    return (2**60 if at is None else at, shown.object_id, shown.slot)


def _outside(profile_id: str, kind: str, start_ms: int, end_ms: int) -> list[tuple[Any, ...]]:
    """Return the series whose rows do not cover the window and that can touch it."""
    arguments = [profile_id, end_ms, profile_id, start_ms, kind, end_ms, start_ms]
    rows: list[tuple[Any, ...]] = execute(_OUTSIDE, arguments).fetchall()
    return rows


def _expanded(row: tuple[Any, ...], start_ms: int, end_ms: int) -> list[Shown]:
    object_id, kind, uid, ics, owner_zone, calendar_id, rrule = row
    stored = StoredObject(uid=uid, kind=kind, ics=ics, owner_zone=owner_zone)
    columns = (object_id, kind, *([None] * 11), calendar_id, rrule)
    return [
        shown_from(each, columns=columns)
        for each in expand(stored=stored, window_start_ms=start_ms, window_end_ms=end_ms)
    ]


def timeless_reminders(*, profile_id: str) -> list[Shown]:
    """Return the reminders without any time."""
    return [shown_of(row) for row in execute(_TIMELESS, [profile_id, "VTODO"]).fetchall()]


def overdue_reminders(*, profile_id: str, before_ms: int) -> list[Shown]:
    """Return the open reminders whose time was before an instant; of a series the latest such one."""
    rows = [shown_of(row) for row in execute(_OVERDUE, [profile_id, "VTODO", before_ms, before_ms]).fetchall()]
    latest: dict[str, Shown] = {}
    for shown in rows:
        if not shown.completed:
            latest[shown.object_id] = shown
    return list(latest.values())


def reminders(
    *,
    profile_id: str,
    start_ms: int,
    end_ms: int,
    include_completed: bool,
    with_open: bool,
    calendar_id: str = "",
) -> list[Shown]:
    """Return the reminders of a window; `with_open` adds overdue and undated open ones, wherever they lie."""
    found = window_items(profile_id=profile_id, kind="VTODO", start_ms=start_ms, end_ms=end_ms)
    found = [shown for shown in found if include_completed or not shown.completed]
    if with_open:
        known = {shown.id for shown in found}
        overdue = overdue_reminders(profile_id=profile_id, before_ms=start_ms)
        found = [shown for shown in overdue if shown.id not in known] + found
        timeless = timeless_reminders(profile_id=profile_id)
        found += [shown for shown in timeless if include_completed or not shown.completed]
    if calendar_id:
        found = [shown for shown in found if shown.calendar_id == calendar_id]
    return sorted(found, key=_order)


def listed_items(*, profile_id: str, request: Mapping[str, Any], now_ms: int) -> dict[str, Any]:
    """Return what a `list` request answers: the items, whether there are more, and the values that were used."""
    owner = owner_of(profile_id=profile_id)
    calendar = request.get("calendar", "")
    calendar_id = find_calendar(profile_id=profile_id, name=calendar).pk if calendar else ""
    span = {"start_ms": request["start_ms"], "end_ms": request["end_ms"]}
    if request["capability"] == "calendar":
        found = window_items(profile_id=profile_id, kind="VEVENT", calendar_id=calendar_id, **span)
    else:
        found = reminders(
            profile_id=profile_id,
            include_completed=request["include_completed"],
            with_open=request.get("default_window", False),
            calendar_id=calendar_id,
            **span,
        )
    names = calendar_names(profile_id=profile_id)
    limit = request["limit"]
    items = [item_body(shown, zone=owner.zone, calendar=names.get(shown.calendar_id, "")) for shown in found[:limit]]
    used = {name: request[name] for name in ("start_ms", "end_ms", "limit", "include_completed") if name in request}
    return {"items": items, "truncated": len(found) > limit, "used": used}


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
