"""How every asking endpoint asks and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apps.accounts.rules import Caller
from apps.confirmations import actions, queries
from apps.confirmations.api.holding import answered, hold
from apps.confirmations.rules import (
    Outcome,
    Wait,
    wait_of,
)
from apps.confirmations.serializers import (
    answer_r,
)
from apps.core.api import rendering_of
from apps.core.responses import Response
from apps.core.values import now_ms


def outcome_now(*, by: Caller, confirmation_id: str) -> Outcome:
    """Return where a request of the caller stands; what is due expires first, so a late timer never matters."""
    row = queries.confirmation_of(by=by, confirmation_id=confirmation_id)
    moment = now_ms()
    if row.state == "pending" and row.deadline_ms <= moment:
        actions.expire_due(now_ms=moment)
        row = queries.confirmation_of(by=by, confirmation_id=confirmation_id)
    return queries.outcome_from(row)


def requested_wait(request: Any, *, default_hold_s: int, expires_in_s: Any = None) -> Wait:
    """Return how long this request holds and lives, from `Prefer` and `expires_in_s` (member or query)."""
    lifetime = expires_in_s if expires_in_s is not None else request.query_params.get("expires_in_s")
    return wait_of(prefer=request.META.get("HTTP_PREFER", ""), default_hold_s=default_hold_s, expires_in_s=lifetime)


def ask_and_answer(
    request: Any, *, wait: Wait, ask: Callable[[], Outcome], shape: Callable[[Outcome], Response]
) -> Response:
    """Ask, hold the line as long as the caller likes, and answer; the one way in which every asking endpoint waits."""
    rendering = rendering_of(request)
    moment = now_ms()
    if rendering is not None:
        outcome = outcome_now(by=request.user, confirmation_id=rendering.subject)
        if outcome.pending and rendering.cause == "released":
            return hold(request, outcome, shape(outcome), until_ms=moment + wait.hold_ms, withdraws=True)
        return answered(shape(outcome), outcome)
    outcome = ask()
    response = answered(shape(outcome), outcome)
    if outcome.pending and wait.hold_ms > 0:
        return hold(request, outcome, response, until_ms=moment + wait.hold_ms, withdraws=True)
    return response


def shape_r(outcome: Outcome, *, status_of_failure: dict[str, int] | None = None) -> Response:
    """Return an outcome as family R answers it."""
    status, body = answer_r(outcome, status_of_failure=status_of_failure)
    return Response(body, status=status)


def idempotency_key(request: Any) -> str:
    """Return the `Idempotency-Key` header, or an empty text."""
    return str(request.META.get("HTTP_IDEMPOTENCY_KEY", ""))
