"""Deciding: the only code that ends a pending confirmation by a person, or by the device that it asks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.accounts.queries import role_of
from apps.confirmations.actions.ending import bare_row, expire_if_due, locked, move
from apps.confirmations.actions.submit import digest_for, policy_versions
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import (
    REASON_LENGTH,
    AlreadyEnded,
    ConfirmationNotFound,
    Decider,
    DigestMismatch,
    Frame,
    NonceUsed,
    NotAcknowledged,
    NotADecider,
    nonce_fits,
)
from apps.core import rows
from apps.core.contracts import Call, Contract, Preview, contract_named
from apps.core.errors import InvalidField, NotFound, SaysoError
from apps.core.failpoints import reach
from apps.core.values import canonical_json, canonical_texts
from apps.ledger import actions as ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How a decide frame ended: the confirmation's row, or the error that the person is shown."""

    row: Confirmation
    error: SaysoError | None = None


def decide(
    *, by: Decider, confirmation_id: str, frame: Frame, now_ms: int, roles: Mapping[str, str] | None = None
) -> Decision:
    """End a pending confirmation by a person's decision, in one transaction.

    `roles` are the person's roles by profile, if the caller has read them just now in the same transaction.

    Raises `ConfirmationNotFound` and `NotADecider` before anything is spent. Every other refusal is returned in the
    result, because the nonce that the frame carried is spent and that must be kept.
    """
    with rows.joined():
        row = locked(confirmation_id)
        hidden = _hidden(row, by=by, roles=roles)
        if hidden is None:
            assert row is not None
            error = _decide_locked(row, by=by, frame=frame, now_ms=now_ms)
    if hidden is not None:
        raise hidden
    assert row is not None
    return Decision(row=row, error=error)


def _hidden(row: Confirmation | None, *, by: Decider, roles: Mapping[str, str] | None) -> SaysoError | None:
    try:
        check_decider_of(row, user_id=by.user_id, roles=roles)
    except SaysoError as error:
        # Raised after the transaction: nothing was written, so nothing needs to be undone.
        return error
    return None


def _decide_locked(row: Confirmation, *, by: Decider, frame: Frame, now_ms: int) -> SaysoError | None:
    fresh = _is_fresh(frame.nonce, by=by, row=row)
    reach("decide.locked")
    error = _refusal(row, frame=frame, fresh=fresh, now_ms=now_ms)
    if error is None:
        _carry_out(row, by=by, frame=frame, now_ms=now_ms)
        reach("decide.before_commit")
        transaction.on_commit(_committed)
    elif fresh and row.state == "pending":
        # Of a card that has ended no nonce is good any more.
        rows.execute(_SPEND, [frame.nonce, now_ms])
    return error


def _committed() -> None:
    reach("decide.after_commit")


def check_decider_of(row: Confirmation | None, *, user_id: int, roles: Mapping[str, str] | None = None) -> None:
    """Raise unless the person may decide this card; what they may not even see is not there."""
    if row is None or row.target_device:
        raise ConfirmationNotFound
    profile_id = row.profile_id
    role = role_of(user_id=user_id, profile_id=profile_id) if roles is None else roles.get(profile_id)
    if role is None:
        raise ConfirmationNotFound
    if role not in ("owner", "decider"):
        raise NotADecider


_SPEND = "insert into confirmations_spentnonce (nonce, spent_at_ms) values (%s, %s)"
_IS_SPENT = "select 1 from confirmations_spentnonce where nonce = %s"


def _is_fresh(nonce: Any, *, by: Decider, row: Confirmation) -> bool:
    """Tell whether a nonce is this person's for this card and was not used; the row's lock lets one in at a time."""
    if not isinstance(nonce, str) or not nonce_fits(
        nonce,
        key=settings.SAYSO_KEYS.key("django_secret"),
        card=row.pk,
        user_id=by.user_id,
        session=by.session,
        connection=by.connection,
    ):
        return False
    return rows.execute(_IS_SPENT, [nonce]).fetchone() is None


def _refusal(row: Confirmation, *, frame: Frame, fresh: bool, now_ms: int) -> SaysoError | None:
    expire_if_due(row, now_ms=now_ms)
    if row.state != "pending":
        return AlreadyEnded(state=row.state, by=row.decider_label, at=row.decided_at_ms)
    if frame.decision not in ("approve", "deny"):
        return InvalidField("decision", "decision must be approve or deny")
    if frame.decision == "approve" and frame.acknowledged is not True:
        return NotAcknowledged()
    if frame.digest != row.digest:
        return DigestMismatch()
    if frame.reason is not None and not isinstance(frame.reason, str):
        return InvalidField("reason", "reason must be a text")
    return None if fresh else NonceUsed()


def _carry_out(row: Confirmation, *, by: Decider, frame: Frame, now_ms: int) -> None:
    actor = f"user:{by.user_id}"
    decided = {
        "decided_at_ms": now_ms,
        "decider": actor,
        "decider_label": by.label,
        "decider_kind": "session",
        "acknowledged": frame.acknowledged is True,
    }
    if frame.decision == "deny":
        move(
            row, to="denied", actor=actor, now_ms=now_ms, reason=(frame.reason or "").strip()[:REASON_LENGTH], **decided
        )
        return
    contract = contract_named(row.contract)
    call = call_of(row, now_ms=now_ms, by=actor)
    try:
        preview = contract.preview(call=call, lock=True)
    except SaysoError as error:
        # What was shown is not there any more, or is no longer what it was.
        left = left_of(row, contract=contract, error=error)
        move(row, to="changed", actor=actor, now_ms=now_ms, code=error.own_code, **decided, **left)
        return
    if not is_as_shown(row, contract=contract, preview=preview):
        move(row, to="changed", actor=actor, now_ms=now_ms, code="changed", **decided)
        return
    reach("decide.digest_compared")
    try:
        if contract.recheck is not None:
            contract.recheck(call=call, preview=preview)
        if contract.external or (contract.must_wait is not None and contract.must_wait(call=call, preview=preview)):
            move(row, to="executing", actor=actor, now_ms=now_ms, **decided)
            return
        parts = acted(contract, call=call, preview=preview)
    except SaysoError as error:
        move(row, to="failed", actor=actor, now_ms=now_ms, **failure(error), **decided)
        return
    move(row, to="executed", actor=actor, now_ms=now_ms, outcome=canonical_texts(parts), **decided)


def left_of(row: Confirmation, *, contract: Contract, error: SaysoError) -> dict[str, str]:
    """Return what a row keeps that ends because its target is gone: no more than a receipt would."""
    gone = contract.keeps is not None and error.own_status == NotFound.status
    return bare_row(row) if gone else {}


def is_as_shown(row: Confirmation, *, contract: Contract, preview: Preview) -> bool:
    """Tell whether the target still is what the card showed."""
    versions = policy_versions(profile_id=row.profile_id, contract=contract)
    return digest_for(contract, preview=preview, versions=versions) == row.digest


def acted(contract: Contract, *, call: Call, preview: Preview) -> Mapping[str, Any]:
    """Act, or leave everything as it was; returns the outcome's parts."""
    with rows.undoable():
        parts = contract.act(call=call, preview=preview)
        reach("execute.acted")
    return parts


def failure(error: SaysoError) -> dict[str, str]:
    """Return what a failed row keeps of the contract's error."""
    detail = {"detail": error.extra} if error.extra else {}
    return {"code": error.own_code, "outcome": canonical_json({"message": error.message, **detail})}


def call_of(row: Confirmation, *, now_ms: int, by: str) -> Call:
    """Return the contract call that a row stands for."""
    return Call(
        profile_id=row.profile_id,
        arguments=json.loads(row.arguments),
        now_ms=now_ms,
        by=by,
        confirmation_id=row.pk,
    )


def settle_by_device(
    *, device: str, label: str, confirmation_id: str, state: str, parts: Mapping[str, Any], code: str, now_ms: int
) -> Confirmation:
    """End a request to a device by that very device's answer; anybody else's is refused by the caller's checks.

    `device` is the device's reference (`device:ID`); the database accepts it only for a row whose target it is.
    """
    with transaction.atomic():
        row = locked(confirmation_id)
        if row is None or not row.target_device:
            raise ConfirmationNotFound
        if row.target_device != device:
            raise NotADecider("Response is not from the target device")
        expire_if_due(row, now_ms=now_ms)
        late = row.state != "pending"
        if not late:
            reach("decide.locked")
            move(
                row,
                to=state,  # type: ignore[arg-type]
                actor=device,
                now_ms=now_ms,
                decided_at_ms=now_ms,
                decider=device,
                decider_label=label,
                decider_kind="device",
                acknowledged=state == "executed",
                code=code,
                outcome=canonical_texts(parts),
            )
            reach("decide.before_commit")
            transaction.on_commit(_committed)
    if late:
        # Raised after the transaction, which keeps an expiry that was noticed just now.
        raise AlreadyEnded(state=row.state, by=row.decider_label, at=row.decided_at_ms)
    return row


@transaction.atomic
def allow_again(*, by: Decider, confirmation_id: str, now_ms: int) -> Confirmation:
    """Let a denied effect be asked again at once."""
    row = locked(confirmation_id)
    check_decider_of(row, user_id=by.user_id)
    assert row is not None
    if row.state != "denied":
        raise AlreadyEnded(state=row.state, by=row.decider_label, at=row.decided_at_ms)
    row.allowed_again = True
    rows.update(row, ("allowed_again",))
    ledger.append(
        profile_id=row.profile_id,
        actor=f"user:{by.user_id}",
        action="confirmation.allowed_again",
        target=f"{row.target_kind}:{row.target_id}",
        effect=row.effect,
        digest=row.digest,
        ids={"confirmation": row.pk, "contract": row.contract},
        now_ms=now_ms,
    )
    return row
