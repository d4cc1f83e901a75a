"""Writing what was accepted: the events, the surface that they leave, their marks and citations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from apps.core import rows
from apps.sessions.rules.ground import Change, Ground, Overlay
from apps.sessions.rules.plain_json import Event, ascii_json
from apps.sessions.rules.state import FORMAT, State
from apps.sessions.rules.validator import Validator

TYPE_LENGTH = 64

_EVENT = """
insert into agent_sessions_sessionevent (session_id, seq, type, time_ms, turn, body) values (%s, %s, %s, %s, %s, %s)
"""
_LEAVE = """
delete from agent_sessions_surfacenode
where (session_id = %s and place = %s and seq = %s) or (session_id = %s and seq = %s and place < seq)
"""
_STAND = "insert into agent_sessions_surfacenode (session_id, place, seq) values (%s, %s, %s)"
_MARK = """
insert into agent_sessions_sessionmark (session_id, kind, key, seq) values (%s, %s, %s, %s) on conflict do nothing
"""
_CITE = "insert into agent_sessions_citation (session_id, cited, seq) values (%s, %s, %s)"


class Accepted(NamedTuple):
    """An event that passed the checks, what it changes, and the turn that it lies in."""

    event: Event
    change: Change
    turn: int | None


def accept_all(
    events: Iterable[Any], *, state: State, below: Ground, orphans: frozenset[int] = frozenset()
) -> list[Accepted]:
    """Check events on top of a ground, which stays as it is; raises LogRefused, which spoils `state`."""
    validator = Validator(state=state, ground=Overlay(below=below), orphans=orphans)
    accepted = []
    for event in events:
        before = state.turn
        change = validator.accept(event)
        accepted.append(Accepted(event, change, before if state.turn is None else state.turn))
    return accepted


@dataclass(slots=True)
class LogRows:
    """Rows of accepted events of any number of sessions, written together into the caller's transaction."""

    events: list[Any] = field(default_factory=list)
    leaving: list[Any] = field(default_factory=list)
    standing: dict[tuple[str, int], int] = field(default_factory=dict)
    marks: list[Any] = field(default_factory=list)
    cites: list[Any] = field(default_factory=list)

    def add(self, accepted: Iterable[Accepted], *, session_id: str) -> None:
        """Take the rows of events that follow those taken before."""
        for event, change, turn in accepted:
            seq = event["seq"]
            kind = type_column(event["type"])
            self.events.append((session_id, seq, kind, event["time"], turn, stored_json(event)))
            for mark in change.marks:
                self.marks.append((session_id, mark.kind, mark.key, mark.seq))
            for cited in change.cites:
                self.cites.append((session_id, cited, seq))
            for gone in change.removed:
                # What came and went among the same rows is never written.
                if self.standing.pop((session_id, gone), None) is None:
                    self.leaving.append((session_id, gone, gone, session_id, gone))
            if change.place is not None:
                self.standing[session_id, seq] = change.place

    def write(self) -> None:
        """Write all of it and forget it."""
        standing = [(session_id, place, seq) for (session_id, seq), place in self.standing.items()]
        for sql, values in (
            (_EVENT, self.events),
            (_LEAVE, self.leaving),
            (_STAND, standing),
            (_MARK, self.marks),
            (_CITE, self.cites),
        ):
            if values:
                rows.execute_many(sql, values)
        self.events, self.leaving, self.standing, self.marks, self.cites = [], [], {}, [], []


def type_column(kind: str) -> str:
    """Return an event's type as its column holds it: an unknown one may be any text, of any length."""
    if len(kind) <= TYPE_LENGTH and kind.isascii() and "\0" not in kind:
        return kind
    return ascii_json(kind)[1:-1][:TYPE_LENGTH]


def stored_json(value: Any) -> str:
    """Return a checked value's JSON in ASCII."""
    try:
        text = orjson.dumps(value)
    except orjson.JSONEncodeError:
        # It keeps no lone surrogate and no number beyond 64 bits.
        return ascii_json(value)
    return text.decode("ascii") if text.isascii() else ascii_json(value)


def state_json(state: State) -> str:
    """Return what `State.restored` reads, as JSON."""
    try:
        return f'{{"format":{FORMAT},{orjson.dumps(state)[1:].decode()}'
    except orjson.JSONEncodeError:
        return ascii_json(state.dump())
