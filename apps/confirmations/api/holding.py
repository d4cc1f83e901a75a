"""How an answer is held until a person decides."""

from __future__ import annotations

from typing import Any

from apps.accounts.rules import Caller
from apps.confirmations import actions
from apps.confirmations.rules import (
    Outcome,
)
from apps.core.api import defer
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.core.waiting import Deferral


def answered(response: Response, outcome: Outcome) -> Response:
    """Name the confirmation in the headers of an answer."""
    response["Location"] = f"/api/confirmations/{outcome.confirmation_id}"
    return response


def hold(request: Any, outcome: Outcome, response: Response, *, until_ms: int, withdraws: bool) -> Response:
    """Let the waiting layer hold this answer until the confirmation or the caller's right ends, or the time is up."""
    caller: Caller = request.user
    return defer(
        response,
        Deferral(
            key=f"confirmation:{outcome.confirmation_id}",
            until_ms=min(until_ms, outcome.deadline_ms),
            subject=outcome.confirmation_id,
            on_hang_up=hung_up if withdraws else None,
            also=(f"token:{caller.token_id}",) if caller.token_id else (),
        ),
    )


def hung_up(confirmation_id: str) -> None:
    """Withdraw what nobody waits for any more; the waiting layer calls it."""
    actions.hang_up(confirmation_ids=[confirmation_id], now_ms=now_ms())
