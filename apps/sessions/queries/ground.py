"""The stored log as the checks look at it: each question is one prepared look-up by an index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from apps.core import rows
from apps.sessions.rules.ground import Change, Node
from apps.sessions.rules.plain_json import Event

PAGE = 1000
"""How many rows a walk reads at most at once: it holds no cursor open."""
FEW = 8
ENOUGH = 1024 * 1024
"""How much of a log a walk holds in memory, whatever the length of its events."""

_EVENT = "select body from agent_sessions_sessionevent where session_id = %s and seq = %s"
_EVENTS = """
select seq, body from agent_sessions_sessionevent where session_id = %s and seq between %s and %s order by seq limit %s
"""
# Two look-ups: an appended event stands at its own number, only the others have an index of their own.
_PLACE = """
select place from agent_sessions_surfacenode
where (session_id = %s and place = %s and seq = %s) or (session_id = %s and seq = %s and place < seq)
"""
_SPAN = """
select place, seq from agent_sessions_surfacenode
where session_id = %s and place between %s and %s order by place limit %s
"""
_MARK = "select seq from agent_sessions_sessionmark where session_id = %s and kind = %s and key = %s"
_CITERS = "select seq from agent_sessions_citation where session_id = %s and cited = %s order by seq"


class StoredGround:
    """The log of one stored session, read only: lay an `Overlay` over it to check what comes next."""

    def __init__(self, session_id: str) -> None:
        """Look at a session by its key."""
        self._session = session_id

    def event(self, seq: int) -> Event | None:
        """Return an event by its number, or None."""
        found = rows.execute(_EVENT, [self._session, seq]).fetchone()
        return None if found is None else json.loads(found[0])

    def events(self, *, first: int, last: int) -> Iterator[Event]:
        """Give the events from one number to another, both included."""
        return map(json.loads, texts_between(self._session, first=first, last=last))

    def place(self, seq: int) -> int | None:
        """Return where an event stands on the surface, None when it is not there."""
        found = rows.execute(_PLACE, [self._session, seq, seq, self._session, seq]).fetchone()
        return None if found is None else found[0]

    def span(self, *, first: int, last: int) -> Iterator[Node]:
        """Give the nodes from one place to another in order, both included."""
        while first <= last:
            page = rows.execute(_SPAN, [self._session, first, last, PAGE]).fetchall()
            for place, seq in page:
                yield Node(place, seq)
            if len(page) < PAGE:
                return
            first = page[-1][0] + 1

    def mark(self, *, kind: str, key: str) -> int | None:
        """Return the number kept with a mark, or None."""
        found = rows.execute(_MARK, [self._session, kind, key]).fetchone()
        return None if found is None else found[0]

    def citers(self, seq: int) -> Iterable[int]:
        """Give the events that name this one as a source."""
        return [found[0] for found in rows.execute(_CITERS, [self._session, seq]).fetchall()]

    def take(self, *, event: Event, change: Change) -> None:
        """Refuse: what is stored changes through `actions.appending` alone."""
        raise TypeError("a stored log is changed by appending to it")


def texts_between(session_id: str, *, first: int, last: int) -> Iterator[str]:
    """Give the events of a session, by its key, as they are stored: each one JSON text in ASCII."""
    return walk(_EVENTS, params=[session_id], first=first, last=last)


def walk(sql: str, *, params: Sequence[Any], first: int, last: int) -> Iterator[str]:
    """Give the second column of rows whose first column lies between two numbers, a few at a time if they are long.

    The statement takes the given values, the two numbers and how many rows to read, in this order.
    """
    size = FEW
    while first <= last:
        page = rows.execute(sql, [*params, first, last, size]).fetchall()
        for _, text in page:
            yield text
        if len(page) < size:
            return
        first = page[-1][0] + 1
        size = max(1, min(PAGE, ENOUGH * size // sum(len(text) for _, text in page)))
