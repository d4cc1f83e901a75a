"""The four events that remove a turn from the model's view; the log keeps every word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from apps.sessions.rules.ground import Ground
from apps.sessions.rules.plain_json import Event
from apps.sessions.rules.removal_plan import Plan

PROVIDER = "sayso"
MODEL = "turn-delete"
NOTICE = "An earlier turn of this conversation was removed here by its person."
"""What the model reads in the place of a removed turn; it must never be empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Removed:
    """Where a removal is written: its compaction's id and the event that took the turn's place."""

    turn: int
    compaction_id: str
    replacement_seq: int


def removal_events(
    *, plan: Plan, price: int, compaction_id: str, message_id: str, next_seq: int, time_ms: int, notice: str = NOTICE
) -> list[Event]:
    """Return the four events of a removal, to be written together or not at all."""
    if not notice.strip():
        raise ValueError("an empty notice would reach the model as an empty message")
    block = {"type": "text", "text": notice}
    sources = list(plan.source_seqs)
    summary = {
        "compactionId": compaction_id,
        "summary": [block],
        "shadowedRange": {"start": plan.start_seq, "end": plan.end_seq},
        "shadowedSeqs": sources,
        "shadowedTokenCount": price,
        "provider": PROVIDER,
        "model": MODEL,
    }
    checkpoint = {
        "id": message_id,
        "role": "user",
        "content": [block],
        "source": {"kind": "compact-checkpoint", "compactionId": compaction_id},
    }
    bracket = {"compactionId": compaction_id, "turn": None}
    replace: dict[str, Any] = {
        "surfaceOp": {"op": "replace", "startSeq": plan.start_seq, "endSeq": plan.end_seq},
        "sourceEventSeqs": [next_seq, next_seq + 1, *sources],
    }
    rows: list[Event] = [
        {"type": "compaction/start", "data": bracket},
        {"type": "compaction/summary", "data": summary},
        {"type": "user/message", "data": checkpoint, **replace},
        {"type": "compaction/end", "data": dict(bracket)},
    ]
    return [{**row, "seq": next_seq + offset, "time": time_ms} for offset, row in enumerate(rows)]


def removed_before(*, turn: int, ground: Ground) -> Removed | None:
    """Return the removal of a turn that is written in the log already, or None."""
    seq = ground.mark(kind="removed", key=str(turn))
    event = ground.event(seq) if seq is not None else None
    if seq is None or event is None:
        return None
    return Removed(turn=turn, compaction_id=event["data"]["source"]["compactionId"], replacement_seq=seq)
