"""How the endpoints of this room ask a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.accounts.rules import Caller
from apps.confirmations.actions import recall, submit
from apps.confirmations.api import ask_and_answer, idempotency_key, requested_wait, shape_r
from apps.confirmations.rules import EXPIRES_WAITING_S, Outcome
from apps.core.api import body_of, rendering_of
from apps.core.contracts import contract_named
from apps.core.errors import InvalidField
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.schedules.queries.tasks import find_task
from apps.schedules.rules.errors import ScheduleNotFound

STATUS_OF_FAILURE = {"schedule_not_found": 404, "nothing_to_purge": 404}
NOT_PAYLOAD = frozenset({"expires_in_s"})


def ask(request: Any, *, contract: str, session_ref: str, ref: str, missing: Mapping[str, Any]) -> Response:
    """Ask a person for a contract of this room about one schedule, and wait as the caller likes."""
    by: Caller = request.user
    body = body_of(request)
    wait = requested_wait(request, default_hold_s=EXPIRES_WAITING_S, expires_in_s=body.get("expires_in_s"))

    def shape(outcome: Outcome) -> Response:
        return shape_r(outcome, status_of_failure=STATUS_OF_FAILURE)

    def never() -> Outcome:
        raise AssertionError

    if rendering_of(request) is not None:
        return ask_and_answer(request, wait=wait, ask=never, shape=shape)
    key, payload = idempotency_key(request), payload_of(request, body)
    if key:
        known = recall(by=by, key=key, payload=payload)
        if known is not None:
            return ask_and_answer(request, wait=wait, ask=lambda: known, shape=shape)
    try:
        held = find_task(by=by, session_ref=session_ref, ref=ref)
    except ScheduleNotFound as error:
        error.extra |= {"id": ref, **missing}
        raise

    def submitted() -> Outcome:
        return submit(
            by=by,
            contract=contract_named(contract),
            arguments={"session": held.session.ref, "id": held.task.ref},
            expires_ms=wait.expires_ms,
            now_ms=now_ms(),
            purpose=purpose_of(body),
            key=key,
            payload=payload,
            ids={"session": by.session or held.session.ref},
        )

    return ask_and_answer(request, wait=wait, ask=submitted, shape=shape)


def payload_of(request: Any, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an idempotency key is bound to: method, path, query and body, but not how long to wait."""
    query = {name: value for name, value in request.query_params.items() if name not in NOT_PAYLOAD}
    kept = {name: value for name, value in body.items() if name not in NOT_PAYLOAD}
    return {"method": request.method, "path": request.path, "query": query, "body": kept}


def purpose_of(body: Mapping[str, Any]) -> str:
    """Return the requester's own words, if it gave any."""
    purpose = body.get("purpose")
    if purpose is not None and not isinstance(purpose, str):
        raise InvalidField("purpose", "purpose must be a text")
    return (purpose or "").strip()
