"""Ending a confirmation: the one place where a state changes, and the ends that no person decides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from apps.accounts.rules import Caller
from apps.confirmations.models import Confirmation
from apps.confirmations.queries import due_ids
from apps.confirmations.rules import ConfirmationNotFound, State, check_transition
from apps.core import rows
from apps.core.announce import announce
from apps.core.contracts import contract_named
from apps.core.values import canonical_json, name_hash
from apps.ledger import actions as ledger

NOTHING = "{}"


def locked(confirmation_id: str) -> Confirmation | None:
    """Return the row under its lock; the first lock of every transaction of the gate."""
    return rows.fetch(Confirmation, "id = %s", [confirmation_id], lock=True)


def locked_all(confirmation_ids: Sequence[str]) -> list[Confirmation]:
    """Return the rows under their locks, by id: all of them before the first ledger row, whose head is locked last."""
    found = (locked(each) for each in sorted(confirmation_ids))
    return [row for row in found if row is not None]


def move(row: Confirmation, *, to: State, actor: str, now_ms: int, **changes: Any) -> None:
    """Write a transition, its ledger row and, for an end that needs one, the receipt; announce after the commit."""
    check_transition(row.state, to=to)  # type: ignore[arg-type]
    row.state = to
    for name, value in changes.items():
        setattr(row, name, value)
    if to == "executed":
        row.receipt_id = ledger.write_receipt(
            profile_id=row.profile_id,
            confirmation_id=row.pk,
            requester=row.requester,
            facts=_receipt_facts(row),
            now_ms=now_ms,
        )
        if contract_named(row.contract).erases:
            changes |= {"outcome": NOTHING, **bare_row(row)}
            row.outcome = NOTHING
    row.version += 1
    row.change_seq = ledger.append(
        profile_id=row.profile_id,
        actor=actor,
        action=f"confirmation.{to}",
        target=f"{row.target_kind}:{row.target_id}",
        effect=row.effect,
        digest=row.digest,
        ids=ledger_ids(row),
        now_ms=now_ms,
    )
    rows.update(row, ("state", "version", "change_seq", "receipt_id", *changes))
    tell(row)


def ledger_ids(row: Confirmation) -> dict[str, str]:
    """Return the ids that an entry of the ledger carries; a session's own may have to go, so its hash stands there."""
    ids: dict[str, str] = json.loads(row.ids)
    if ids.get("session"):
        ids["session"] = name_hash(profile_id=row.profile_id, name=ids["session"])
    return {"confirmation": row.pk, "contract": row.contract, **ids}


def bare_row(row: Confirmation) -> dict[str, str]:
    """Take from a row what it says of its target beyond what a receipt would keep; returns what has to be written."""
    bare = {"facts": canonical_json(_kept_facts(row)), "arguments": NOTHING, "purpose": ""}
    for name, value in bare.items():
        setattr(row, name, value)
    return bare


def _kept_facts(row: Confirmation) -> Any:
    facts, contract = json.loads(row.facts), contract_named(row.contract)
    return facts if contract.keeps is None else dict(contract.keeps(facts))


def tell(row: Confirmation) -> None:
    """Announce where a confirmation stands, to its waiters when it ended, to sockets and to its requester's stream."""
    ended = row.state not in ("pending", "executing")
    keys = [f"requester:{row.requester}"]
    if ended:
        keys.append(f"confirmation:{row.pk}")
    announce(
        "confirmation.ended" if ended else f"confirmation.{'asked' if row.state == 'pending' else 'claimed'}",
        keys=tuple(keys),
        local=row,
        profile=row.profile_id,
        confirmation=row.pk,
        state=row.state,
        receipt=row.receipt_id,
        seq=row.change_seq,
        device=row.target_device,
        deadline=row.deadline_ms,
        decider=row.decider_label,
        at=row.decided_at_ms,
    )


def _receipt_facts(row: Confirmation) -> dict[str, Any]:
    return {
        "contract": row.contract,
        "target": {"kind": row.target_kind, "id": row.target_id},
        "shown": _kept_facts(row),
        "digest": row.digest,
        "requester": {"ref": row.requester, "label": row.requester_label},
        "decider": {"ref": row.decider, "label": row.decider_label, "kind": row.decider_kind},
        "asked_at_ms": row.created_at_ms,
        "decided_at_ms": row.decided_at_ms,
        "outcome": json.loads(row.outcome),
    }


def expire_if_due(row: Confirmation, *, now_ms: int) -> bool:
    """End a locked row whose deadline has come; expiry never approves."""
    if row.state == "pending" and row.deadline_ms <= now_ms:
        move(row, to="expired", actor="server", now_ms=now_ms, decided_at_ms=now_ms)
        return True
    return False


def expire_due(*, now_ms: int) -> int:
    """End everything whose deadline has come; returns how many, each in a transaction of its own."""
    count = 0
    for confirmation_id in due_ids(now_ms=now_ms):
        with transaction.atomic():
            row = locked(confirmation_id)
            if row is not None and expire_if_due(row, now_ms=now_ms):
                count += 1
    return count


@transaction.atomic
def withdraw(*, by: Caller, confirmation_id: str, now_ms: int) -> Confirmation:
    """Take a request back; only its requester may. One that ended stays as it is."""
    row = locked(confirmation_id)
    if row is None or row.profile_id != by.profile_id or row.requester != by.ref:
        raise ConfirmationNotFound
    if not expire_if_due(row, now_ms=now_ms) and row.state == "pending":
        move(row, to="withdrawn", actor=by.ref, now_ms=now_ms, decided_at_ms=now_ms)
    return row


@transaction.atomic
def hang_up(*, confirmation_ids: Sequence[str], now_ms: int) -> None:
    """Withdraw what the last waiting caller left by hanging up, or what an aborted run asked."""
    for row in locked_all(confirmation_ids):
        if not expire_if_due(row, now_ms=now_ms) and row.state == "pending":
            move(row, to="withdrawn", actor=row.requester, now_ms=now_ms, decided_at_ms=now_ms)


@transaction.atomic
def withdraw_of_token(*, owner_id: str, now_ms: int) -> int:
    """Withdraw everything that a revoked token asked for; returns how many."""
    refs = [f"token:{owner_id}", f"device:{owner_id}"]
    ids = list(Confirmation.objects.filter(requester__in=refs, state="pending").values_list("pk", flat=True))
    for row in locked_all(ids):
        if row.state == "pending":
            move(row, to="withdrawn", actor="server", now_ms=now_ms, decided_at_ms=now_ms, code="token_revoked")
    return len(ids)


def settle_after_crash(*, now_ms: int) -> int:
    """End every claim that a crash left open; nothing is retried blindly and nothing reported as done.

    What went on outside is uncertain. What waited to be done in here was not done: else its end would be stored too.
    """
    ids = list(Confirmation.objects.filter(state="executing").values_list("pk", flat=True))
    for confirmation_id in ids:
        with transaction.atomic():
            row = locked(confirmation_id)
            if row is not None and row.state == "executing":
                to: State = "uncertain" if contract_named(row.contract).external else "failed"
                move(row, to=to, actor="server", now_ms=now_ms, code="interrupted", outcome=NOTHING)
    return len(ids)
