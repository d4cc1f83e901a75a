"""Writing objects with their columns, occurrence rows and revisions: always all of them in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from apps.calendars.actions.ringing import drop_clock, set_clocks
from apps.calendars.models import Calendar, CalendarObject, Revision
from apps.calendars.queries.items import owner_and_staleness
from apps.calendars.queries.values import Owner
from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.filling import Filled, filled
from apps.calendars.rules.targets import ItemNotFound, uid_key
from apps.core import rows
from apps.core.announce import announce
from apps.core.values import new_id

_INSERT = (
    "insert into calendars_occurrence"
    " (profile_id, object_id, kind, slot, slot_hash, at_ms, until_ms, long, start_ms, end_ms, all_day,"
    " start_date, end_date, words)"
    " values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)

_STORED = (
    "select id, slot, slot_hash, at_ms, until_ms, long, start_ms, end_ms, all_day, start_date, end_date, words"
    " from calendars_occurrence where object_id = %s"
)


def insert_object(*, calendar: Calendar, stored: StoredObject, now_ms: int) -> CalendarObject:
    """Store a new object."""
    return insert_objects(calendar=calendar, objects=[(stored, filled(stored, now_ms=now_ms))], now_ms=now_ms)[0]


def insert_objects(
    *, calendar: Calendar, objects: Sequence[tuple[StoredObject, Filled]], now_ms: int
) -> list[CalendarObject]:
    """Store new objects whose columns and rows were reckoned already."""
    made = []
    occurrences: list[tuple[Any, ...]] = []
    for stored, full in objects:
        own = {
            "id": new_id(),
            "profile_id": calendar.profile_id,
            "created_at_ms": now_ms,
            "version": 1,
            "calendar_id": calendar.pk,
            "uid": stored.uid,
            "uid_key": uid_key(stored.uid),
            "kind": stored.kind,
        }
        row = rows.bare(CalendarObject, own | full.columns, adding=True)
        made.append(row)
        occurrences += _occurrence_values(row, full.rows)
    rows.insert_all(CalendarObject, made)
    rows.execute_many(_INSERT, occurrences)
    _tell_horizon(made)
    set_clocks(made, edited=True)
    return made


def _tell_horizon(changed: Sequence[CalendarObject]) -> None:
    """Let the timer that moves horizons on know when the first of these is due."""
    due = [row.extend_at_ms for row in changed if row.extend_at_ms is not None]
    if due:
        announce("calendar.horizon", deadline=min(due))


def held(*, profile_id: str, object_id: str) -> CalendarObject:
    """Return an object under its row lock; raise `ItemNotFound`."""
    row = rows.fetch(CalendarObject, "id = %s and profile_id = %s", [object_id, profile_id], lock=True)
    if row is None:
        raise ItemNotFound
    return row


def stored_of(row: CalendarObject) -> StoredObject:
    """Return a row's text for the rules."""
    return StoredObject(uid=row.uid, kind=row.kind, ics=row.ics, owner_zone=row.owner_zone)  # type: ignore[arg-type]


def update_object(
    row: CalendarObject, *, stored: StoredObject, action: str, by: str, now_ms: int, full: Filled | None = None
) -> None:
    """Store another text of a locked object; the one before becomes a revision."""
    before = {
        "id": new_id(),
        "profile_id": row.profile_id,
        "created_at_ms": now_ms,
        "version": 1,
        "object_id": row.pk,
        "number": row.version,
        "ics": row.ics,
        "title": row.title,
        "action": action,
        "by": by,
        "at_ms": now_ms,
    }
    rows.insert(rows.bare(Revision, before, adding=True))
    row.version += 1
    refresh_object(row, full=full or filled(stored, now_ms=now_ms), edited=True)


def refresh_object(row: CalendarObject, *, full: Filled, edited: bool = False) -> None:
    """Write the columns anew, and those occurrence rows that are not as they were."""
    for name, value in full.columns.items():
        setattr(row, name, value)
    rows.update(row, ["version", "calendar_id", *full.columns])
    _tell_horizon([row])
    set_clocks([row], edited=edited)
    stored = {each[2]: each for each in rows.execute(_STORED, [row.pk]).fetchall()}
    fresh = []
    for each in full.rows:
        there = stored.get(each[1])
        if there is not None and there[1:] == tuple(each):
            del stored[each[1]]
        else:
            fresh.append(each)
    if stored:
        rows.execute_many("delete from calendars_occurrence where id = %s", [(each[0],) for each in stored.values()])
    if fresh:
        rows.execute_many(_INSERT, _occurrence_values(row, fresh))


def remove_object(row: CalendarObject) -> None:
    """Remove a locked object with everything that hangs on it."""
    remove_locked(object_id=row.pk, version=row.version)


def remove_locked(*, object_id: str, version: int) -> None:
    """Remove an object of which the row is locked and no more than its version need be known."""
    drop_clock(object_id)
    rows.execute("delete from calendars_occurrence where object_id = %s", [object_id])
    if version > 1:
        # Only what was changed has revisions.
        rows.execute("delete from calendars_revision where object_id = %s", [object_id])
    gone = rows.execute("delete from calendars_calendarobject where id = %s", [object_id])
    if gone.rowcount != 1:
        raise ItemNotFound


def _occurrence_values(row: CalendarObject, projected: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    head = (row.profile_id, row.pk, row.kind)
    return [(*head, *each) for each in projected]


def current_owner(*, profile_id: str, now_ms: int) -> Owner:
    """Return the profile's settings, after the rows were brought up to its zone."""
    owner, stale = owner_and_staleness(profile_id=profile_id)
    if stale:
        keep_current(profile_id=profile_id, zone=owner.zone, now_ms=now_ms)
    return owner


@transaction.atomic
def keep_current(*, profile_id: str, zone: str, now_ms: int) -> int:
    """Reckon the objects anew that were judged in another zone of the owner; returns how many."""
    count = 0
    own = CalendarObject.objects.filter(profile_id=profile_id)
    for stale in (own.filter(owner_zone__lt=zone), own.filter(owner_zone__gt=zone)):
        for object_id in list(stale.order_by().values_list("pk", flat=True)):
            row = held(profile_id=profile_id, object_id=object_id)
            stored = StoredObject(uid=row.uid, kind=row.kind, ics=row.ics, owner_zone=zone)  # type: ignore[arg-type]
            refresh_object(row, full=filled(stored, now_ms=now_ms))
            count += 1
    return count


@transaction.atomic
def extend_rows(*, now_ms: int, limit: int = 50) -> int:
    """Move the horizon of series on whose rows are about to end; returns how many."""
    due = CalendarObject.objects.filter(extend_at_ms__lte=now_ms).order_by("extend_at_ms")
    found = list(due.values_list("profile_id", "pk")[:limit])
    for profile_id, object_id in found:
        row = held(profile_id=profile_id, object_id=object_id)
        refresh_object(row, full=filled(stored_of(row), now_ms=now_ms))
    return len(found)
