"""Shapes of the gate: cards for people, answers for requesters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import translation
from django.utils.translation import gettext as _
from rest_framework import serializers

from apps.accounts.queries import Place
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import Frame, Outcome
from apps.core.contracts import contract_named
from apps.core.errors import SaysoError
from apps.core.text import visible
from apps.ledger.models import Receipt


def safe(value: Any) -> Any:
    """Return the value with every text in it made safe to show."""
    if isinstance(value, str):
        return visible(value, keep_newlines=True)
    if isinstance(value, dict):
        return {key: safe(member) for key, member in value.items()}
    if isinstance(value, list):
        return [safe(member) for member in value]
    return value


def card(row: Confirmation, *, place: Place, language: str, time_zone: str) -> dict[str, Any]:
    """Return a card in the viewer's language and zone: the server's own words about real rows, all plain text."""
    facts = safe(json.loads(row.facts))
    ids = json.loads(row.ids)
    contract = contract_named(row.contract)
    with translation.override(language or "en"):
        words = contract.words(facts, ZoneInfo(time_zone or place.profile_zone))
        kind = row.requester.partition(":")[0]
        return {
            "id": row.pk,
            "contract": row.contract,
            "profile": {"id": place.profile_id, "name": place.profile_name},
            "question": words.question,
            "consequence": words.consequence,
            "confirm_label": words.confirm,
            "keep_label": words.keep,
            "undo": words.undo or _("This cannot be undone."),
            "lines": [list(line) for line in words.lines],
            "facts": facts,
            "purpose": visible(row.purpose),
            "requester": {
                "kind": {"user": "person", "token": "agent"}.get(kind, kind),
                "label": visible(row.requester_label),
                "session": visible(ids.get("session", "")),
                "run": visible(ids.get("run", "")),
            },
            "asked_at_ms": row.created_at_ms,
            "deadline_ms": row.deadline_ms,
            "digest": row.digest,
            "louder": contract.louder,
            "state": row.state,
            "page": f"/inbox/{row.pk}",
            "seq": row.change_seq,
        }


def past_card(row: Confirmation, *, place: Place, language: str, time_zone: str) -> dict[str, Any]:
    """Return a card with how it ended."""
    return {
        **card(row, place=place, language=language, time_zone=time_zone),
        "decided_by": visible(row.decider_label),
        "decided_at_ms": row.decided_at_ms,
        "reason": visible(row.reason),
        "code": row.code,
        "receipt_id": row.receipt_id,
        "allowed_again": row.allowed_again,
    }


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


def frame_of(data: dict[str, Any]) -> Frame:
    """Return the decision in a frame or body."""
    return Frame(
        decision=data.get("decision"),
        acknowledged=data.get("acknowledged"),
        digest=data.get("digest"),
        nonce=data.get("nonce"),
        reason=data.get("reason"),
    )


def taken(row: Confirmation) -> dict[str, Any]:
    """Return the answer to the person whose decision counted."""
    return {
        "type": "decision.taken",
        "id": row.pk,
        "state": row.state,
        "code": row.code,
        "receipt_id": row.receipt_id,
        "by": row.decider_label,
        "at": row.decided_at_ms,
    }


def refusal(confirmation_id: str, error: SaysoError, nonce: str = "") -> dict[str, Any]:
    """Return the answer to a decision that did not count, with a fresh nonce while the card is open."""
    facts = {
        "type": "decision.refused",
        "id": confirmation_id,
        "code": error.own_code,
        "detail": error.message,
        **error.extra,
    }
    return {**facts, "nonce": nonce} if nonce else facts


def ended_frame(row: Confirmation) -> dict[str, Any]:
    """Return the frame that takes a card away."""
    return {
        "type": "card.ended",
        "seq": row.change_seq,
        "profile": row.profile_id,
        "id": row.pk,
        "state": row.state,
        "by": row.decider_label,
        "at": row.decided_at_ms,
    }


class PollSerializer(serializers.Serializer[Any]):
    """Where a confirmation stands."""

    confirmation_id = serializers.CharField()
    state = serializers.CharField()
    reason = serializers.CharField(required=False)
    receipt_id = serializers.CharField(required=False)


class PollListSerializer(serializers.Serializer[Any]):
    """Where the caller's confirmations stand."""

    confirmations = PollSerializer(many=True)


class PendingSerializer(serializers.Serializer[Any]):
    """A person was asked and has not decided."""

    status = serializers.CharField()
    detail = serializers.CharField()
    confirmation_id = serializers.CharField()


class DecisionSerializer(serializers.Serializer[Any]):
    """What the dialog sends."""

    decision = serializers.ChoiceField(choices=["approve", "deny"])
    acknowledged = serializers.BooleanField(required=False)
    digest = serializers.CharField()
    nonce = serializers.CharField()
    reason = serializers.CharField(required=False, allow_blank=True)


class ErrorSerializer(serializers.Serializer[Any]):
    """A failure of family R."""

    code = serializers.CharField()
    detail = serializers.CharField()
    confirmation_id = serializers.CharField(required=False)
