"""Reading a log as far as it makes sense, whether or not it would open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from apps.sessions.rules.event_types import is_append, is_replace, message_of
from apps.sessions.rules.ground import Change, Mark, MemoryGround, mark_key
from apps.sessions.rules.plain_json import Event, is_text, members
from apps.sessions.rules.recognition import cited_by


def loose_ground(events: Sequence[Event], *, nodes: Sequence[int] | None = None) -> MemoryGround:
    """Return a log in memory without checking it; `nodes` is its surface if it is not to be folded."""
    ground = MemoryGround()
    for event in events:
        change = Change(cites=tuple(dict.fromkeys(cited_by(event))), marks=tuple(_marks_of(event)))
        ground.take(event=event, change=change)
    ground.lay(loose_surface(events) if nodes is None else nodes)
    return ground


def _marks_of(event: Event) -> Iterator[Mark]:
    seq, turn = event["seq"], members(event["data"]).get("turn")
    if event["type"] == "turn/start":
        yield Mark("turn", str(turn), seq)
    elif event["type"] == "assistant/message" and is_append(event) and is_text(message_of(event).get("id")):
        yield Mark("reply", mark_key(message_of(event)["id"]), seq)


def loose_surface(events: Sequence[Event]) -> list[int]:
    """Return the surface; a replacement of what is not there changes nothing."""
    nodes: list[int] = []
    for event in events:
        if is_append(event):
            nodes.append(event["seq"])
        elif is_replace(event):
            bounds = event["surfaceOp"].get("startSeq"), event["surfaceOp"].get("endSeq")
            start, end = (nodes.index(seq) if seq in nodes else None for seq in bounds)
            if start is not None and end is not None and start <= end:
                nodes[start : end + 1] = [event["seq"]]
    return nodes


def open_turn(events: Sequence[Event]) -> bool:
    """Tell whether the log ends inside a turn."""
    kinds = (event["type"] for event in reversed(events))
    return next((kind for kind in kinds if kind in {"turn/start", "turn/end"}), "") == "turn/start"


def open_compaction(events: Sequence[Event]) -> bool:
    """Tell whether a compaction holds the lock; what a lifecycle boundary left behind does not."""
    ends = {"compaction/end", "session/end-seed"}
    kinds = (event["type"] for event in reversed(events))
    return next((kind for kind in kinds if kind in ends or kind == "compaction/start"), "") == "compaction/start"


def end_of_turn(events: Sequence[Event], *, turn: int) -> int | None:
    """Return the first end of a turn after its first start, None while it is open."""
    started = False
    for event in events:
        if members(event["data"]).get("turn") == turn:
            if started and event["type"] == "turn/end":
                return int(event["seq"])
            started = started or event["type"] == "turn/start"
    return None


def spoken_in(events: Sequence[Event], *, turn: int) -> list[int]:
    """Return the appended replies and results that name a turn, wherever they lie."""
    kinds = {"assistant/message", "tool/result"}
    return [
        event["seq"]
        for event in events
        if event["type"] in kinds and is_append(event) and members(event["data"]).get("turn") == turn
    ]
