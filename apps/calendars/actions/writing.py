"""Creating, changing, completing, moving and restoring items."""

from __future__ import annotations

from typing import Any

from apps.calendars.actions.noting import note, tell
from apps.calendars.actions.storing import held, insert_object, stored_of, update_object
from apps.calendars.models import CalendarObject
from apps.calendars.queries.bodies import item_body
from apps.calendars.queries.items import find_calendar, find_item, owner_of
from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.edit import new_event, new_todo
from apps.calendars.rules.item_changes import changed_object, loss_of, may_lose
from apps.calendars.rules.removal_by_update import removed_by_update
from apps.calendars.rules.targets import CalendarReadOnly, split_id
from apps.core.contracts import Call, Preview
from apps.core.errors import Conflict
from apps.core.values import new_id


class ChangeDiffers(Conflict):
    """This change would remove something that was not shown, so nothing was changed."""

    code = "removal_not_exact"


def create_item(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Make an event or a reminder."""
    calendar = find_calendar(profile_id=call.profile_id, name=call.arguments["calendar"])
    if calendar.read_only:
        raise CalendarReadOnly
    zone = owner_of(profile_id=call.profile_id).zone
    item = call.arguments["item"]
    stored = _new_event(item, zone, call.now_ms) if "start_ms" in item else _new_todo(item, zone, call.now_ms)
    row = insert_object(calendar=calendar, stored=stored, now_ms=call.now_ms)
    note(call, action="created", row=row)
    return {"item": body_of_item(profile_id=call.profile_id, item_id=row.pk, near_ms=None)}


def _new_event(item: dict[str, Any], zone: str, now_ms: int) -> StoredObject:
    return new_event(
        uid=f"{new_id()}@sayso",
        title=item["title"],
        start_ms=item["start_ms"],
        end_ms=item.get("end_ms"),
        all_day=bool(item.get("all_day")),
        zone=item.get("zone", zone),
        owner_zone=zone,
        now_ms=now_ms,
        rrule=item.get("rrule") or "",
        location=item.get("location") or "",
        notes=item.get("notes") or "",
        alarm_minutes=item.get("reminder_minutes") or None,
    )


def _new_todo(item: dict[str, Any], zone: str, now_ms: int) -> StoredObject:
    return new_todo(
        uid=f"{new_id()}@sayso",
        title=item["title"],
        owner_zone=zone,
        now_ms=now_ms,
        due_ms=item.get("due_ms"),
        all_day=bool(item.get("all_day")),
        zone=item.get("zone", zone),
        rrule=item.get("rrule") or "",
        location=item.get("location") or "",
        notes=item.get("notes") or "",
        priority=item.get("priority") or 0,
        alarm_minutes=item.get("reminder_minutes") or None,
    )


def body_of_item(*, profile_id: str, item_id: str, near_ms: int | None) -> dict[str, Any]:
    """Return an item as answers show it."""
    found = find_item(profile_id=profile_id, item_id=item_id, near_ms=near_ms)
    return item_body(found.shown, zone=found.owner_zone, calendar=found.calendar_name)


def update_item(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Change an item, or one occurrence; it never takes anything away."""
    row = _changed(call, preview, action="updated", may_remove=False)
    return {"item": _body_after(call, preview, row)}


def reduce_item(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Change a series in a way that takes several occurrences away."""
    row = _changed(call, preview, action="reduced", may_remove=True)
    if preview.facts["remain"] is not None and row.occurrences != preview.facts["remain"]:
        raise ChangeDiffers
    parts = {"goes": preview.facts["goes"], "remain": preview.facts["remain"]}
    return {"item": _body_after(call, preview, row), **parts}


def _changed(call: Call, preview: Preview, *, action: str, may_remove: bool) -> CalendarObject:
    object_id, hashed = split_id(preview.target_id)
    row = held(profile_id=call.profile_id, object_id=object_id)
    before = stored_of(row)
    near = call.arguments.get("near_ms")
    slot = find_item(profile_id=call.profile_id, item_id=preview.target_id, near_ms=near).shown.slot if hashed else ""
    change = call.arguments["change"]
    after = changed_object(before, slot=slot, item=change, now_ms=call.now_ms)
    if not may_remove and may_lose(change) and loss_of(before, after=after, now_ms=call.now_ms):
        raise ChangeDiffers
    update_object(row, stored=after, action=action, by=call.by, now_ms=call.now_ms)
    note(call, action=action, row=row, slot=hashed)
    return row


def _body_after(call: Call, preview: Preview, row: CalendarObject) -> dict[str, Any]:
    change = call.arguments["change"]
    near = change.get("start_ms") or change.get("due_ms") or call.arguments.get("near_ms")
    # A moved series gives its occurrences other slots, so the whole is looked at by the object's id.
    return body_of_item(profile_id=call.profile_id, item_id=preview.target_id, near_ms=near)


def complete_item(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Complete a reminder, or open it again."""
    action = "completed" if call.arguments["change"]["completed"] else "reopened"
    row = _changed(call, preview, action=action, may_remove=False)
    return {"item": _body_after(call, preview, row)}


def move_item(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Move an item to another calendar, with whatever else the change says."""
    row = held(profile_id=call.profile_id, object_id=split_id(preview.target_id)[0])
    target = find_calendar(profile_id=call.profile_id, name=call.arguments["calendar"])
    change = {name: value for name, value in call.arguments["change"].items() if name != "calendar"}
    before = stored_of(row)
    after = changed_object(before, slot="", item=change, now_ms=call.now_ms) if change else before
    if removed_by_update(before=before, after=after, most=1):
        raise ChangeDiffers
    left = row.calendar_id
    row.calendar_id = target.pk
    update_object(row, stored=after, action="moved", by=call.by, now_ms=call.now_ms)
    note(call, action="moved", row=row, effect=preview.effect)
    tell(profile_id=call.profile_id, calendar_id=left)
    return {"item": body_of_item(profile_id=call.profile_id, item_id=row.pk, near_ms=None)}
