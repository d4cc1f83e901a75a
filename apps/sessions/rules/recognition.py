"""Which turns a person removed: read from the log alone, since no event names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from apps.sessions.rules.event_types import is_append, is_replace, message_of
from apps.sessions.rules.ground import Ground
from apps.sessions.rules.plain_json import Event, is_count, members

PRODUCERS = frozenset((provider, "turn-delete") for provider in ("sayso", "dsh-agent-control", "countersign"))
"""Who signs removals: this program, the plugin it follows, and the writer of the sample log."""
_SPOKEN = frozenset({"assistant/message", "tool/result"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Removal:
    """A turn that a person removed; `compaction_id` is empty for the tombstones of the first plugin."""

    turn: int
    seq: int
    compaction_id: str
    shadowed: tuple[int, ...]


def is_checkpoint(event: Event, *, summary: Event) -> bool:
    """Tell whether an event put the text of a summary in the place of exactly what the summary names."""
    told, operation = members(summary["data"]), event.get("surfaceOp")
    source = members(message_of(event).get("source"))
    bounds = members(told.get("shadowedRange"))
    return (
        event["type"] == "user/message"
        and isinstance(operation, dict)
        and source.get("kind") == "compact-checkpoint"
        and source.get("compactionId") == told.get("compactionId")
        and (operation.get("startSeq"), operation.get("endSeq")) == (bounds.get("start"), bounds.get("end"))
    )


def turn_of(shadowed: Sequence[int], *, ground: Ground) -> int | None:
    """Return the turn that removed nodes belong to: that of the first reply or result among them and their origins.

    A turn without either is the one whose bracket holds the first of them.
    """
    for seq in shadowed:
        for event in _with_origins(seq, ground=ground):
            turn = members(event["data"]).get("turn")
            if event["type"] in _SPOKEN and is_count(turn):
                return int(turn)
    return turn_around(shadowed[0], ground=ground) if shadowed else None


def _with_origins(seq: int, *, ground: Ground) -> Iterator[Event]:
    waiting, seen = [seq], set[int]()
    while waiting:
        current = waiting.pop()
        event = ground.event(current) if current not in seen else None
        seen.add(current)
        if event is not None:
            yield event
            waiting.extend(reversed(cited_by(event)))


def cited_by(event: Event) -> list[int]:
    """Return the sources of a surface event; an opaque event has none."""
    cites = event.get("sourceEventSeqs") if is_append(event) or is_replace(event) else None
    return [seq for seq in cites if is_count(seq)] if isinstance(cites, list) else []


def turn_around(seq: int, *, ground: Ground) -> int | None:
    """Return the turn whose bracket holds an event, None between turns; costs a walk back to the bracket's start."""
    for before in range(seq, -1, -1):
        event = ground.event(before)
        if event is None or event["type"] == "turn/end":
            return None
        if event["type"] == "turn/start":
            turn = members(event["data"]).get("turn")
            return int(turn) if is_count(turn) else None
    return None


def removals(events: Sequence[Event], *, ground: Ground) -> list[Removal]:
    """Return the removals of a log in order, each turn once; also of logs that would not open."""
    found: dict[int, Removal] = {}
    for one in _all_removals(events, ground=ground):
        found.setdefault(one.turn, one)
    return list(found.values())


def _all_removals(events: Sequence[Event], *, ground: Ground) -> Iterator[Removal]:
    started: set[Any] = set()
    open_ends = _first_ends(events)
    for seq, event in enumerate(events):
        data = members(event["data"])
        name = data.get("compactionId")
        if event["type"] == "compaction/start" and data.get("turn", 0) is None and isinstance(name, str):
            started.add(name)
        elif event["type"] == "compaction/summary" and isinstance(name, str) and name in started:
            succeeded = open_ends.get(seq, False)
            if succeeded and (data.get("provider"), data.get("model")) in PRODUCERS:
                yield from _removal_at(seq, events=events, ground=ground)
        elif is_tombstone(event, events=events):
            shadowed = tuple(cited_by(event))
            if is_count(data.get("turn")):
                yield Removal(turn=data["turn"], seq=seq, compaction_id="", shadowed=shadowed)


def _first_ends(events: Sequence[Event]) -> dict[int, bool]:
    """Say of each summary whether the first end of its id after it is there and names no error."""
    waiting: dict[Any, list[int]] = {}
    ended: dict[int, bool] = {}
    for seq, event in enumerate(events):
        data = members(event["data"])
        name = data.get("compactionId")
        if not isinstance(name, str):
            continue
        if event["type"] == "compaction/summary":
            waiting.setdefault(name, []).append(seq)
        elif event["type"] == "compaction/end":
            ended.update(dict.fromkeys(waiting.pop(name, ()), "error" not in data))
    return ended


def _removal_at(seq: int, *, events: Sequence[Event], ground: Ground) -> Iterator[Removal]:
    data = members(events[seq]["data"])
    listed = data.get("shadowedSeqs")
    shadowed = tuple(one for one in listed if is_count(one)) if isinstance(listed, list) else ()
    if seq + 1 < len(events) and is_checkpoint(events[seq + 1], summary=events[seq]):
        turn = turn_of(shadowed, ground=ground)
        if turn is not None:
            yield Removal(turn=turn, seq=seq + 1, compaction_id=data["compactionId"], shadowed=shadowed)


def is_tombstone(event: Event, *, events: Sequence[Event]) -> bool:
    """Tell whether an event is a removal as the first plugin wrote them: an empty system message over other nodes."""
    if event["type"] != "system/message" or not is_replace(event):
        return False
    message = message_of(event)
    empty = message.get("content") == [] and members(message.get("source")).get("kind") == "system-prompt"
    covered: Iterable[int] = cited_by(event)
    return empty and not any(seq < len(events) and events[seq]["type"] == "system/message" for seq in covered)
