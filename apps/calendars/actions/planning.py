"""Deciding what a request means: which contract, with which arguments, and whether a person is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.accounts.rules import Caller
from apps.calendars.queries.items import find_calendar, find_item, owner_of, stored_object
from apps.calendars.queries.previews import check_writable, found_exactly, identity_of
from apps.calendars.queries.values import Found
from apps.calendars.rules.item_changes import Loss, changed_object, loss_of, may_lose
from apps.calendars.rules.occurrences import find_slot
from apps.calendars.rules.targets import (
    KIND_OF_CAPABILITY,
    MINUTE_MS,
    WRITES_PER_MINUTE,
    CalendarNotFound,
    CalendarReadOnly,
    ItemNotFound,
    occurrence_id,
)
from apps.core import rows
from apps.core.errors import InvalidField

Item = Mapping[str, Any]
_RECENT = "select count(*) from calendars_recentwrite where requester = %s and at_ms > %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A contract call, and whether it waits for a person."""

    contract: str
    arguments: dict[str, Any]
    asks: bool
    found: Found | None = None
    """What a deletion was found to mean, as the arguments say it exactly."""


def plan_request(*, by: Caller, request: Mapping[str, Any], now_ms: int, default_window: bool = False) -> Plan:
    """Return what a normalized request (section 3) means for Sayso's own calendars."""
    capability, action = request["capability"], request["action"]
    if action == "list":
        arguments = dict(request)
        del arguments["purpose"], arguments["action"]
        if default_window:
            arguments["default_window"] = True
        policies = owner_of(profile_id=by.profile_id).policies
        asks = by.kind != "person" and policies.get("list") == "ask"
        name = "list_items" if capability == "calendar" else "list_reminders"
        return Plan(contract=f"calendars.{name}", arguments=arguments, asks=asks)
    if action == "delete":
        return plan_deletion(by=by, item=request["item"], capability=capability)
    if action == "create":
        return plan_creation(by=by, item=request["item"], capability=capability, now_ms=now_ms)
    return plan_change(by=by, item=request["item"], capability=capability, action=action, now_ms=now_ms)


def plan_deletion(*, by: Caller, item: Item, capability: str, following: bool = False) -> Plan:
    """Return the deletion of exactly one listed item; raise `ItemNotFound` unless it is what is stated."""
    found = found_exactly(item, profile_id=by.profile_id, kind=KIND_OF_CAPABILITY[capability])
    check_writable(found)
    if following:
        if found.target_kind != "event_occurrence":
            raise ItemNotFound("This and all later ones can only be deleted from one occurrence of a series.")
        return Plan(contract="calendars.delete_following", arguments=dict(item), asks=True, found=found)
    return Plan(contract=deletion_contract(found), arguments=dict(item), asks=True, found=found)


def deletion_contract(found: Found) -> str:
    """Return the contract that deletes an item of this kind."""
    if not found.shown.is_event:
        return "calendars.delete_reminder"
    names = {"event": "delete_event", "event_series": "delete_series", "event_occurrence": "delete_occurrence"}
    return f"calendars.{names[found.target_kind]}"


def plan_creation(*, by: Caller, item: Item, capability: str, now_ms: int) -> Plan:
    """Return the creation of an item in the calendar it names, or in the default one."""
    try:
        calendar = find_calendar(profile_id=by.profile_id, name=item.get("calendar", ""))
    except CalendarNotFound:
        raise InvalidField("calendar", "calendar names no calendar of this profile") from None
    if calendar.read_only:
        raise CalendarReadOnly
    kept = {name: value for name, value in item.items() if name not in ("calendar", "id")}
    asks = _must_ask(by, "create", now_ms)
    name = "create_event" if capability == "calendar" else "create_reminder"
    return Plan(contract=f"calendars.{name}", arguments={"item": kept, "calendar": calendar.pk}, asks=asks)


def _must_ask(by: Caller, policy: str, now_ms: int) -> bool:
    """Tell whether a write by an agent waits: by the profile's policy, or because it writes too much."""
    if by.kind == "person":
        return False
    if owner_of(profile_id=by.profile_id).policies.get(policy) == "ask":
        return True
    recent = rows.execute(_RECENT, [by.ref, now_ms - MINUTE_MS]).fetchone()
    return bool(recent[0] >= WRITES_PER_MINUTE)


def plan_change(
    *, by: Caller, item: Item, capability: str, action: str, now_ms: int, near_ms: int | None = None
) -> Plan:
    """Return an update or completion; whatever of it removes something becomes a deletion."""
    near = near_ms if near_ms is not None else item.get("start_ms", item.get("due_ms"))
    found = find_item(profile_id=by.profile_id, item_id=item["id"], near_ms=near, kind=KIND_OF_CAPABILITY[capability])
    check_writable(found)
    change = {name: value for name, value in item.items() if name not in ("id", "calendar")}
    arguments: dict[str, Any] = {"id": found.shown.id, "change": change}
    if found.shown.recurring and not found.shown.whole and found.shown.at_ms is not None:
        arguments["near_ms"] = found.shown.at_ms
    target = _other_calendar(by, item, found)
    stored = stored_object(profile_id=by.profile_id, object_id=found.shown.object_id)
    slot = "" if found.shown.whole or not found.shown.recurring else found.shown.slot
    after = changed_object(stored, slot=slot, item=change, now_ms=now_ms)
    loss = loss_of(stored, after=after, now_ms=now_ms) if may_lose(change) else None
    if target:
        if loss or slot:
            raise InvalidField("calendar", "calendar: move the whole item alone, and take occurrences away separately")
        arguments |= {"calendar": target, "change": {**change, "calendar": target}}
        kind = "event" if found.shown.is_event else "reminder"
        return Plan(contract=f"calendars.move_{kind}", arguments=arguments, asks=True)
    if loss:
        return _as_deletion(by, found, loss, arguments)
    asks = _must_ask(by, action, now_ms) or (by.kind != "person" and _is_delicate(found, change, action))
    names = {"complete": "complete_reminder", "update": f"update_{'event' if found.shown.is_event else 'reminder'}"}
    return Plan(contract=f"calendars.{names[action]}", arguments=arguments, asks=asks)


def _other_calendar(by: Caller, item: Item, found: Found) -> str:
    if not item.get("calendar"):
        return ""
    try:
        target = find_calendar(profile_id=by.profile_id, name=item["calendar"])
    except CalendarNotFound:
        raise InvalidField("calendar", "calendar names no calendar of this profile") from None
    if target.read_only:
        raise CalendarReadOnly
    return "" if target.pk == found.shown.calendar_id else target.pk


def _is_delicate(found: Found, change: Item, action: str) -> bool:
    """Tell whether a change clears text or touches a meeting with other people."""
    shown = found.shown
    clears = any(name in change and change[name] is None and getattr(shown, name) for name in ("notes", "location"))
    return clears or (action == "update" and shown.attendees > 0)


def _as_deletion(by: Caller, found: Found, loss: Loss, arguments: dict[str, Any]) -> Plan:
    """Return the deletion that an update amounts to: the same contract and effect as asking for it outright."""
    change = arguments["change"]
    if loss.shape == "several" or not found.shown.is_event:
        return Plan(contract="calendars.remove_by_update", arguments=arguments, asks=True)
    stored = stored_object(profile_id=by.profile_id, object_id=found.shown.object_id)
    first = find_slot(stored=stored, slot=loss.slots[0])
    assert first is not None
    one = find_item(
        profile_id=by.profile_id,
        item_id=occurrence_id(found.shown.object_id, slot=first.slot),
        near_ms=first.start_ms,
    )
    exact = identity_of(one)
    if loss.shape == "following":
        return Plan(contract="calendars.delete_following", arguments={**exact, "change": change}, asks=True)
    if set(change) != {"exdates"}:
        exact["change"] = change
    return Plan(contract="calendars.delete_occurrence", arguments=exact, asks=True)
