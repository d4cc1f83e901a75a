"""Carrying out what was claimed: the call outside, or the wait before the deed inside."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.db import transaction

from apps.confirmations.actions.decide import acted, call_of, failure, is_as_shown, left_of
from apps.confirmations.actions.ending import locked, move
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import ChangedMeanwhile, State
from apps.core.contracts import Call, Contract, contract_named
from apps.core.errors import SaysoError
from apps.core.failpoints import reach
from apps.core.values import canonical_json

log = logging.getLogger("sayso.confirmations")
Result = tuple[State, dict[str, Any]]
"""The state in which a claim ends, and what else changes in its row."""


def run_claimed(*, confirmation_id: str, tell_ms: Callable[[], int]) -> Confirmation | None:
    """Carry out a committed claim and store its outcome; `tell_ms` is the edge's clock, for it may take a while."""
    reach("execute.claimed")
    row = Confirmation.objects.filter(pk=confirmation_id, state="executing").first()
    if row is None:
        return None
    contract: Contract = contract_named(row.contract)
    call = call_of(row, now_ms=tell_ms(), by=row.decider)
    result = _called_out(contract, call) if contract.external else None
    if result is None:
        call, result = _waited_out(contract, call)
    reach("execute.called")
    call = replace(call, now_ms=tell_ms())
    try:
        return _ended(contract, call, result)
    except Exception as error:
        if result is not None:
            raise
        log.exception("%s failed after its wait", contract.name)
        return _ended(contract, call, ("failed", _unforeseen(error)))


@transaction.atomic
def _ended(contract: Contract, call: Call, result: Result | None) -> Confirmation | None:
    """Store how a claim ended; without a result act now, in the same transaction."""
    row = locked(call.confirmation_id)
    if row is not None and row.state == "executing":
        to, changes = result or _done_now(row, contract=contract, call=call)
        move(row, to=to, actor=row.decider, now_ms=call.now_ms, **changes)
        reach("decide.before_commit")
    return row


def _unforeseen(error: Exception) -> dict[str, str]:
    return {"code": "internal_error", "outcome": canonical_json({"message": str(error)})}


def _called_out(contract: Contract, call: Call) -> Result:
    """Make the external call; no answer means `uncertain`."""
    try:
        assert contract.call_out is not None
        preview = contract.preview(call=call, lock=False)
        return "executed", {"outcome": canonical_json(contract.call_out(call=call, preview=preview))}
    except SaysoError as error:
        return "failed", failure(error)
    except Exception as error:  # noqa: BLE001 (whatever happened out there, the outcome is not known)
        return "uncertain", {"code": "no_answer", "outcome": canonical_json({"kind": type(error).__name__})}


def _waited_out(contract: Contract, call: Call) -> tuple[Call, Result | None]:
    """Wait for what has to come to rest; returns the call with what came of it, or how it failed."""
    try:
        assert contract.wait_out is not None
        waited = contract.wait_out(call=call, preview=contract.preview(call=call, lock=False))
        return replace(call, waited=waited), None
    except SaysoError as error:
        return call, ("failed", failure(error))
    except Exception as error:
        log.exception("waiting for %s failed", contract.name)
        return call, ("failed", _unforeseen(error))


def _done_now(row: Confirmation, *, contract: Contract, call: Call) -> Result:
    """Act on what was claimed, if it still is what was shown."""
    try:
        preview = contract.preview(call=call, lock=True)
        if not is_as_shown(row, contract=contract, preview=preview):
            raise ChangedMeanwhile
        if contract.recheck is not None:
            contract.recheck(call=call, preview=preview)
        return "executed", {"outcome": canonical_json(acted(contract, call=call, preview=preview))}
    except SaysoError as error:
        return "failed", failure(error) | left_of(row, contract=contract, error=error)
