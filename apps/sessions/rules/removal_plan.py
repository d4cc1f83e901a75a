"""Which nodes go when a turn is removed, and why it sometimes cannot be.

Works from the turn outwards: what it costs depends on the turn and on what cites it, not on the length of the log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from apps.sessions.rules.event_types import is_append
from apps.sessions.rules.ground import Ground, Node, mark_key
from apps.sessions.rules.plain_json import members
from apps.sessions.rules.recognition import cited_by
from apps.sessions.rules.refusals import AgentBusy, TargetNotFound, TurnCompacted, TurnNotClosed


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """The turn to remove and the reply that it was named by; None when a page names the turn and it has no reply."""

    turn: int
    reply: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The run of nodes that goes: its ends and all of it, in surface order."""

    turn: int
    start_seq: int
    end_seq: int
    source_seqs: tuple[int, ...]


def target_by_reply(*, message_id: str, ground: Ground) -> Target:
    """Find the turn of a reply by the id of its message; no other message is a handle."""
    seq = ground.mark(kind="reply", key=mark_key(message_id))
    event = ground.event(seq) if seq is not None else None
    if event is None:
        raise TargetNotFound
    return Target(turn=members(event["data"]).get("turn", 0), reply=seq)


def target_by_turn(*, turn: int, ground: Ground) -> Target:
    """Find a turn by its number, with its last reply if it has one."""
    start = ground.mark(kind="turn", key=str(turn))
    if start is None:
        raise TargetNotFound
    end = ground.mark(kind="turn-end", key=str(turn))
    inside = ground.events(first=start, last=end) if end is not None else ()
    replies = [event["seq"] for event in inside if event["type"] == "assistant/message"]
    return Target(turn=turn, reply=replies[-1] if replies else None)


def plan_removal(
    *,
    target: Target,
    ground: Ground,
    open_turn: bool,
    open_compaction: bool,
    end: int | None = None,
    strays: Collection[int] = (),
) -> Plan:
    """Return what a removal takes from the surface, or refuse; writes nothing.

    `end` and `strays` are for logs that nobody checked: the end of the turn, and its replies outside its bracket.
    """
    start = ground.mark(kind="turn", key=str(target.turn))
    end = ground.mark(kind="turn-end", key=str(target.turn)) if end is None else end
    if start is None or end is None:
        raise TurnNotClosed
    if open_turn:
        raise AgentBusy(why="open_turn")
    if open_compaction:
        raise AgentBusy(why="open_compaction")
    if target.reply is not None and ground.place(target.reply) is None:
        raise TurnCompacted(why="not_on_surface")
    own = {*_appended(ground, start=start, end=end), *strays}
    chosen = _chosen(own, target=target, ground=ground)
    first, last = chosen[0], chosen[-1]
    if not all(one == other for one, other in zip(chosen, _run(ground, first=first, last=last), strict=False)):
        raise TurnCompacted(why="not_contiguous")
    sources = tuple(node.seq for node in chosen)
    return Plan(turn=target.turn, start_seq=first.seq, end_seq=last.seq, source_seqs=sources)


def _run(ground: Ground, *, first: Node, last: Node) -> Iterator[Node]:
    return ground.span(first=first.place, last=last.place)


def _appended(ground: Ground, *, start: int, end: int) -> Iterator[int]:
    for event in ground.events(first=start + 1, last=end - 1):
        if is_append(event) and event["type"] != "system/message":
            yield event["seq"]


def _chosen(own: Collection[int], *, target: Target, ground: Ground) -> list[Node]:
    """Return the nodes that hold something of the turn, in order; each must hold nothing else and be its own."""
    covered: set[int] = set()
    reached = _reached(own, ground=ground)
    for node in reached:
        origins = _origins(node.seq, own=own, ground=ground)
        if node.seq not in own and not _is_pruned(node.seq, turn=target.turn, ground=ground):
            raise TurnCompacted(why="replaced_node")
        covered |= origins
    if not reached or covered != set(own):
        raise TurnCompacted(why="partially_covered")
    return reached


def _reached(own: Collection[int], *, ground: Ground) -> list[Node]:
    """Return the nodes on the surface that come from the turn's events, directly or through what cites them."""
    waiting, seen = list(own), set(own)
    while waiting:
        for citer in ground.citers(waiting.pop()):
            if citer not in seen:
                seen.add(citer)
                waiting.append(citer)
    return sorted(Node(place, seq) for seq in seen if (place := ground.place(seq)) is not None)


def _origins(seq: int, *, own: Collection[int], ground: Ground) -> set[int]:
    """Return the appended events that a node comes from; refuses at the first that is not the turn's own."""
    waiting, seen, origins = [seq], {seq}, set[int]()
    while waiting:
        current = waiting.pop()
        event = ground.event(current)
        if event is None:
            continue
        if is_append(event):
            if current not in own:
                raise TurnCompacted(why="shared_node")
            origins.add(current)
        fresh = [cited for cited in cited_by(event) if cited not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return origins


def _is_pruned(seq: int, *, turn: int, ground: Ground) -> bool:
    """Tell whether a node is a shortened copy of the turn's own result."""
    event = ground.event(seq)
    return event is not None and event["type"] == "tool/result" and members(event["data"]).get("turn") == turn
