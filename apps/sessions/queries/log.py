"""Reading a stored log: its events, its surface, and where its checks stand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from apps.core import rows
from apps.sessions.models import Session
from apps.sessions.queries.ground import StoredGround, texts_between, walk
from apps.sessions.rules.event_types import message_of
from apps.sessions.rules.plain_json import SAFE_INTEGER, Event
from apps.sessions.rules.state import State
from apps.sessions.rules.surface import speaks
from apps.sessions.rules.validator import load

PAGE_LENGTH = 4 * 1024 * 1024
"""A page of events ends when it is so long, whatever its limit."""

_NODES = "select seq from agent_sessions_surfacenode where session_id = %s order by place"
_SURFACE = """
select n.place, e.body from agent_sessions_surfacenode n
join agent_sessions_sessionevent e on e.session_id = n.session_id and e.seq = n.seq
where n.session_id = %s and n.place between %s and %s order by n.place limit %s
"""


def event_texts(*, session_id: str, after: int = -1, limit: int) -> list[str]:
    """Return at most `limit` events after a number as they are stored, each a JSON text; fewer where they are long."""
    found: list[str] = []
    length = 0
    for text in texts_between(session_id, first=after + 1, last=after + limit):
        found.append(text)
        length += len(text)
        if length > PAGE_LENGTH:
            break
    return found


def events_page(session: Session, *, after: int = -1, limit: int) -> list[Event]:
    """Return at most `limit` events after a number; fewer where they are long."""
    return [json.loads(text) for text in event_texts(session_id=session.pk, after=after, limit=limit)]


def all_events(session: Session) -> Iterator[Event]:
    """Give the whole log, holding little of it at a time."""
    return events_between(session_id=session.pk, first=0, last=session.next_seq - 1)


def events_between(*, session_id: str, first: int, last: int) -> Iterator[Event]:
    """Give the events of a session, by its key, from one number to another, both included."""
    return StoredGround(session_id).events(first=first, last=last)


def surface_nodes(session: Session) -> list[int]:
    """Return the numbers of the events that the model sees, in order."""
    return [seq for (seq,) in rows.execute(_NODES, [session.pk]).fetchall()]


def surface_events(session: Session, *, first: int = 0) -> Iterator[Event]:
    """Give the events that the model sees, in order, from a place on."""
    return map(json.loads, walk(_SURFACE, params=[session.pk], first=first, last=SAFE_INTEGER))


def surface_messages(session: Session) -> list[dict[str, Any]]:
    """Return the messages that the model sees, verbatim."""
    return [message_of(event) for event in surface_events(session) if speaks(event)]


@dataclass(frozen=True, kw_only=True, slots=True)
class SurfacePage:
    """A run of the surface, and whether it goes on."""

    nodes: list[int]
    messages: list[dict[str, Any]]
    more: bool


def surface_page(session: Session, *, after: int = -1, limit: int) -> SurfacePage | None:
    """Return at most `limit` nodes behind one of them (-1: from the first), fewer where they are long.

    None when `after` is no node of the surface.
    """
    place = -1 if after < 0 else StoredGround(session.pk).place(after)
    if place is None:
        return None
    nodes: list[int] = []
    messages: list[dict[str, Any]] = []
    length = 0
    for text in walk(_SURFACE, params=[session.pk], first=place + 1, last=SAFE_INTEGER):
        if len(nodes) == limit or length > PAGE_LENGTH:
            return SurfacePage(nodes=nodes, messages=messages, more=True)
        event = json.loads(text)
        nodes.append(event["seq"])
        messages += [message_of(event)] if speaks(event) else []
        length += len(text)
    return SurfacePage(nodes=nodes, messages=messages, more=False)


def header_of(session: Session) -> dict[str, Any] | None:
    """Return the header beside the log, None for a stored copy whose header nobody could read."""
    return json.loads(session.header) if session.header else None


def load_state(session: Session) -> State:
    """Return where the checks stand after the last event."""
    return state_of(session_id=session.pk, state=session.state, header=session.header, next_seq=session.next_seq)


def state_of(*, session_id: str, state: str, header: str, next_seq: int) -> State:
    """Return where the checks stand by a session's own columns; one of another make is worked out anew from the log."""
    told = json.loads(header) if header else {}
    if not next_seq:
        return State(seeded=told.get("isSeeded", False))
    try:
        return State.restored(json.loads(state))
    except ValueError:
        return load(list(events_between(session_id=session_id, first=0, last=next_seq - 1)), header=told)[0]
