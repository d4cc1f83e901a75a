"""Compactions: who holds the lock, what a summary claims, and whether it was a person's removal of a turn."""

from __future__ import annotations

from typing import Any

from apps.sessions.rules.event_types import is_replace, message_of
from apps.sessions.rules.ground import Mark
from apps.sessions.rules.lifecycle import Case, Check
from apps.sessions.rules.plain_json import is_count, is_text, members
from apps.sessions.rules.recognition import PRODUCERS, is_checkpoint, turn_of
from apps.sessions.rules.state import Compaction


def start(case: Case) -> tuple[Mark, ...]:
    """Take the lock for the open turn, or for none."""
    state, data = case.state, case.data
    if state.compaction is not None:
        raise case.refuse("compaction.overlap")
    if "turn" not in data or not _is_turn(data["turn"], than=state.turn):
        raise case.refuse("compaction.owner")
    if not is_text(data.get("compactionId")):
        raise case.refuse("compaction.unmatched")
    state.compaction = Compaction(
        seq=case.event["seq"],
        id=data["compactionId"],
        turn=state.turn,
        command=data.get("sourceCommandId"),
        has_command="sourceCommandId" in data,
    )
    return ()


def _is_turn(value: Any, *, than: int | None) -> bool:
    return value is None if than is None else is_count(value) and value == than


def _open(case: Case) -> Compaction:
    """Return the open compaction that an event belongs to, still under the turn that it was taken in."""
    data, found = case.data, case.state.compaction
    if (
        found is None
        or data.get("compactionId") != found.id
        or ("sourceCommandId" in data) != found.has_command
        or data.get("sourceCommandId") != found.command
    ):
        raise case.refuse("compaction.unmatched")
    if found.turn != case.state.turn:
        raise case.refuse("compaction.owner")
    return found


def summary(case: Case) -> tuple[Mark, ...]:
    """Accept the one summary of the open compaction."""
    found = _open(case)
    if found.summary is not None:
        raise case.refuse("compaction.repeated_summary")
    check_shadowed(case)
    found.summary = case.event["seq"]
    found.marked = found.turn is None and (case.data.get("provider"), case.data.get("model")) in PRODUCERS
    return ()


def prune(case: Case) -> tuple[Mark, ...]:
    """Accept the price of a result that is about to be written anew."""
    check_shadowed(case)
    return ()


def check_shadowed(case: Case) -> None:
    """Refuse a claim that does not name exactly a run of the surface, names the protected head, or has no price."""
    bounds, claimed = members(case.data.get("shadowedRange")), case.data.get("shadowedSeqs")
    first, last = (_place(case, bounds.get(name)) for name in ("start", "end"))
    if not isinstance(claimed, list) or not all(map(is_count, claimed)) or first is None or last is None:
        raise case.refuse("compaction.span")
    left = iter(claimed)
    # Lazily: a wrong claim must not cost a walk over the whole surface.
    exact = all(next(left, None) == node.seq for node in case.ground.span(first=first, last=last))
    if not claimed or not exact or next(left, None) is not None:
        raise case.refuse("compaction.span")
    if case.state.head_is_system and claimed[0] == case.state.head:
        raise case.refuse("surface.protected_head")
    if not is_count(case.data.get("shadowedTokenCount")):
        raise case.refuse("compaction.token_count")


def _place(case: Case, seq: object) -> int | None:
    return case.ground.place(seq) if is_count(seq) else None


def end(case: Case) -> tuple[Mark, ...]:
    """Release the lock; a whole removal by a person is marked with the turn that it removed."""
    found = _open(case)
    if "turn" not in case.data or not _is_turn(case.data["turn"], than=found.turn):
        raise case.refuse("compaction.owner")
    failed = "error" in case.data
    if not failed and found.summary is None:
        raise case.refuse("compaction.no_summary")
    marks = () if failed else _removal(case, found=found)
    case.state.compaction = None
    return marks


def _removal(case: Case, *, found: Compaction) -> tuple[Mark, ...]:
    told = case.ground.event(found.summary) if found.summary is not None else None
    if told is None or not found.marked or found.replaced is None:
        return ()
    turn = turn_of(told["data"]["shadowedSeqs"], ground=case.ground)
    return () if turn is None else (Mark("removed", str(turn), found.replaced),)


def checkpoint(case: Case) -> tuple[Mark, ...]:
    """Accept a message of a person or a program; one that stands for a compaction must belong to the open one."""
    event, found = case.event, case.state.compaction
    if not is_replace(event) or members(message_of(event).get("source")).get("kind") != "compact-checkpoint":
        return ()
    if found is None or message_of(event)["source"].get("compactionId") != found.id:
        raise case.refuse("compaction.unmatched")
    told = case.ground.event(event["seq"] - 1)
    if found.summary != event["seq"] - 1:
        return ()
    if told is not None and is_checkpoint(event, summary=told):
        found.replaced = event["seq"]
    return ()


CHECKS: dict[str, Check] = {
    "compaction/start": start,
    "compaction/summary": summary,
    "compaction/prune": prune,
    "compaction/end": end,
    "user/message": checkpoint,
}
