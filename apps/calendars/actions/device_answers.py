"""Settling a request to a phone by that phone's answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from apps.accounts.rules import Caller
from apps.calendars.rules.mobile_answer import normalize_response
from apps.calendars.rules.mobile_values import as_text, trim
from apps.confirmations.actions import settle_by_device
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import AlreadyEnded
from apps.devices.queries import request_by_id, session_on_socket
from apps.devices.rules import Identity, StaleAnswer, WrongDevice, id_field

STATES = {"success": "executed", "denied": "denied", "error": "failed"}
INVALID: dict[str, Any] = {"status": "error", "error": {"code": "calendar_invalid_request"}}


def settle_device_request(
    *, by: Caller, identity: Identity | None, capability: str, payload: Mapping[str, Any], now_ms: int
) -> Confirmation | None:
    """End a request by what its phone answered; an answer without its ids is dropped.

    Raises, in this order: what the session refuses, `StaleAnswer`, `WrongDevice`.
    """
    session_ref, request_id = (trim(as_text(payload.get(name))) for name in ("session_id", id_field(capability)))
    if not session_ref or not request_id:
        return None
    session = session_on_socket(by=by, ref=session_ref)
    row = request_by_id(profile_id=by.profile_id, confirmation_id=request_id)
    if row is None or row.state != "pending" or json.loads(row.ids).get("session") != session.ref:
        raise StaleAnswer(session=session.pk)
    request = json.loads(row.arguments)["request"]
    if request["capability"] != capability:
        raise StaleAnswer(session=session.pk)
    if identity is None or identity.ref != row.target_device:
        raise WrongDevice
    answer: dict[str, Any] = normalize_response(dict(payload), request=request) or INVALID
    try:
        return settle_by_device(
            device=identity.ref,
            label=identity.label,
            confirmation_id=row.pk,
            state=STATES[answer["status"]],
            parts={"result": answer["result"]} if "result" in answer else {},
            code=answer.get("error", {}).get("code", ""),
            now_ms=now_ms,
        )
    except AlreadyEnded:
        raise StaleAnswer(session=session.pk) from None
