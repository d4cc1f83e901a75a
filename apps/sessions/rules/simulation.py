"""Trying the removal of every turn of a log on paper."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field

from apps.core.errors import SaysoError
from apps.sessions.rules.ground import Ground, Overlay
from apps.sessions.rules.price import shadowed_price
from apps.sessions.rules.refusals import LogRefused
from apps.sessions.rules.removal import removal_events
from apps.sessions.rules.removal_plan import plan_removal, target_by_turn
from apps.sessions.rules.state import State
from apps.sessions.rules.validator import Validator


@dataclass(kw_only=True, slots=True)
class Simulation:
    """How many turns could be removed, and how many not for which reason; `faults` break a rule and must not be."""

    removable: int = 0
    removed_before: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, other: Simulation) -> None:
        """Add the counts of another log."""
        self.removable += other.removable
        self.removed_before += other.removed_before
        self.refused += other.refused
        self.faults += other.faults


def simulate_removals(*, state: State, ground: Ground) -> Simulation:
    """Plan and check the removal of each turn, as if it were the only one; nothing is written."""
    count = Simulation()
    for turn in range(1, state.next_turn + (state.turn is not None)):
        if ground.mark(kind="removed", key=str(turn)) is not None:
            count.removed_before += 1
            continue
        try:
            _simulate(turn, state=state, ground=ground)
            count.removable += 1
        except LogRefused as fault:
            count.faults.append(f"turn {turn}: {fault.reason}")
        except SaysoError as refusal:
            count.refused[" ".join(filter(None, (refusal.own_code, refusal.extra.get("why"))))] += 1
    return count


def _simulate(turn: int, *, state: State, ground: Ground) -> None:
    target = target_by_turn(turn=turn, ground=ground)
    plan = plan_removal(
        target=target,
        ground=ground,
        open_turn=state.turn is not None,
        open_compaction=state.compaction is not None,
    )
    shadowed = (event for seq in plan.source_seqs if (event := ground.event(seq)) is not None)
    rows = removal_events(
        plan=plan,
        price=shadowed_price(shadowed),
        compaction_id="simulated",
        message_id="simulated",
        next_seq=state.next_seq,
        time_ms=state.last_time_ms,
    )
    overlay = Overlay(below=ground)
    validator = Validator(state=deepcopy(state), ground=overlay)
    for row in rows:
        validator.accept(row)
    if any(overlay.place(seq) is not None for seq in plan.source_seqs):
        raise LogRefused("surface.sources_incomplete")
