"""Removing: whole items, one occurrence, one and all that follow. Reached through the gate only."""

from __future__ import annotations

from typing import Any

from apps.calendars.actions.noting import note, tell
from apps.calendars.actions.storing import held, remove_locked, remove_object, stored_of, update_object
from apps.calendars.models import CalendarObject
from apps.calendars.queries.items import find_item
from apps.calendars.queries.values import Found
from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.item_changes import changed_object
from apps.calendars.rules.removal import cut_following, remove_occurrence
from apps.calendars.rules.targets import ItemNotFound, slot_hash, split_id
from apps.core.contracts import Call, Preview
from apps.core.errors import Conflict


class RemovalDiffers(Conflict):
    """This would have removed something else than what was shown, so nothing was removed."""

    code = "removal_not_exact"


def delete_item(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Remove a whole item: an event, a reminder, a series."""
    # The preview has just read and locked it, and the gate's own row records what a person confirmed.
    found: Found = preview.source
    assert call.confirmation_id
    remove_locked(object_id=found.shown.object_id, version=found.version)
    tell(profile_id=call.profile_id, calendar_id=found.shown.calendar_id)
    return {"item": {"id": preview.target_id, "deleted": True}}


def delete_occurrence(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Remove one occurrence of a series and nothing else of it, or make the change that does so."""
    object_id, hashed = split_id(preview.target_id)
    row = held(profile_id=call.profile_id, object_id=object_id)
    slot = _slot_of(call, preview)
    before = stored_of(row)
    change = call.arguments.get("change")
    if change:
        after: StoredObject | None = changed_object(before, slot="", item=change, now_ms=call.now_ms)
    else:
        after = remove_occurrence(stored=before, slot=slot, now_ms=call.now_ms)
    if after is None:
        remove_object(row)
    else:
        _store(row, after=after, action="occurrence_deleted", call=call)
        if not change:
            _check_count(row, expected=preview.facts["remain"])
    note(call, action="occurrence_deleted", row=row, slot=hashed, effect=preview.effect)
    return {"item": {"id": preview.target_id, "deleted": True}, "remain": preview.facts["remain"]}


def delete_following(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Remove one occurrence of a series and all that follow."""
    object_id, hashed = split_id(preview.target_id)
    row = held(profile_id=call.profile_id, object_id=object_id)
    before = stored_of(row)
    change = call.arguments.get("change")
    if change:
        after = changed_object(before, slot="", item=change, now_ms=call.now_ms)
    else:
        after = cut_following(stored=before, slot=_slot_of(call, preview), now_ms=call.now_ms)
    _store(row, after=after, action="following_deleted", call=call)
    _check_count(row, expected=preview.facts["remain"])
    note(call, action="following_deleted", row=row, slot=hashed, effect=preview.effect)
    item = {"id": preview.target_id, "deleted": True}
    return {"item": item, "goes": preview.facts["goes"], "remain": preview.facts["remain"]}


def delete_reminder(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Remove a reminder, a series of reminders, or one of a series."""
    if preview.target_kind == "reminder_occurrence":
        return delete_occurrence(call=call, preview=preview)
    return delete_item(call=call, preview=preview)


def _store(row: CalendarObject, *, after: StoredObject, action: str, call: Call) -> None:
    update_object(row, stored=after, action=action, by=call.by, now_ms=call.now_ms)


def _check_count(row: CalendarObject, *, expected: int | None) -> None:
    """Raise unless as many occurrences remain as the card said."""
    if expected is not None and row.occurrences != expected:
        raise RemovalDiffers


def _slot_of(call: Call, preview: Preview) -> str:
    near = call.arguments.get("start_ms", call.arguments.get("due_ms"))
    slot = find_item(profile_id=call.profile_id, item_id=preview.target_id, near_ms=near).shown.slot
    if not slot or slot_hash(slot) != split_id(preview.target_id)[1]:
        raise ItemNotFound
    return slot
