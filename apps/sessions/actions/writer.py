"""The writer: appends of many callers, each checked by itself, all written together into one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from django.db import connection

from apps.core import rows
from apps.core.announce import announce_all, announcement
from apps.core.errors import Conflict, SaysoError
from apps.core.failpoints import reach
from apps.sessions.actions.inbox import acknowledge_in
from apps.sessions.actions.log_rows import LogRows, accept_all, state_json
from apps.sessions.models import Session
from apps.sessions.queries.ground import StoredGround
from apps.sessions.queries.log import event_texts, events_between, state_of
from apps.sessions.rules import SessionNotFound
from apps.sessions.rules.hosts import taken_in_by
from apps.sessions.rules.log_facts import title_in
from apps.sessions.rules.plain_json import loss_in, same_json
from apps.sessions.rules.state import State

MISSED_EVENTS = 200
"""How many events a stale append is told at once."""
STATES_KEPT = 4096

_HEADS = """
select id, next_seq, state, header, title, profile_id from agent_sessions_session where id in ({}) order by id
"""
_HEAD = "update agent_sessions_session set state = %s, next_seq = %s, last_ms = %s, title = %s where id = %s"


class StaleAppend(Conflict):
    """The log has grown meanwhile; take in the events that you missed and append again."""

    code: ClassVar[str] = "stale_append"


class Append(NamedTuple):
    """What one caller wants to add to one log, all or none."""

    by: str
    session_id: str
    expected_seq: int
    events: Sequence[Any]
    now_ms: int
    orphans: frozenset[int] = frozenset()


class Appended(NamedTuple):
    """What an append wrote: from `first` up to before `next_seq`; `repeated` says that it was written before."""

    first: int
    next_seq: int
    repeated: bool = False


@dataclass(kw_only=True, slots=True)
class Head:
    """What a session's own row says of its log."""

    id: str
    next_seq: int
    state: str
    header: str
    title: str
    profile_id: str
    last_ms: int = 0
    changed: bool = False
    waiting: bool = False
    """Whether rows of its log are not written yet."""


# What a text of a state stands for never changes, so neither a roll-back nor another process makes these wrong.
_states: dict[str, tuple[str, State]] = {}


def write_appends(appends: Sequence[Append]) -> list[Appended | SaysoError]:
    """Write what the callers want into the transaction around and return each one's answer or its own error.

    An error in the list changed nothing. One that is raised spoiled the transaction: undo all of it.
    """
    heads = _locked({one.session_id for one in appends})
    waiting, told = LogRows(), list[dict[str, Any]]()
    answers: list[Appended | SaysoError] = []
    for one in appends:
        head = heads.get(one.session_id)
        if head is not None and head.waiting:
            # The checks of this append look at what the one before it adds.
            _write(waiting, heads=heads)
        try:
            answers.append(_take(one, head=head, waiting=waiting, told=told))
        except SaysoError as error:
            answers.append(error)
    _write(waiting, heads=heads)
    reach("append.before_head")
    if told:
        changed = [head for head in heads.values() if head.changed]
        rows.execute_many(_HEAD, [(head.state, head.next_seq, head.last_ms, head.title, head.id) for head in changed])
        announce_all(told)
    reach("append.before_commit")
    return answers


def _locked(ids: set[str]) -> dict[str, Head]:
    sql = _HEADS.format(", ".join(["%s"] * len(ids)))
    # In one order everywhere: two groups may hold several heads.
    found = rows.execute(f"{sql} for update" if connection.vendor == "postgresql" else sql, list(ids)).fetchall()
    return {
        row[0]: Head(id=row[0], next_seq=row[1], state=row[2], header=row[3], title=row[4], profile_id=row[5])
        for row in found
    }


def _write(waiting: LogRows, *, heads: dict[str, Head]) -> None:
    waiting.write()
    for head in heads.values():
        head.waiting = False


def _take(one: Append, *, head: Head | None, waiting: LogRows, told: list[dict[str, Any]]) -> Appended:
    if head is None:
        raise SessionNotFound
    if one.expected_seq != head.next_seq:
        return _repeated(one, head=head)
    if not one.events:
        return Appended(first=head.next_seq, next_seq=head.next_seq, repeated=True)
    state = _state_of(head)
    accepted = accept_all(one.events, state=state, below=StoredGround(head.id), orphans=one.orphans)
    waiting.add(accepted, session_id=head.id)
    for event, _, _ in accepted:
        if event["type"] == "session/title":
            head.title = title_in(event, before=head.title)
        elif event["type"] == "user/message" and taken_in_by(event):
            session = Session(pk=head.id, profile_id=head.profile_id)
            acknowledge_in(session=session, events=[event], now_ms=one.now_ms)
    head.state, head.next_seq, head.last_ms = state_json(state), state.next_seq, state.last_time_ms
    head.changed = head.waiting = True
    _keep(head, state=state)
    bounds: dict[str, Any] = {"from": one.expected_seq, "to": head.next_seq - 1}
    told.append(announcement("log.appended", profile=head.profile_id, session=head.id, by=one.by, **bounds))
    return Appended(first=one.expected_seq, next_seq=head.next_seq)


def _state_of(head: Head) -> State:
    text, state = _states.pop(head.id, ("", None))
    if state is not None and text == head.state:
        return state
    return state_of(session_id=head.id, state=head.state, header=head.header, next_seq=head.next_seq)


def _keep(head: Head, *, state: State) -> None:
    if len(_states) >= STATES_KEPT:
        _states.clear()
    _states[head.id] = (head.state, state)


def forget_states() -> None:
    """Forget what this process remembers of logs, as a restart does."""
    _states.clear()


def _repeated(one: Append, *, head: Head) -> Appended:
    first, count = one.expected_seq, len(one.events)
    if first >= 0 and 0 < count <= head.next_seq - first:
        stored = events_between(session_id=head.id, first=first, last=first + count - 1)
        if all(_same(event, other) for event, other in zip(one.events, stored, strict=True)):
            return Appended(first=first, next_seq=head.next_seq, repeated=True)
    missed = event_texts(session_id=head.id, after=max(first, 0) - 1, limit=MISSED_EVENTS)
    raise StaleAppend(next_seq=head.next_seq, events=[json.loads(text) for text in missed])


def _same(one: Any, other: Any) -> bool:
    return not loss_in(one) and same_json(one, other=other)
