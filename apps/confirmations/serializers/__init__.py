"""Shapes of the gate: cards for people, answers for requesters."""

from apps.confirmations.serializers.answers import SENTENCES, STATUS_R, answer_r, poll_body, receipt_body
from apps.confirmations.serializers.cards import card, past_card, safe
from apps.confirmations.serializers.frames import ended_frame, frame_of, refusal, taken
from apps.confirmations.serializers.shapes import (
    DecisionSerializer,
    ErrorSerializer,
    PendingSerializer,
    PollListSerializer,
    PollSerializer,
)

__all__ = [
    "SENTENCES",
    "STATUS_R",
    "DecisionSerializer",
    "ErrorSerializer",
    "PendingSerializer",
    "PollListSerializer",
    "PollSerializer",
    "answer_r",
    "card",
    "ended_frame",
    "frame_of",
    "past_card",
    "poll_body",
    "receipt_body",
    "refusal",
    "safe",
    "taken",
]
