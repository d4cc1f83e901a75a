"""How the family R endpoints of this room do things at once or ask, with idempotency keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from apps.accounts.rules import Caller
from apps.calendars.actions.performing import perform, recalled_answer
from apps.calendars.actions.planning import Plan
from apps.calendars.actions.storing import current_owner
from apps.calendars.queries.values import Owner
from apps.calendars.rules.mobile_values import trim
from apps.calendars.rules.zones import iana_name
from apps.confirmations.actions import recall, submit
from apps.confirmations.api import ask_and_answer, idempotency_key, requested_wait, shape_r
from apps.confirmations.rules import EXPIRES_WAITING_S, Outcome
from apps.confirmations.serializers import ErrorSerializer, PendingSerializer
from apps.core.api import body_of, rendering_of
from apps.core.contracts import Contract, contract_named
from apps.core.errors import InvalidField
from apps.core.responses import Response
from apps.core.values import now_ms

STATUS_OF_FAILURE = {"calendar_item_not_found": 404, "calendar_permission_denied": 403, "calendar_not_found": 404}
NOT_PAYLOAD = frozenset({"expires_in_s"})
ASKING = {202: PendingSerializer, **dict.fromkeys((400, 403, 404, 409, 422, 429, 502), ErrorSerializer)}
"""What an endpoint may answer besides its success, in the schema."""


def owner_now(by: Caller) -> Owner:
    """Return the profile's settings, after the rows were brought up to its zone."""
    return current_owner(profile_id=by.profile_id, now_ms=now_ms())


def contract_of(name: str, *, capability: str) -> Contract:
    """Return a contract with the scope that this capability needs."""
    contract = contract_named(name)
    kind, _, right = contract.scope.partition(".")
    return contract if kind == capability else replace(contract, scope=f"{capability}.{right}")


def carry_out(
    request: Any,
    *,
    capability: str,
    plan: Callable[[], Plan],
    status: int = 200,
    purpose: str = "",
) -> Response:
    """Do what the plan says at once, or ask a person and wait as the caller likes."""
    by: Caller = request.user
    body = json_body(request)
    expires = body.get("expires_in_s")
    wait = requested_wait(request, default_hold_s=EXPIRES_WAITING_S, expires_in_s=expires)

    def shape(outcome: Outcome) -> Response:
        response = shape_r(outcome, status_of_failure=STATUS_OF_FAILURE)
        if outcome.state == "executed":
            # The same success as without asking: 201 for what was made.
            response.status_code = status
        return response

    def never() -> Outcome:
        raise AssertionError

    if rendering_of(request) is not None:
        return ask_and_answer(request, wait=wait, ask=never, shape=shape)
    key, payload = idempotency_key(request), payload_of(request, body)
    if key:
        known = recall(by=by, key=key, payload=payload)
        if known is not None:
            return ask_and_answer(request, wait=wait, ask=lambda: known, shape=shape)
        answer = recalled_answer(by=by, key=key, payload=payload)
        if answer is not None:
            return Response(json.loads(answer), status=status)
    moment = now_ms()
    current_owner(profile_id=by.profile_id, now_ms=moment)
    planned = plan()
    contract = contract_of(planned.contract, capability=capability)
    if not planned.asks:
        parts = perform(by=by, contract=contract, arguments=planned.arguments, now_ms=moment, key=key, payload=payload)
        return Response(parts, status=status)

    def ask() -> Outcome:
        return submit(
            by=by,
            contract=contract,
            arguments=planned.arguments,
            expires_ms=wait.expires_ms,
            now_ms=moment,
            purpose=purpose or purpose_of(body),
            key=key,
            payload=payload,
            ids={"session": by.session} if by.session else {},
            seen=planned.found,
        )

    return ask_and_answer(request, wait=wait, ask=ask, shape=shape)


def json_body(request: Any) -> dict[str, Any]:
    """Return the JSON object of a request; of any other content nothing."""
    return body_of(request) if request.content_type in (None, "", "application/json") else {}


def payload_of(request: Any, body: dict[str, Any]) -> dict[str, Any]:
    """Return what an idempotency key is bound to: method, path, query and body, but not how long to wait."""
    query = {name: value for name, value in request.query_params.items() if name not in NOT_PAYLOAD}
    kept = {name: value for name, value in body.items() if name not in NOT_PAYLOAD}
    return {"method": request.method, "path": request.path, "query": query, "body": kept}


def purpose_of(body: dict[str, Any]) -> str:
    """Return the requester's own words, if it gave any."""
    purpose = body.get("purpose")
    if purpose is not None and not isinstance(purpose, str):
        raise InvalidField("purpose", "purpose must be a text")
    return trim(purpose or "")


def whole_number(request: Any, name: str, *, default: int | None = None) -> int | None:
    """Return a query parameter as a whole number."""
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 16):
        raise InvalidField(name, f"{name} must be a whole number")
    return int(text)


def zone_member(body: dict[str, Any]) -> str | None:
    """Return the time zone that an item names, or None."""
    zone = body.get("time_zone")
    if zone is None or zone == "":
        return None
    known = iana_name(zone) if isinstance(zone, str) else None
    if known is None:
        raise InvalidField("time_zone", "time_zone must be an IANA name such as Europe/Berlin")
    return known
