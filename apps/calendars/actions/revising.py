"""Restoring a revision and copying an item: what only people do, in the page."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from apps.calendars.actions.noting import note
from apps.calendars.actions.storing import held, insert_object, stored_of, update_object
from apps.calendars.actions.writing import body_of_item
from apps.calendars.models import Calendar, Revision
from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.item_changes import copied, raised
from apps.calendars.rules.targets import CalendarReadOnly, RevisionNotFound
from apps.core.contracts import Call
from apps.core.values import new_id


@transaction.atomic
def restore_revision(*, call: Call, object_id: str, number: int) -> dict[str, Any]:
    """Make an earlier text of an item its text again; that is an update, too."""
    row = held(profile_id=call.profile_id, object_id=object_id)
    revision = Revision.objects.filter(object_id=row.pk, number=number).first()
    if revision is None:
        raise RevisionNotFound
    earlier = StoredObject(uid=row.uid, kind=row.kind, ics=revision.ics, owner_zone=row.owner_zone)  # type: ignore[arg-type]
    after = raised(earlier, above=row.sequence, now_ms=call.now_ms)
    update_object(row, stored=after, action="restored", by=call.by, now_ms=call.now_ms)
    note(call, action="restored", row=row)
    return {"item": body_of_item(profile_id=call.profile_id, item_id=row.pk, near_ms=None)}


@transaction.atomic
def duplicate_item(*, call: Call, object_id: str) -> dict[str, Any]:
    """Make a copy of an item under a new UID in the same calendar."""
    row = held(profile_id=call.profile_id, object_id=object_id)
    calendar = Calendar.objects.get(pk=row.calendar_id)
    if calendar.read_only:
        raise CalendarReadOnly
    copy = copied(stored_of(row), uid=f"{new_id()}@sayso")
    made = insert_object(calendar=calendar, stored=copy, now_ms=call.now_ms)
    note(call, action="created", row=made)
    return {"item": body_of_item(profile_id=call.profile_id, item_id=made.pk, near_ms=None)}
