"""Doing at once what needs no person: the contract's own preview and action, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction

from apps.accounts.rules import Caller, check_scope
from apps.calendars.actions.noting import count_write
from apps.core.contracts import Call, Contract
from apps.core.values import canonical_json, digest_of
from apps.ledger import actions as ledger
from apps.ledger.queries import remembered


def perform(
    *,
    by: Caller,
    contract: Contract,
    arguments: Mapping[str, Any],
    now_ms: int,
    key: str = "",
    payload: Any = None,
    answer: Callable[[Mapping[str, Any]], Any] | None = None,
) -> dict[str, Any]:
    """Do a contract call without asking; with an idempotency key keep the answer for repeats."""
    check_scope(by=by, scope=contract.scope)
    call = Call(profile_id=by.profile_id, arguments=arguments, now_ms=now_ms, by=by.ref)
    writes = not contract.scope.endswith(".read")
    with transaction.atomic():
        preview = contract.preview(call=call, lock=writes)
        if contract.recheck is not None:
            contract.recheck(call=call, preview=preview)
        parts = dict(contract.act(call=call, preview=preview))
        if writes and by.kind != "person":
            count_write(profile_id=by.profile_id, requester=by.ref, now_ms=now_ms)
        if key and writes:
            kept = canonical_json(answer(parts) if answer is not None else parts)
            ledger.remember(
                by=by, key=ledger.check_key(key), payload_hash=digest_of(payload), answer=kept, now_ms=now_ms
            )
    return parts


def recalled_answer(*, by: Caller, key: str, payload: Any) -> Any:
    """Return the answer of a plain write that a key stands for, as its text; None for a fresh key."""
    if not key:
        return None
    row = remembered(by=by, key=ledger.check_key(key), payload_hash=digest_of(payload))
    return row.answer if row is not None and row.answer else None
