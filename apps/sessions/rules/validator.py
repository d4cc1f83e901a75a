"""The one validator: an event appended today and a log loaded tomorrow pass the same checks in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.sessions.rules import compactions, lifecycle
from apps.sessions.rules.envelope import check_envelope, check_header
from apps.sessions.rules.ground import Change, Ground, Mark, MemoryGround
from apps.sessions.rules.messages import check_message
from apps.sessions.rules.plain_json import members
from apps.sessions.rules.refusals import LogRefused
from apps.sessions.rules.state import State
from apps.sessions.rules.surface import check_head, move_of, stand

_CHECKS = {**lifecycle.CHECKS, **compactions.CHECKS}


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """What a load must know beforehand: the orphaned compactions and the last inherited marker (-1: none)."""

    orphans: frozenset[int] = frozenset()
    inherited: int = -1


class Surveyor:
    """Takes a log event by event and says at the end what a load must know beforehand."""

    def __init__(self) -> None:
        """Start before the first event."""
        self._waiting: list[int] = []
        self._orphans: list[int] = []
        self._inherited = -1

    def see(self, event: Any, *, seq: int) -> None:
        """Take the `seq`-th event, checked or not."""
        kind = members(event).get("type")
        if kind == "compaction/start":
            self._waiting.append(seq)
        elif kind == "compaction/end":
            self._waiting.clear()
        elif kind == "session/end-seed":
            self._orphans += self._waiting
            self._waiting.clear()
            if members(members(event).get("data")).get("inherited") is True:
                self._inherited = seq

    def survey(self) -> Survey:
        """Return what was seen."""
        return Survey(orphans=frozenset(self._orphans), inherited=self._inherited)


def survey_of(events: Iterable[Any]) -> Survey:
    """Return what a load of these events must know beforehand."""
    surveyor = Surveyor()
    for seq, event in enumerate(events):
        surveyor.see(event, seq=seq)
    return surveyor.survey()


class Validator:
    """Accepts events one after another; a refused one changes nothing."""

    def __init__(self, *, state: State, ground: Ground, orphans: frozenset[int] = frozenset()) -> None:
        """Go on from a state and the log that led to it; `orphans` is empty for an append."""
        self.state = state
        self._ground = ground
        self._orphans = orphans

    def accept(self, event: Any) -> Change:
        """Add an event to the ground and return what it changes; raises LogRefused with the rule that it breaks."""
        state = self.state
        check_envelope(event, seq=state.next_seq)
        check_message(event)
        move = move_of(event, ground=self._ground)
        check_head(event, move=move, state=state)
        marks: tuple[Mark, ...] = ()
        if check := _CHECKS.get(event["type"]):
            marks = check(lifecycle.Case(event, members(event["data"]), state, self._ground, self._orphans))
        stand(event, move=move, state=state)
        state.next_seq += 1
        state.ends_seed = event["type"] == "session/end-seed"
        state.last_time_ms = event["time"]
        change = Change(move.place, move.removed, move.cites, marks)
        self._ground.take(event=event, change=change)
        return change


def opened(*, header: dict[str, Any], survey: Survey) -> State:
    """Return the state before the first event of a load; a seeded log must have its marker."""
    check_header(header)
    if header["isSeeded"] and survey.inherited < 0:
        raise LogRefused("seed.marker_missing")
    return State(seeded=header["isSeeded"], inherited=survey.inherited)


def load(events: Sequence[Any], *, header: dict[str, Any]) -> tuple[State, MemoryGround]:
    """Check a whole log and return where it stands; an open turn, step or compaction at its end is legal."""
    survey = survey_of(events)
    ground = MemoryGround()
    validator = Validator(state=opened(header=header, survey=survey), ground=ground, orphans=survey.orphans)
    for event in events:
        validator.accept(event)
    return validator.state, ground
