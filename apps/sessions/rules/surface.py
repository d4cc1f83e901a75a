"""The surface: what the model sees, as an ordered list of event numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from apps.sessions.rules.event_types import ROLES, is_known, message_of
from apps.sessions.rules.ground import Change, Ground, MemoryGround
from apps.sessions.rules.plain_json import Event, is_count, members, same_json
from apps.sessions.rules.refusals import LogRefused
from apps.sessions.rules.state import State

_SILENT_WHEN_EMPTY = frozenset({"system/message", "developer/message", "assistant/message"})


class Move(NamedTuple):
    """What an event does to the surface: its place, what it removes, what it cites."""

    place: int | None = None
    removed: tuple[int, ...] = ()
    cites: tuple[int, ...] = ()


NO_MOVE = Move()


def move_of(event: Event, *, ground: Ground) -> Move:
    """Return what an event does to the surface; refuses it by the rules of section 2.2 but for the two of the head."""
    kind, seq = event["type"], event["seq"]
    if kind not in ROLES:
        if is_known(kind):
            _check_bare(event)
        return NO_MOVE
    if "surfaceOp" not in event:
        raise LogRefused("surface.marker_missing", seq=seq)
    bounds = _bounds_of(event["surfaceOp"], seq=seq)
    cites = _cites_of(event, seq=seq)
    if bounds is None:
        return Move(place=seq, cites=cites)
    start, end = (ground.place(bound) for bound in bounds)
    if start is None or end is None:
        raise LogRefused("surface.range_not_on_surface", seq=seq)
    if start > end:
        raise LogRefused("surface.range_reversed", seq=seq)
    cited, removed = set(cites), []
    for node in ground.span(first=start, last=end):
        if node.seq not in cited:
            raise LogRefused("surface.sources_incomplete", seq=seq)
        removed.append(node.seq)
    if kind == "tool/result" and not _is_rewrite(event, of=removed, ground=ground):
        raise LogRefused("surface.tool_rewrite", seq=seq)
    return Move(place=start, removed=tuple(removed), cites=cites)


def _check_bare(event: Event) -> None:
    if "surfaceOp" in event:
        raise LogRefused("surface.marker_not_allowed", seq=event["seq"])
    if "sourceEventSeqs" in event:
        raise LogRefused("surface.sources_not_allowed", seq=event["seq"])


def _bounds_of(operation: Any, *, seq: int) -> tuple[int, int] | None:
    if operation == "append":
        return None
    if not isinstance(operation, dict) or operation.keys() != {"op", "startSeq", "endSeq"}:
        raise LogRefused("surface.bad_op", seq=seq)
    start, end = operation["startSeq"], operation["endSeq"]
    if operation["op"] != "replace" or not is_count(start) or not is_count(end):
        raise LogRefused("surface.bad_op", seq=seq)
    if start >= seq or end >= seq:
        raise LogRefused("surface.range_not_earlier", seq=seq)
    return start, end


def _cites_of(event: Event, *, seq: int) -> tuple[int, ...]:
    if "sourceEventSeqs" not in event:
        return ()
    cites = event["sourceEventSeqs"]
    if event["type"] == "assistant/message":
        raise LogRefused("surface.assistant_sources", seq=seq)
    if not isinstance(cites, list) or not all(map(is_count, cites)):
        raise LogRefused("surface.sources_type", seq=seq)
    if not cites:
        raise LogRefused("surface.sources_empty", seq=seq)
    if len(set(cites)) != len(cites):
        raise LogRefused("surface.sources_duplicate", seq=seq)
    if max(cites) >= seq:
        raise LogRefused("surface.sources_not_earlier", seq=seq)
    return tuple(cites)


def _is_rewrite(event: Event, *, of: list[int], ground: Ground) -> bool:
    """Tell whether a result replaces exactly one earlier form of itself, differing only in its content."""
    before = ground.event(of[0]) if len(of) == 1 else None
    if before is None or before["type"] != "tool/result":
        return False
    return same_json(_without_content(event), other=_without_content(before))


def _without_content(event: Event) -> dict[str, Any]:
    data = members(event["data"])
    return {**data, "message": {name: value for name, value in message_of(event).items() if name != "content"}}


def check_head(event: Event, *, move: Move, state: State) -> None:
    """Refuse what a load refuses: a late system message, or a system message at the head that anything else removes."""
    is_system = event["type"] == "system/message"
    if is_system and state.head is not None and not state.head_is_system:
        raise LogRefused("surface.no_protected_head", seq=event["seq"])
    if state.head_is_system and state.head in move.removed and not (is_system and len(move.removed) == 1):
        raise LogRefused("surface.protected_head", seq=event["seq"])


def stand(event: Event, *, move: Move, state: State) -> None:
    """Enter an accepted event's move into the state."""
    if move.place is None:
        return
    if state.head is None or state.head in move.removed:
        state.head, state.head_is_system = event["seq"], event["type"] == "system/message"
    state.nodes += 1 - len(move.removed)
    state.replaces += bool(move.removed)


def fold_surface(events: Iterable[Event]) -> list[int]:
    """Return the surface of whole events by the fold rules alone."""
    ground = MemoryGround()
    for event in events:
        move = move_of(event, ground=ground)
        ground.take(event=event, change=Change(place=move.place, removed=move.removed, cites=move.cites))
    return ground.nodes()


def speaks(event: Event) -> bool:
    """Tell whether a node yields a message: an empty one of the system, a developer or the model yields none."""
    return event["type"] not in _SILENT_WHEN_EMPTY or bool(message_of(event).get("content"))
