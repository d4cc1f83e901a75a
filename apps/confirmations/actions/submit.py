"""Asking: authorise, join or refuse, preview, digest, store, announce."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from apps.accounts.models import Profile
from apps.accounts.rules import Caller, check_scope
from apps.confirmations.actions.ending import expire_if_due, ledger_ids, locked, tell
from apps.confirmations.models import Confirmation
from apps.confirmations.queries import outcome_from
from apps.confirmations.rules import (
    LABEL_LENGTH,
    OPEN_STATES,
    PURPOSE_LENGTH,
    DeniedRecently,
    Outcome,
    TooManyPending,
)
from apps.core import rows
from apps.core.contracts import Call, Contract, Preview
from apps.core.failpoints import reach
from apps.core.values import canonical_texts, digest_of, digest_of_texts, new_id
from apps.ledger import actions as ledger
from apps.ledger.queries import remembered

TOO_MANY_RETRY_S = 30


def recall(*, by: Caller, key: str, payload: Any) -> Outcome | None:
    """Return the outcome that an idempotency key stands for, or None for a fresh key.

    Comes after authorisation and before the target is validated, so that a repeat after execution finds its outcome.
    """
    if not key:
        return None
    row = remembered(by=by, key=ledger.check_key(key), payload_hash=digest_of(payload))
    if row is None or not row.confirmation_id:
        return None
    return outcome_from(Confirmation.objects.get(pk=row.confirmation_id), joined=True)


def submit(
    *,
    by: Caller,
    contract: Contract,
    arguments: Mapping[str, Any],
    expires_ms: int,
    now_ms: int,
    purpose: str = "",
    key: str = "",
    payload: Any = None,
    ids: Mapping[str, str] | None = None,
    target_device: str = "",
    seen: Any = None,
) -> Outcome:
    """Ask a person, or join what is asked already; returns where the confirmation stands.

    `payload` is what an idempotency key is bound to (default: the arguments), `seen` what was read of the target just
    now. Raises the contract's own error for a target that is missing, differs or may not be touched; `DeniedRecently`,
    `TooManyPending`, `IdempotencyConflict`.
    """
    check_scope(by=by, scope=contract.scope)
    payload = {"contract": contract.name, "arguments": arguments} if payload is None else payload
    known = recall(by=by, key=key, payload=payload)
    if known is not None:
        return known
    call = Call(profile_id=by.profile_id, arguments=arguments, now_ms=now_ms, by=by.ref, seen=seen)
    try:
        with rows.undoable():
            return _ask(by, contract, call, expires_ms, purpose, key, payload, dict(ids or {}), target_device)
    except IntegrityError:
        # Somebody asked for the same effect, or with the same key, between our look and our insert.
        known = recall(by=by, key=key, payload=payload)
        if known is not None:
            return known
        with rows.undoable():
            return _ask(by, contract, call, expires_ms, purpose, key, payload, dict(ids or {}), target_device)


def _ask(
    by: Caller,
    contract: Contract,
    call: Call,
    expires_ms: int,
    purpose: str,
    key: str,
    payload: Any,
    ids: dict[str, str],
    target_device: str,
) -> Outcome:
    preview = contract.preview(call=call, lock=False)
    if contract.recheck is not None:
        contract.recheck(call=call, preview=preview)
    effect = digest_of_texts([contract.name, preview.target_kind, preview.target_id, preview.effect])
    standing = _standing(by=by, effect=effect, now_ms=call.now_ms)
    joined = _joinable(standing.open_id, now_ms=call.now_ms)
    if joined is not None:
        _remember(by, key, payload, joined.pk, call.now_ms)
        return outcome_from(joined, joined=True)
    _check_standing(standing, now_ms=call.now_ms)
    reach("submit.before_insert")
    row = _insert(by, contract, call, preview, effect, expires_ms, purpose, ids, target_device)
    _remember(by, key, payload, row.pk, call.now_ms)
    reach("submit.before_commit")
    transaction.on_commit(_committed)
    tell(row)
    return outcome_from(row)


def _committed() -> None:
    reach("submit.after_commit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a requester has open, and whether this very effect is open or was denied a moment ago."""

    open_id: str | None
    open_count: int
    denied_at_ms: int | None


# Every effect is at or above '': said so, the index of what is open serves the count, and the past costs nothing.
_STANDING = """
select (select id from confirmations_confirmation
         where requester = %s and effect = %s and state in ('pending', 'executing')),
       (select count(*) from confirmations_confirmation
         where requester = %s and effect >= '' and state in ('pending', 'executing')),
       (select max(decided_at_ms) from confirmations_confirmation
         where requester = %s and effect = %s and state = 'denied' and not allowed_again and decided_at_ms > %s)
"""


def _standing(*, by: Caller, effect: str, now_ms: int) -> Standing:
    quiet_from_ms = now_ms - settings.SAYSO_DENIED_RECENTLY_S * 1000
    values = [by.ref, effect, by.ref, by.ref, effect, quiet_from_ms]
    open_id, open_count, denied_at_ms = rows.execute(_STANDING, values).fetchone()
    return Standing(open_id=open_id, open_count=open_count, denied_at_ms=denied_at_ms)


def _joinable(confirmation_id: str | None, *, now_ms: int) -> Confirmation | None:
    row = locked(confirmation_id) if confirmation_id else None
    if row is None or expire_if_due(row, now_ms=now_ms) or row.state not in OPEN_STATES:
        return None
    return row


def _check_standing(standing: Standing, *, now_ms: int) -> None:
    if standing.denied_at_ms is not None:
        until_ms = standing.denied_at_ms + settings.SAYSO_DENIED_RECENTLY_S * 1000
        raise DeniedRecently(retry_after_s=(until_ms - now_ms) // 1000 + 1)
    if standing.open_count >= settings.SAYSO_MAX_OPEN:
        raise TooManyPending(retry_after_s=TOO_MANY_RETRY_S)


def _remember(by: Caller, key: str, payload: Any, confirmation_id: str, now_ms: int) -> None:
    if key:
        ledger.remember(by=by, key=key, payload_hash=digest_of(payload), confirmation_id=confirmation_id, now_ms=now_ms)


def digest_for(contract: Contract, *, preview: Preview, versions: Mapping[str, Any] | None) -> str:
    """Return the digest over a target's identity and state, with the version of the policy that it follows."""
    version = (versions or {}).get(contract.policy, 0) if contract.policy else 0
    return digest_of_texts([contract.name, preview.target_kind, preview.target_id, contract.digest(preview), version])


def policy_versions(*, profile_id: str, contract: Contract) -> Mapping[str, Any] | None:
    """Return the profile's policy versions if the contract follows one."""
    if not contract.policy:
        return None
    found: Mapping[str, Any] | None = (
        Profile.objects.filter(pk=profile_id).values_list("policy_versions", flat=True).first()
    )
    return found


def _insert(
    by: Caller,
    contract: Contract,
    call: Call,
    preview: Preview,
    effect: str,
    expires_ms: int,
    purpose: str,
    ids: dict[str, str],
    target_device: str,
) -> Confirmation:
    versions = policy_versions(profile_id=by.profile_id, contract=contract)
    digest = digest_for(contract, preview=preview, versions=versions)
    row = rows.fresh(
        Confirmation,
        id=new_id(),
        profile_id=by.profile_id,
        created_at_ms=call.now_ms,
        requester=by.ref,
        requester_label=by.label[:LABEL_LENGTH],
        requester_user_id=by.user_id,
        contract=contract.name,
        arguments=canonical_texts(call.arguments),
        purpose=purpose[:PURPOSE_LENGTH],
        ids=canonical_texts(ids),
        target_kind=preview.target_kind,
        target_id=preview.target_id,
        target_device=target_device,
        effect=effect,
        digest=digest,
        facts=canonical_texts(preview.facts),
        deadline_ms=call.now_ms + expires_ms,
    )
    row.change_seq = ledger.append(
        profile_id=row.profile_id,
        actor=by.ref,
        action="confirmation.asked",
        target=f"{row.target_kind}:{row.target_id}",
        effect=effect,
        digest=digest,
        ids=ledger_ids(row),
        now_ms=call.now_ms,
    )
    rows.insert(row)
    return row
