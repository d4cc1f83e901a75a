"""What the contracts of this room would do, read from real rows; the same code asks and checks again at the tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.calendars.models import Calendar, CalendarObject
from apps.calendars.queries.answers import list_preview_facts
from apps.calendars.queries.bodies import facts_of
from apps.calendars.queries.items import find_calendar, find_item, owner_of, stored_object
from apps.calendars.queries.values import Found, Shown
from apps.calendars.rules.columns import columns_of
from apps.calendars.rules.item_changes import changed_object, loss_of
from apps.calendars.rules.occurrences import count_occurrences
from apps.calendars.rules.removal import cut_following
from apps.calendars.rules.series import read_object
from apps.calendars.rules.targets import (
    CalendarNotFound,
    CalendarReadOnly,
    ItemNotFound,
    LastCalendar,
    UidTaken,
    listed_title,
    same_title,
    uid_key,
)
from apps.core.contracts import Call, Preview
from apps.core.values import digest_of

Arguments = Mapping[str, Any]


def found_exactly(arguments: Arguments, *, profile_id: str, kind: str, lock: bool = False) -> Found:
    """Return the item that id, title and time name together; raise `ItemNotFound` for any contradiction."""
    name = "start_ms" if kind == "VEVENT" else "due_ms"
    at = arguments.get(name)
    found = find_item(profile_id=profile_id, item_id=arguments["id"], near_ms=at, lock=lock, kind=kind)
    check_identity(found, title=arguments["title"], at_ms=at)
    return found


def check_identity(found: Found, *, title: str, at_ms: Any) -> None:
    """Raise unless a stated title and time are those that lists print for the item."""
    shown = found.shown
    titles = (shown.title, found.series_title) if shown.whole else (shown.title,)
    if shown.at_ms != at_ms or not any(same_title(each, given=title) for each in titles):
        raise ItemNotFound


def check_writable(found: Found) -> None:
    """Raise for an item of a read-only calendar."""
    if found.read_only:
        raise CalendarReadOnly


def identity_of(found: Found) -> dict[str, Any]:
    """Return the arguments that name an item exactly."""
    name = "start_ms" if found.shown.is_event else "due_ms"
    arguments: dict[str, Any] = {"id": found.shown.id, "title": listed_title(found.shown.title)}
    if found.shown.at_ms is not None:
        arguments[name] = found.shown.at_ms
    return arguments


def whole_state(found: Found) -> dict[str, Any]:
    """Return what a card about a whole item rests on."""
    return {
        "id": found.shown.object_id,
        "version": found.version,
        "digest": found.digest,
        "calendar": found.shown.calendar_id,
        "calendar_name": found.calendar_name,
    }


def occurrence_state(found: Found, *, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a card about one occurrence rests on: its slot and what is shown of it, not the others."""
    shown = {name: value for name, value in facts.items() if name not in ("goes", "remain", "leaves_nothing")}
    return {"id": found.shown.object_id, "slot": found.shown.slot, "shown": digest_of(shown)}


def _facts(found: Found) -> dict[str, Any]:
    facts = facts_of(found.shown, zone=found.owner_zone, calendar=found.calendar_name)
    return facts | {"what": found.target_kind}


def _deletion(call: Call, *, lock: bool, kind: str, targets: tuple[str, ...]) -> tuple[Found, dict[str, Any]]:
    if isinstance(call.seen, Found) and not lock:
        found = call.seen
    else:
        found = found_exactly(call.arguments, profile_id=call.profile_id, kind=kind, lock=lock)
    if found.target_kind not in targets:
        raise ItemNotFound
    facts = _facts(found)
    change = call.arguments.get("change")
    if change:
        facts |= changes_shown(found, change=change)
    return found, facts


def single_deletion(*, call: Call, lock: bool) -> Preview:
    """Preview the deletion of one event that does not repeat."""
    found, facts = _deletion(call, lock=lock, kind="VEVENT", targets=("event",))
    return _preview(found, facts | {"goes": 1}, state=whole_state(found), effect={"removes": "item"})


def series_deletion(*, call: Call, lock: bool) -> Preview:
    """Preview the deletion of a whole series."""
    found, facts = _deletion(call, lock=lock, kind="VEVENT", targets=("event_series",))
    facts |= {"goes": found.occurrences, "remain": 0}
    return _preview(found, facts, state=whole_state(found), effect={"removes": "item"})


def reminder_deletion(*, call: Call, lock: bool) -> Preview:
    """Preview the deletion of a reminder, a series of reminders or one of them."""
    targets = ("reminder", "reminder_series", "reminder_occurrence")
    found, facts = _deletion(call, lock=lock, kind="VTODO", targets=targets)
    if found.target_kind == "reminder_occurrence":
        return _occurrence_preview(found, facts, call)
    goes = found.occurrences if found.shown.recurring else 1
    facts |= {"goes": goes, "remain": 0} if found.shown.recurring else {"goes": 1}
    return _preview(found, facts, state=whole_state(found), effect={"removes": "item"})


def occurrence_deletion(*, call: Call, lock: bool) -> Preview:
    """Preview the deletion of one occurrence of a series."""
    found, facts = _deletion(call, lock=lock, kind="VEVENT", targets=("event_occurrence",))
    return _occurrence_preview(found, facts, call)


def _occurrence_preview(found: Found, facts: dict[str, Any], call: Call) -> Preview:
    remain = None if found.occurrences is None else found.occurrences - 1
    facts = {**facts, "goes": 1, "remain": remain}
    if remain == 0 and not found.shown.rrule:
        stored = stored_object(profile_id=call.profile_id, object_id=found.shown.object_id)
        if read_object(stored=stored).master is None:
            # A changed occurrence whose series never came: with it everything goes.
            facts["leaves_nothing"] = True
    state: dict[str, Any] = occurrence_state(found, facts=facts)
    if call.arguments.get("change"):
        # More than this slot changes, so more than this slot must be as it was shown.
        state |= whole_state(found)
    return _preview(found, facts, state=state, effect={"removes": "occurrence"})


def following_deletion(*, call: Call, lock: bool) -> Preview:
    """Preview the deletion of one occurrence and all that follow."""
    found, facts = _deletion(call, lock=lock, kind="VEVENT", targets=("event_occurrence",))
    stored = stored_object(profile_id=call.profile_id, object_id=found.shown.object_id)
    cut = cut_following(stored=stored, slot=found.shown.slot, now_ms=call.now_ms)
    remain = count_occurrences(stored=cut)
    goes = None if found.occurrences is None or remain is None else found.occurrences - remain
    facts |= {"goes": goes, "remain": remain}
    return _preview(found, facts, state=whole_state(found), effect={"removes": "following"})


def reduction(*, call: Call, lock: bool) -> Preview:
    """Preview an update that takes several occurrences away."""
    arguments = call.arguments
    found = find_item(profile_id=call.profile_id, item_id=arguments["id"], near_ms=arguments.get("near_ms"), lock=lock)
    stored = stored_object(profile_id=call.profile_id, object_id=found.shown.object_id)
    slot = "" if found.shown.whole or not found.shown.recurring else found.shown.slot
    after = changed_object(stored, slot=slot, item=arguments["change"], now_ms=call.now_ms)
    loss = loss_of(stored, after=after, now_ms=call.now_ms)
    facts = _facts(found) | changes_shown(found, change=arguments["change"])
    facts |= {"goes": loss.goes if loss else 0, "remain": loss.remain if loss else found.occurrences}
    effect = {"removes": digest_of(list(loss.slots) if loss else [])}
    return _preview(found, facts, state=whole_state(found), effect=effect)


def move(*, call: Call, lock: bool) -> Preview:
    """Preview the move of an item to another calendar: it goes from the one it is in."""
    arguments = call.arguments
    found = find_item(profile_id=call.profile_id, item_id=arguments["id"], lock=lock)
    target = find_calendar(profile_id=call.profile_id, name=arguments["calendar"])
    facts = _facts(found) | changes_shown(found, change=arguments["change"])
    facts |= {"goes": found.occurrences if found.shown.recurring else 1, "to": target.name}
    facts["before"] = {**facts["before"], "calendar": found.calendar_name}
    facts["after"] = {**facts["after"], "calendar": target.name}
    state = whole_state(found) | {"to": target.pk, "to_name": target.name}
    return _preview(found, facts, state=state, effect={"removes": "item", "moves_to": target.pk})


def update(*, call: Call, lock: bool) -> Preview:
    """Preview a change that takes nothing away."""
    arguments = call.arguments
    found = find_item(profile_id=call.profile_id, item_id=arguments["id"], near_ms=arguments.get("near_ms"), lock=lock)
    facts = _facts(found) | changes_shown(found, change=arguments["change"])
    return _preview(found, facts, state=whole_state(found), effect={"changes": digest_of(dict(arguments["change"]))})


def creation(*, call: Call, lock: bool) -> Preview:
    """Preview a new item."""
    calendar = find_calendar(profile_id=call.profile_id, name=call.arguments["calendar"])
    item, zone = call.arguments["item"], owner_of(profile_id=call.profile_id).zone
    is_event = "start_ms" in item
    shown = Shown(
        object_id="",
        kind="VEVENT" if is_event else "VTODO",
        slot="",
        slot_hash="",
        whole=False,
        recurring=bool(item.get("rrule")),
        title=item["title"],
        location=item.get("location", ""),
        notes=item.get("notes", ""),
        start_ms=item.get("start_ms"),
        end_ms=item.get("end_ms") if is_event else item.get("due_ms"),
        all_day=False,
        start_date="",
        end_date="",
        zone=zone,
        alarm_minutes=item.get("reminder_minutes"),
        attendees=0,
        status="",
        priority=item.get("priority", 0),
        completed=False,
        completed_ms=None,
        calendar_id=calendar.pk,
    )
    facts = facts_of(shown, zone=zone, calendar=calendar.name) | {"all_day": bool(item.get("all_day"))}
    if item.get("rrule"):
        facts["rrule"] = item["rrule"]
    state = {"calendar": calendar.pk, "calendar_name": calendar.name, "zone": zone}
    effect = {"creates": digest_of(dict(item))}
    return Preview(target_kind="calendar", target_id=calendar.pk, facts=facts, state=state, effect=effect)


def changes_shown(found: Found, *, change: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a change gives another value, before and after."""
    shown = found.shown
    now: dict[str, Any] = {
        "title": shown.title,
        "notes": shown.notes or None,
        "location": shown.location or None,
        "start_ms": shown.start_ms,
        "end_ms": shown.end_ms,
        "due_ms": shown.end_ms,
        "all_day": shown.all_day,
        "reminder_minutes": shown.alarm_minutes or None,
        "priority": shown.priority or None,
        "completed": shown.completed,
        "rrule": shown.rrule or None,
    }
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for name, value in change.items():
        wanted = (value or None) if name in ("reminder_minutes", "priority", "notes", "location", "rrule") else value
        if name in now and now[name] != wanted:
            before[name], after[name] = now[name], wanted
    return {"before": before, "after": after}


def _preview(found: Found, facts: dict[str, Any], *, state: dict[str, Any], effect: dict[str, Any]) -> Preview:
    return Preview(
        target_kind=found.target_kind, target_id=found.shown.id, facts=facts, state=state, effect=effect, source=found
    )


def check_call_writable(*, call: Call, preview: Preview) -> None:
    """Raise while the calendar of the call's item, or the one it goes to, is read-only."""
    arguments = call.arguments
    if isinstance(preview.source, Found):
        check_writable(preview.source)
    elif "id" in arguments:
        near = arguments.get("near_ms", arguments.get("start_ms"))
        check_writable(find_item(profile_id=call.profile_id, item_id=arguments["id"], near_ms=near))
    if arguments.get("calendar") and find_calendar(profile_id=call.profile_id, name=arguments["calendar"]).read_only:
        raise CalendarReadOnly


def check_call_movable(*, call: Call, preview: Preview) -> None:
    """Raise while the move's calendars are read-only, or the one it goes to holds the same UID."""
    check_call_writable(call=call, preview=preview)
    found = find_item(profile_id=call.profile_id, item_id=call.arguments["id"])
    target = find_calendar(profile_id=call.profile_id, name=call.arguments["calendar"])
    if CalendarObject.objects.filter(calendar=target, uid_key=uid_key(found.uid)).exists():
        raise UidTaken


def check_calendar_may_go(*, call: Call, preview: Preview) -> None:
    """Raise for the default calendar while there are others."""
    own = Calendar.objects.filter(profile_id=call.profile_id)
    if own.filter(pk=call.arguments["id"], is_default=True).exists() and own.count() > 1:
        raise LastCalendar


def calendar_deletion(*, call: Call, lock: bool) -> Preview:
    """Preview the deletion of a whole calendar."""
    rows = Calendar.objects.filter(pk=call.arguments["id"], profile_id=call.profile_id)
    calendar = (rows.select_for_update(of=("self",)) if lock else rows).first()
    if calendar is None:
        raise CalendarNotFound
    objects = list(CalendarObject.objects.filter(calendar=calendar).order_by("id").values_list("id", "version", "kind"))
    events = sum(kind == "VEVENT" for _, _, kind in objects)
    facts = {
        "title": calendar.name,
        "calendar": calendar.name,
        "events": events,
        "reminders": len(objects) - events,
        "goes": len(objects),
    }
    state = {"id": calendar.pk, "name": calendar.name, "objects": digest_of([list(each) for each in objects])}
    return Preview(
        target_kind="calendar", target_id=calendar.pk, facts=facts, state=state, effect={"removes": "calendar"}
    )


def listing(*, call: Call, lock: bool) -> Preview:
    """Preview what an agent would read."""
    zone = owner_of(profile_id=call.profile_id).zone
    facts = list_preview_facts(request=call.arguments, zone=zone)
    state = dict(call.arguments)
    return Preview(
        target_kind="calendars", target_id=call.profile_id, facts=facts, state=state, effect={"reads": digest_of(state)}
    )


def device_request(*, call: Call, lock: bool) -> Preview:
    """Preview a request that a phone answers; its app shows the card."""
    request = dict(call.arguments["request"])
    target = request.get("item", {}).get("id", "") or request["action"]
    # Each call is a card of its own on the phone; only a deletion has an effect that can be the same again.
    item = request["item"] if request["action"] == "delete" else call.arguments.get("nonce", "")
    place = [call.arguments.get("session_id", ""), call.arguments.get("device_id", "")]
    effect = {"asks": digest_of([*place, request["capability"], item])}
    return Preview(target_kind="device_item", target_id=target[:200], facts=request, state=request, effect=effect)


def replacement(*, call: Call, lock: bool) -> Preview:
    """Preview what an imported version takes away from a stored item."""
    found = find_item(profile_id=call.profile_id, item_id=call.arguments["id"], lock=lock)
    before = stored_object(profile_id=call.profile_id, object_id=found.shown.object_id)
    after = replace(before, ics=call.arguments["ics"])
    loss = loss_of(before, after=after, now_ms=call.now_ms)
    columns = columns_of(stored=after)
    texts = {name: getattr(columns, name) or None for name in ("title", "notes", "location")}
    facts = _facts(found) | changes_shown(found, change=texts)
    facts |= {"goes": loss.goes if loss else 0, "remain": loss.remain if loss else found.occurrences}
    cleared = sorted(name for name, value in facts["after"].items() if not value)
    effect = {"removes": digest_of(list(loss.slots) if loss else []), "clears": cleared}
    state = whole_state(found) | {"ics": digest_of(call.arguments["ics"])}
    return _preview(found, facts, state=state, effect=effect)
