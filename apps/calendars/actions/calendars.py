"""Making, changing and removing whole calendars."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from apps.accounts.rules import Caller
from apps.calendars.actions.noting import tell
from apps.calendars.actions.storing import remove_object
from apps.calendars.models import Calendar, CalendarObject
from apps.calendars.rules.targets import (
    CalendarExists,
    CalendarNotFound,
    LastCalendar,
    check_calendar_name,
    check_colour,
)
from apps.core.contracts import Call, Preview
from apps.core.errors import Denied, InvalidField
from apps.core.values import digest_of, new_id
from apps.ledger import actions as ledger


@transaction.atomic
def create_calendar(
    *, by: Caller, name: Any, now_ms: int, colour: Any = None, read_only: Any = None, is_default: Any = None
) -> Calendar:
    """Make a calendar; the first of a profile is its default."""
    first = not Calendar.objects.filter(profile_id=by.profile_id).exists()
    row = Calendar(
        id=new_id(),
        profile_id=by.profile_id,
        name=check_calendar_name(name),
        is_default=first,
        created_at_ms=now_ms,
    )
    if colour is not None:
        row.colour = check_colour(colour)
    if read_only is not None:
        row.read_only = _flag(read_only, "read_only")
    if is_default is not None and _flag(is_default, "is_default") and not first:
        Calendar.objects.filter(profile_id=by.profile_id, is_default=True).update(is_default=False)
        row.is_default = True
    _save(row, new=True)
    _note(by.ref, row, "created", now_ms=now_ms)
    return row


def _save(row: Calendar, *, new: bool) -> None:
    try:
        with transaction.atomic():
            row.save(force_insert=new, force_update=not new)
    except IntegrityError:
        raise CalendarExists from None


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidField(name, f"{name} must be true or false")
    return value


@transaction.atomic
def update_calendar(*, by: Caller, calendar_id: str, changes: dict[str, Any], now_ms: int) -> Calendar:
    """Change name, colour, read-only flag, or make it the default."""
    row = Calendar.objects.select_for_update(of=("self",)).filter(pk=calendar_id, profile_id=by.profile_id).first()
    if row is None:
        raise CalendarNotFound
    if changes.get("name") is not None:
        row.name = check_calendar_name(changes["name"])
    if changes.get("colour") is not None:
        row.colour = check_colour(changes["colour"])
    if changes.get("read_only") is not None:
        if _flag(changes["read_only"], "read_only") != row.read_only and not by.is_human:
            raise Denied("Only a person in a browser may close a calendar for writes or open it again.")
        row.read_only = changes["read_only"]
    if changes.get("is_default") is not None:
        if not _flag(changes["is_default"], "is_default") and row.is_default:
            raise LastCalendar
        if changes["is_default"] and not row.is_default:
            Calendar.objects.filter(profile_id=by.profile_id, is_default=True).update(is_default=False)
            row.is_default = True
    row.version += 1
    _save(row, new=False)
    _note(by.ref, row, "updated", now_ms=now_ms)
    return row


def delete_calendar(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Remove a calendar with everything in it."""
    row = (
        Calendar.objects.select_for_update(of=("self",))
        .filter(pk=preview.target_id, profile_id=call.profile_id)
        .first()
    )
    if row is None:
        raise CalendarNotFound
    for held in CalendarObject.objects.select_for_update(of=("self",)).filter(calendar=row).order_by("id"):
        remove_object(held)
    Calendar.objects.filter(pk=row.pk)._raw_delete(using="default")
    _note(call.by, row, "deleted", now_ms=call.now_ms, effect=preview.effect)
    return {"calendar": {"id": row.pk, "deleted": True}, "goes": preview.facts["goes"]}


def _note(by: str, row: Calendar, action: str, *, now_ms: int, effect: Any = None) -> None:
    ledger.append(
        profile_id=row.profile_id,
        actor=by,
        action=f"calendars.calendar_{action}",
        target=f"calendar:{row.pk}",
        effect=digest_of(effect) if effect is not None else "",
        digest=digest_of([row.pk, row.name, row.colour, row.is_default, row.read_only]),
        now_ms=now_ms,
    )
    tell(profile_id=row.profile_id, calendar_id=row.pk)
