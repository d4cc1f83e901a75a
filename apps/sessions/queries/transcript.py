"""Pages of a session for people: a few rows of the log or of what the model sees, and how the session stands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.core import rows
from apps.core.errors import NotFound
from apps.core.threads import Turn
from apps.sessions.models import Session
from apps.sessions.queries.listing import listed_session
from apps.sessions.queries.log import load_state
from apps.sessions.rules.shown import WHOLE, shown_event, too_long

EVENT_LENGTH = 128 * 1024
"""A longer event is read on request only."""
PAGE_LENGTH = 2 * 1024 * 1024
"""So much of a log is read for one page, whatever its events hold."""

_COLUMNS = f"""e.seq, e.turn, e.type, e.time_ms, length(e.body),
  case when length(e.body) <= {EVENT_LENGTH} then e.body else '' end"""
_LOG = """agent_sessions_sessionevent e
  left join agent_sessions_surfacenode n on (n.session_id = e.session_id and n.place = e.seq and n.seq = e.seq)
  or (n.session_id = e.session_id and n.seq = e.seq and n.place < n.seq)"""
_STORED = f"select {_COLUMNS}, e.seq, n.seq is not null from {_LOG} where e.session_id = %s"  # noqa: S608
_BEFORE = f"{_STORED} and e.seq < %s order by e.seq desc limit %s"
_AFTER = f"{_STORED} and e.seq > %s order by e.seq limit %s"
_SEEN = f"""select {_COLUMNS}, n.place, 1 from agent_sessions_surfacenode n
  join agent_sessions_sessionevent e on e.session_id = n.session_id and e.seq = n.seq
  where n.session_id = %s and n.place < %s order by n.place desc limit %s"""  # noqa: S608
_ONE = f"""select e.turn, n.seq is not null, e.body from {_LOG} where e.session_id = %s and e.seq = %s"""  # noqa: S608
_REMOVED = """
select k.key, k.seq, e.time_ms from agent_sessions_sessionmark k
join agent_sessions_sessionevent e on e.session_id = k.session_id and e.seq = k.seq
where k.session_id = %s and k.kind = 'removed' order by k.seq
"""


class EventNotFound(NotFound):
    """The log has no such event."""

    code = "event_not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Rows in their order, and where the page before begins (None: there is none)."""

    rows: list[dict[str, Any]]
    before: int | None = None
    more: bool = False
    """Whether the log goes on after the last row."""


def stored_page(*, session: Session, before: int | None, limit: int) -> Page:
    """Return the last rows of the log before a number."""
    last = session.next_seq if before is None else before
    return _backward(_BEFORE, session=session, before=last, limit=limit)


def stored_after(*, session: Session, after: int, limit: int) -> Page:
    """Return the first rows of the log after a number."""
    found = rows.execute(_AFTER, [session.pk, after, limit + 1])
    taken, more = _taken(found, limit=limit)
    return Page(rows=_shown(taken, session=session), more=more)


def seen_page(*, session: Session, before: int | None, limit: int) -> Page:
    """Return the last rows of what the model sees before a place."""
    last = session.next_seq if before is None else before
    return _backward(_SEEN, session=session, before=last, limit=limit)


def whole_row(*, session: Session, seq: int) -> dict[str, Any]:
    """Return one row with all of its text."""
    found = rows.execute(_ONE, [session.pk, seq]).fetchone()
    if found is None:
        raise EventNotFound
    turn, seen, body = found
    removes = {one["seq"]: one["turn"] for one in removed_turns(session=session)}
    return shown_event(json.loads(body), turn=turn, seen=bool(seen), removes=removes.get(seq), most=WHOLE)


def removed_turns(*, session: Session) -> list[dict[str, int]]:
    """Return the turns that a person removed, in the order in which it was done."""
    found = rows.execute(_REMOVED, [session.pk]).fetchall()
    return [{"turn": int(key), "seq": seq, "time_ms": time_ms} for key, seq, time_ms in found]


def standing(*, session: Session, now_ms: int) -> dict[str, Any]:
    """Return how a session stands: what its log is at, who holds it, where it is shelved, what was removed."""
    state = load_state(session)
    return listed_session(session=session, now_ms=now_ms) | {
        "next_seq": session.next_seq,
        "replaces": state.replaces,
        "messages_seen": state.nodes,
        "open_turn": state.turn,
        "compacting": state.compaction is not None,
        "removed": removed_turns(session=session),
    }


def _backward(sql: str, *, session: Session, before: int, limit: int) -> Page:
    found = rows.execute(sql, [session.pk, before, limit + 1])
    taken, more = _taken(found, limit=limit)
    return Page(rows=_shown(taken[::-1], session=session), before=taken[-1][6] if more else None)


def _taken(found: Iterable[Sequence[Any]], *, limit: int) -> tuple[list[Sequence[Any]], bool]:
    """Return as many rows as a page may hold, at least one, and whether there are more."""
    turn, size = Turn(), 0
    taken: list[Sequence[Any]] = []
    for row in found:
        size += len(row[5])
        if taken and (len(taken) == limit or size > PAGE_LENGTH or turn.over()):
            return taken, True
        taken.append(row)
    return taken, False


def _shown(taken: Iterable[Sequence[Any]], *, session: Session) -> list[dict[str, Any]]:
    removes = {one["seq"]: one["turn"] for one in removed_turns(session=session)}
    return [_row(row, removes=removes) for row in taken]


def _row(row: Sequence[Any], *, removes: dict[int, int]) -> dict[str, Any]:
    seq, turn, kind, time_ms, length, body, place, seen = row
    if not body:
        return too_long(seq=seq, turn=turn, kind=kind, time_ms=time_ms, seen=bool(seen), length=length) | {
            "place": place
        }
    return shown_event(json.loads(body), turn=turn, seen=bool(seen), removes=removes.get(seq)) | {"place": place}
