"""Importing: new objects are stored, newer ones replace, and what would lose something waits for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from apps.accounts.rules import Caller
from apps.calendars.actions.noting import count_write, note, tell
from apps.calendars.actions.planning import deletion_contract
from apps.calendars.actions.storing import held, insert_objects, stored_of, update_object
from apps.calendars.actions.writing import body_of_item
from apps.calendars.models import Calendar, CalendarObject
from apps.calendars.queries.items import find_item, owner_of
from apps.calendars.queries.previews import identity_of
from apps.calendars.rules.components import Cancellation, StoredObject
from apps.calendars.rules.filling import Filled, filled
from apps.calendars.rules.merge import Merge, merge_object
from apps.calendars.rules.occurrences import find_slot
from apps.calendars.rules.removal import cancelled_slot
from apps.calendars.rules.targets import NAME_OF_KIND, CalendarReadOnly, occurrence_id, split_id, uid_key
from apps.confirmations.actions import submit
from apps.confirmations.rules import EXPIRES_ASYNC_S
from apps.core.contracts import Call, Contract, Preview, contract_named
from apps.core.errors import Denied, SaysoError
from apps.core.threads import Turn
from apps.core.values import canonical_json, digest_of
from apps.ledger import actions as ledger

Entry = dict[str, Any]
TEXTS = ("title", "notes", "location")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How an import asks for what would lose something."""

    purpose: str = ""
    expires_ms: int = EXPIRES_ASYNC_S * 1000
    now_ms: int


class PolicyAsks(Denied):
    """In this profile every such write of an agent waits for a person, so agents may not import."""

    code = "policy_asks"


def check_import(*, by: Caller, calendar: Calendar) -> None:
    """Raise for a read-only calendar, and for an agent whose single writes a person wants to see."""
    if calendar.read_only:
        raise CalendarReadOnly
    policies = owner_of(profile_id=by.profile_id).policies
    if by.kind != "person" and "ask" in (policies.get("create"), policies.get("update")):
        raise PolicyAsks


@transaction.atomic
def import_objects(
    *, by: Caller, calendar: Calendar, objects: Sequence[tuple[StoredObject, Filled | None]], asking: Asking
) -> list[Entry]:
    """Store a portion of a file; returns for each object what became of it, up to the one that ended the turn."""
    turn = Turn()
    keys = [uid_key(stored.uid) for stored, _ in objects]
    rows = CalendarObject.objects.select_for_update(of=("self",)).filter(calendar=calendar, uid_key__in=keys)
    known = {row.uid_key: row for row in rows.order_by("id")}
    entries: list[Entry] = []
    fresh: list[tuple[StoredObject, Filled]] = []
    for (stored, full), key in zip(objects, keys, strict=True):
        row = known.get(key)
        full = full or filled(stored, now_ms=asking.now_ms)
        entry = {"uid": stored.uid, "kind": NAME_OF_KIND[stored.kind], "title": full.columns["title"]}
        entries.append(entry)
        if not _may_write(by, stored):
            entry |= {"outcome": "refused", "code": "permission_denied"}
        elif row is None:
            entry["outcome"] = "added"
            fresh.append((stored, full))
        elif row.digest == full.columns["digest"]:
            entry |= {"outcome": "unchanged", "id": row.pk}
        else:
            entry |= _merged(by, row, stored, asking)
            if turn.over():
                break
    made = insert_objects(calendar=calendar, objects=fresh, now_ms=asking.now_ms) if fresh else []
    added = iter(made)
    for entry in entries:
        if entry["outcome"] == "added":
            entry["id"] = next(added).pk
    _note_import(by, calendar, entries, asking)
    return entries


def _may_write(by: Caller, stored: StoredObject) -> bool:
    return stored.kind == "VEVENT" or by.kind == "person" or "reminder.write" in by.scopes


def _note_import(by: Caller, calendar: Calendar, entries: list[Entry], asking: Asking) -> None:
    changed = [entry["id"] for entry in entries if entry["outcome"] in ("added", "updated")]
    if changed:
        ledger.append(
            profile_id=calendar.profile_id,
            actor=by.ref,
            action="calendars.imported",
            target=f"calendar:{calendar.pk}",
            digest=digest_of(changed),
            ids={"calendar": calendar.pk, "count": str(len(changed))},
            now_ms=asking.now_ms,
        )
        tell(profile_id=calendar.profile_id, calendar_id=calendar.pk)


def _merged(by: Caller, row: CalendarObject, incoming: StoredObject, asking: Asking) -> Entry:
    before = stored_of(row)
    if before.kind != incoming.kind:
        return {"outcome": "refused", "id": row.pk, "code": "uid_of_other_kind"}
    merge: Merge = merge_object(existing=before, incoming=incoming)
    told: Entry = {"id": row.pk, "has_master": merge.has_master, "excluded": list(merge.excluded)}
    if merge.outcome == "keep":
        return {"outcome": "unchanged", **told}
    after = filled(merge.merged, now_ms=asking.now_ms)
    cleared = [name for name in TEXTS if getattr(row, name) and not after.columns[name]]
    if merge.removed_slots or cleared:
        arguments = {"id": row.pk, "ics": merge.merged.ics}
        return _asked(by, _replacing(row), arguments, asking) | told
    update_object(row, stored=merge.merged, action="imported", by=by.ref, now_ms=asking.now_ms, full=after)
    return {"outcome": "updated", **told}


def _replacing(row: CalendarObject) -> Contract:
    contract = contract_named("calendars.remove_by_import")
    return contract if row.kind == "VEVENT" else replace(contract, scope="reminder.delete")


def _asked(by: Caller, contract: Contract, arguments: dict[str, Any], asking: Asking) -> Entry:
    """Ask for one component; a refusal to ask is part of the report, not the end of the import."""
    try:
        outcome = submit(
            by=by,
            contract=contract,
            arguments=arguments,
            expires_ms=asking.expires_ms,
            now_ms=asking.now_ms,
            purpose=asking.purpose,
        )
    except SaysoError as error:
        return {"outcome": "refused", "code": error.own_code, "detail": error.message}
    return {"outcome": "asked", "confirmation_id": outcome.confirmation_id, "state": outcome.state}


@transaction.atomic
def ask_for_cancelled(
    *, by: Caller, calendar: Calendar, cancellations: Sequence[Cancellation], asking: Asking
) -> list[Entry]:
    """Ask for what a METHOD:CANCEL file names, up to the one that ended the turn."""
    turn = Turn()
    entries = []
    for each in cancellations:
        entry: Entry = {"uid": each.uid, "title": each.summary, "line": each.line}
        entries.append(entry | _cancelled(by, calendar, each, asking))
        if turn.over():
            break
    return entries


@transaction.atomic
def ask_for_missing(*, by: Caller, calendar: Calendar, missing: Sequence[Entry], asking: Asking) -> list[Entry]:
    """Ask for the deletion of stored items that a file lacks, up to the one that ended the turn."""
    turn = Turn()
    entries = []
    for entry in missing:
        if CalendarObject.objects.filter(pk=entry["id"], calendar=calendar).exists():
            entries.append(entry | _ask_deletion(by, entry["id"], calendar.profile_id, asking))
        else:
            entries.append(entry | {"outcome": "unchanged", "code": "calendar_item_not_found"})
        if turn.over():
            break
    return entries


@transaction.atomic
def finish_import(*, by: Caller, report: Entry, key: str, payload: Any, now_ms: int) -> Entry:
    """Count the import as one write and keep its report for repeats."""
    if by.kind != "person":
        count_write(profile_id=by.profile_id, requester=by.ref, now_ms=now_ms)
    if key:
        ledger.remember(
            by=by,
            key=ledger.check_key(key),
            payload_hash=digest_of(payload),
            answer=canonical_json(report),
            now_ms=now_ms,
        )
    return report


def _ask_deletion(by: Caller, item_id: str, profile_id: str, asking: Asking, near_ms: int | None = None) -> Entry:
    found = find_item(profile_id=profile_id, item_id=item_id, near_ms=near_ms)
    return _asked(by, contract_named(deletion_contract(found)), identity_of(found), asking)


def _cancelled(by: Caller, calendar: Calendar, each: Cancellation, asking: Asking) -> Entry:
    row = CalendarObject.objects.filter(calendar=calendar, uid_key=uid_key(each.uid)).first()
    if row is None:
        return {"outcome": "unchanged", "code": "calendar_item_not_found"}
    code = {"code": "cancel_pending_approval", "id": row.pk}
    if each.slot is None:
        return code | _ask_deletion(by, row.pk, calendar.profile_id, asking)
    slot = cancelled_slot(stored=stored_of(row), cancellation=each)
    if slot is None:
        return {"outcome": "unchanged", "code": "no_such_occurrence"}
    occurrence = find_slot(stored=stored_of(row), slot=slot)
    assert occurrence is not None
    item_id = occurrence_id(row.pk, slot=slot)
    near = occurrence.start_ms if row.kind == "VEVENT" else occurrence.end_ms
    if each.this_and_future:
        found = find_item(profile_id=calendar.profile_id, item_id=item_id, near_ms=near)
        return code | _asked(by, contract_named("calendars.delete_following"), identity_of(found), asking)
    return code | _ask_deletion(by, item_id, calendar.profile_id, asking, near)


def replace_item(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Let an imported version take the place of a stored one."""
    row = held(profile_id=call.profile_id, object_id=split_id(preview.target_id)[0])
    after = StoredObject(uid=row.uid, kind=row.kind, ics=call.arguments["ics"], owner_zone=row.owner_zone)  # type: ignore[arg-type]
    update_object(row, stored=after, action="imported", by=call.by, now_ms=call.now_ms)
    note(call, action="replaced", row=row, effect=preview.effect)
    return {"item": body_of_item(profile_id=call.profile_id, item_id=row.pk, near_ms=None)}
