"""What is written when a stored log is opened again, and when a copy of it begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from apps.sessions.rules.ground import Ground
from apps.sessions.rules.lifecycle import NOT_STARTED_ERROR, NOT_STARTED_TEXT
from apps.sessions.rules.plain_json import Event
from apps.sessions.rules.recognition import turn_around
from apps.sessions.rules.state import Call, State

_Part: TypeAlias = tuple[str, dict[str, Any], dict[str, Any]]
OUTCOME_UNKNOWN_ERROR = {"name": "ToolOutcomeUnknownError", "code": "TOOL_OUTCOME_UNKNOWN"}
OUTCOME_UNKNOWN_TEXT = "The tool call was interrupted after it had started. Whether it took effect is not known."


def reopening_events(*, state: State) -> list[Event]:
    """Return what re-opening appends: closers of an open turn, then the boundary, unless the log ends with one.

    Where the open turn also has an open compaction, the closers cross it: append them with `orphans_of(state)`.
    """
    closers = list(_closers(state)) if state.turn is not None else []
    settled = state.ends_seed and not closers
    boundary: list[_Part] = [] if settled else [("session/end-seed", {}, {})]
    return [
        {"type": kind, "seq": state.next_seq + offset, "time": state.last_time_ms, "data": data, **extra}
        for offset, (kind, data, extra) in enumerate([*closers, *boundary])
    ]


def orphans_of(state: State) -> frozenset[int]:
    """Return the open compaction as the orphan that the next boundary makes of it."""
    return frozenset() if state.compaction is None else frozenset({state.compaction.seq})


def _closers(state: State) -> Iterator[_Part]:
    turn, step = state.turn, state.step
    for offset, (call, parts) in enumerate(state.calls.items()):
        yield _closing_result(call, parts=parts, number=state.next_seq + offset, position={"turn": turn, "step": step})
    if step is not None:
        yield "step/end", {"turn": turn, "step": step}, {}
    yield "turn/end", {"turn": turn, "reason": {"kind": "interrupted"}}, {}


def _closing_result(call: str, *, parts: Call, number: int, position: dict[str, int | None]) -> _Part:
    begun = parts.started is not None
    message = {
        "id": f"interrupted-tool-result-{call}-{number}",
        "role": "tool",
        "toolCallId": call,
        "content": [{"type": "text", "text": OUTCOME_UNKNOWN_TEXT if begun else NOT_STARTED_TEXT}],
        "source": {"kind": "tool", "callId": call},
        "isError": True,
    }
    error = dict(OUTCOME_UNKNOWN_ERROR if begun else NOT_STARTED_ERROR)
    sources = {"sourceEventSeqs": [parts.started]} if begun else {}
    return "tool/result", {**position, "message": message, "error": error}, {"surfaceOp": "append", **sources}


def inherited_marker(*, seq: int, time_ms: int) -> Event:
    """Return the event that ends what a fork copied from its parent."""
    return {"type": "session/end-seed", "seq": seq, "time": time_ms, "data": {"inherited": True}}


def may_fork_at(boundary: int, *, ground: Ground, state: State) -> bool:
    """Tell whether the first `boundary` events may begin a fork: they exist and do not end inside a turn."""
    if not 0 <= boundary <= state.next_seq:
        return False
    if boundary == state.next_seq:
        return state.turn is None
    return turn_around(boundary - 1, ground=ground) is None
