"""What travels between the dialog and the gate."""

from __future__ import annotations

from typing import Any

from apps.confirmations.models import Confirmation
from apps.confirmations.rules import Frame
from apps.confirmations.serializers.cards import failure_words
from apps.core.errors import SaysoError


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
        "detail": failure_words(row),
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
