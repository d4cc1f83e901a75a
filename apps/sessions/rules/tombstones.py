"""Mending the removals that the first plugin wrote: outside a step, so that the log would not open again.

Each of them keeps its number and its words but becomes an event that readers ignore, and a proper removal of its turn
is appended. That is possible only while nothing later rests on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from apps.core.errors import SaysoError
from apps.sessions.rules.ground import MemoryGround
from apps.sessions.rules.plain_json import Event, is_count, members
from apps.sessions.rules.price import shadowed_price
from apps.sessions.rules.recognition import cited_by, is_tombstone, turn_of
from apps.sessions.rules.removal import removal_events
from apps.sessions.rules.removal_plan import plan_removal, target_by_turn
from apps.sessions.rules.repair import orphans_of, reopening_events
from apps.sessions.rules.state import State
from apps.sessions.rules.tolerant import Tolerant
from apps.sessions.rules.validator import Validator, load, survey_of

RETIRED = "sayso/retired-tombstone"
"""The type of a tombstone that readers ignore; its data, marker and sources stay as they were."""


class NotRepairable(SaysoError):
    """The removals of the first plugin in this log cannot be mended: something later rests on them."""

    code = "not_repairable"
    status = 409


@dataclass(frozen=True, kw_only=True, slots=True)
class Tombstone:
    """One removal of the first plugin and the first later event that rests on it, None when there is none."""

    seq: int
    turn: int
    cited_at: int | None


def tombstones(events: Sequence[Event], *, header: dict[str, Any]) -> list[Tombstone]:
    """Return the removals of the first plugin by which a log does not open; an honest blanking is none."""
    log = Tolerant(header=header, survey=survey_of(events))
    log.read(events)
    found = []
    for event in log.events:
        if not is_tombstone(event, events=log.events):
            continue
        turn = members(event["data"]).get("turn")
        hidden = turn_of(cited_by(event), ground=log.ground)
        own = turn if is_count(turn) else hidden
        outside = log.turns[event["seq"]] is None or log.turns[event["seq"]] != own
        if is_count(own) and (outside or log.refused is not None):
            found.append(Tombstone(seq=event["seq"], turn=own, cited_at=_cited_at(log.events, seq=event["seq"])))
    return found


def _cited_at(events: Sequence[Event], *, seq: int) -> int | None:
    return next((later["seq"] for later in events[seq + 1 :] if seq in set(_names(later))), None)


def _names(event: Event) -> Iterator[int]:
    """Give every earlier event that one names, wherever it does."""
    data, operation = members(event["data"]), members(event.get("surfaceOp"))
    lists = [event.get("sourceEventSeqs"), data.get("shadowedSeqs"), data.get("messageSeqs")]
    bounds = members(data.get("shadowedRange"))
    single = [*operation.values(), *bounds.values(), data.get("headerSeq")]
    for value in [*single, *(one for listed in lists if isinstance(listed, list) for one in listed)]:
        if is_count(value):
            yield value


def repaired(
    events: Sequence[Event], *, header: dict[str, Any], ids: Iterator[str]
) -> tuple[list[Event], list[Tombstone]]:
    """Return the whole mended log and what was mended; `ids` gives two fresh ids for each tombstone.

    Raises NotRepairable, or what else keeps the log from opening or a turn from being removed.
    """
    found = tombstones(events, header=header)
    if not found or any(one.cited_at is not None for one in found):
        raise NotRepairable
    seqs = {one.seq for one in found}
    mended = [{**event, "type": RETIRED, "ignorable": True} if event["seq"] in seqs else event for event in events]
    state, ground = load(mended, header=header)
    if state.turn is not None:
        mended += _accepted(reopening_events(state=state), state=state, ground=ground, orphans=orphans_of(state))
    for turn in dict.fromkeys(one.turn for one in found):
        target = target_by_turn(turn=turn, ground=ground)
        plan = plan_removal(target=target, ground=ground, open_turn=False, open_compaction=state.compaction is not None)
        rows = removal_events(
            plan=plan,
            price=shadowed_price(mended[seq] for seq in plan.source_seqs),
            compaction_id=next(ids),
            message_id=next(ids),
            next_seq=state.next_seq,
            time_ms=state.last_time_ms,
        )
        mended += _accepted(rows, state=state, ground=ground)
    return mended, found


def _accepted(
    rows: list[Event], *, state: State, ground: MemoryGround, orphans: frozenset[int] = frozenset()
) -> list[Event]:
    validator = Validator(state=state, ground=ground, orphans=orphans)
    for row in rows:
        validator.accept(row)
    return rows
