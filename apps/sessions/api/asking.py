"""How the deletions of this room ask a person, whatever the family of the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter

from apps.accounts.rules import Caller
from apps.confirmations.actions import recall, submit
from apps.confirmations.api import ask_and_answer, idempotency_key, requested_wait, shape_r
from apps.confirmations.rules import EXPIRES_WAITING_S, Outcome
from apps.core.contracts import Contract
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.sessions.contracts import DELETE_SESSION
from apps.sessions.queries.deletions import check_visible
from apps.sessions.rules.control import STATUS

EXPIRES = OpenApiParameter("expires_in_s", int, description="how long the question stands, 3 to 604800")
Check = Callable[[Caller, Mapping[str, Any]], None]
Shape = Callable[[Outcome], Response]


def ask(
    request: Any,
    *,
    contract: Contract,
    arguments: Mapping[str, Any],
    check: Check,
    shape: Shape,
    expires_in_s: Any = None,
) -> Response:
    """Ask a person, or answer at once what needs none; `check` raises for a target that the caller may not see.

    A key is looked up before the target, so that a repeat after the deletion finds its outcome.
    """
    by: Caller = request.user
    wait = requested_wait(request, default_hold_s=EXPIRES_WAITING_S, expires_in_s=expires_in_s)
    key, payload = idempotency_key(request), {"door": contract.name, **arguments}

    def asked() -> Outcome:
        known = recall(by=by, key=key, payload=payload)
        if known is not None:
            return known
        check(by, arguments)
        return submit(
            by=by,
            contract=contract,
            arguments=arguments,
            expires_ms=wait.expires_ms,
            key=key,
            payload=payload,
            ids={"session": by.session} if by.session else {},
            now_ms=now_ms(),
        )

    return ask_and_answer(request, wait=wait, ask=asked, shape=shape)


def check_session(by: Caller, arguments: Mapping[str, Any]) -> None:
    """Raise for a session that the caller may not see, as if it were not there."""
    check_visible(by=by, ref=arguments["session"])


def ask_to_delete(request: Any, *, ref: str) -> Response:
    """Ask for the deletion of a session whatever its id is like, and answer in family R."""

    def shape(outcome: Outcome) -> Response:
        return shape_r(outcome, status_of_failure=STATUS)

    return ask(request, contract=DELETE_SESSION, arguments={"session": ref}, check=check_session, shape=shape)
