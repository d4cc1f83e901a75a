"""Answers for requesters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from apps.confirmations.rules import Outcome
from apps.ledger.models import Receipt

SENTENCES = {
    "pending": "A person has been asked and has not decided yet. Nothing was changed so far.",
    "executing": "A person agreed; it is being carried out.",
    "executed": "A person agreed and it was done.",
    "denied": "A person said no. Nothing was changed.",
    "expired": "Nobody decided in time. Nothing was changed.",
    "withdrawn": "The request was withdrawn. Nothing was changed.",
    "changed": "What was shown had changed before the decision. Nothing was changed; look at it again and ask again.",
    "failed": "It could not be done. Nothing was changed.",
    "uncertain": "It is not known whether it was done; a person has to look. Do not repeat it blindly.",
}


STATUS_R = {
    "pending": 202,
    "executing": 202,
    "executed": 200,
    "denied": 403,
    "expired": 409,
    "withdrawn": 409,
    "changed": 409,
    "failed": 409,
    "uncertain": 502,
}


def poll_body(outcome: Outcome) -> dict[str, Any]:
    """Return the body of `GET` and `DELETE /api/confirmations/<id>`."""
    body: dict[str, Any] = {"confirmation_id": outcome.confirmation_id, "state": outcome.state}
    if outcome.reason:
        body["reason"] = outcome.reason
    if outcome.receipt_id:
        body["receipt_id"] = outcome.receipt_id
    return body


def answer_r(outcome: Outcome, *, status_of_failure: Mapping[str, int] | None = None) -> tuple[int, dict[str, Any]]:
    """Return status and body of family R for an outcome."""
    sentence = SENTENCES[outcome.state]
    body: dict[str, Any] = {"confirmation_id": outcome.confirmation_id}
    if outcome.pending:
        return 202, {"status": "pending", "detail": sentence, **body}
    if outcome.state == "executed":
        return 200, {**outcome.parts, "detail": sentence, "receipt_id": outcome.receipt_id, **body}
    code = outcome.code if outcome.state == "failed" and outcome.code else outcome.state
    body |= {"code": code, "detail": outcome.message or sentence}
    if outcome.reason:
        body["reason"] = outcome.reason
    status = (status_of_failure or {}).get(code, STATUS_R[outcome.state])
    return status, body


def receipt_body(row: Receipt) -> dict[str, Any]:
    """Return a receipt as it was written."""
    return {"receipt": json.loads(row.body), "signature": row.signature}
