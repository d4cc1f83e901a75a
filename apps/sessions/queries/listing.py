"""Lists of sessions: pages from the newest, with filters and a search of titles, ids and what was said."""

from __future__ import annotations

import json
from typing import Any

from django.db import connection

from apps.accounts.rules import Caller
from apps.core import rows
from apps.core.text import visible
from apps.core.threads import Turn
from apps.sessions.models import Session
from apps.sessions.rules.listing import Cursor, Filters, like_pattern, says

NAMES = ("id", "source", "title", "created_at_ms", "workspace", "origin", "parent", "events", "last_ms")
FLAGS = ("live", "running", "archived", "pinned")

# Both spellings of `s.ref`, the first of them twice where it has no prefix to lose.
_SPELLINGS = """(s.ref, 'session-' || s.ref,
  case when substr(s.ref, 1, 8) = 'session-' and length(s.ref) > 8 then substr(s.ref, 9) else s.ref end)"""
_FLAG_SQL = {
    "live": f"""exists (select 1 from agent_sessions_session o join agent_sessions_lease l on l.session_id = o.id
      where o.profile_id = s.profile_id and o.ref in {_SPELLINGS} and l.expires_ms > %s)""",  # noqa: S608
    "running": f"""exists (select 1 from agent_sessions_session o join agent_sessions_run r on r.session_id = o.id
      where o.profile_id = s.profile_id and o.ref in {_SPELLINGS} and r.state = 'running')""",  # noqa: S608
    "archived": f"""exists (select 1 from agent_sessions_archivedsession a
      where a.profile_id = s.profile_id and a.spelling in {_SPELLINGS})""",  # noqa: S608
    "pinned": f"""exists (select 1 from agent_sessions_pinnedsession p
      where p.profile_id = s.profile_id and p.spelling in {_SPELLINGS})""",  # noqa: S608
}
# The same from the other end, for those that are: mostly few, so their list comes first.
_AMONG = {
    "live": """select o.ref from agent_sessions_lease l join agent_sessions_session o on o.id = l.session_id
      where o.profile_id = %s and l.expires_ms > %s""",
    "running": """select o.ref from agent_sessions_run r join agent_sessions_session o on o.id = r.session_id
      where r.profile_id = %s and r.state = 'running'""",
    "archived": "select spelling from agent_sessions_archivedsession where profile_id = %s",
    "pinned": "select spelling from agent_sessions_pinnedsession where profile_id = %s",
}
_AMONG_SQL = {
    name: f"""s.ref in (with known(ref) as ({sql}) select ref from known union all select 'session-' || ref from known
      union all select substr(ref, 9) from known where substr(ref, 1, 8) = 'session-')"""  # noqa: S608
    for name, sql in _AMONG.items()
}
_COLUMNS = "s.ref, s.source, s.title, s.created_at_ms, w.slug, s.origin, s.parent, s.next_seq, s.last_ms"
_SELECT = f"""select s.id, {_COLUMNS}, {", ".join(_FLAG_SQL[name] for name in FLAGS)}
  from agent_sessions_session s join accounts_workspace w on w.id = s.workspace_id"""  # noqa: S608
_VISIBLE = """(not w.restricted or exists (select 1 from accounts_workspace_members m
  where m.workspace_id = w.id and m.user_id = %s))"""
_SAID = """
select turn, body from agent_sessions_sessionevent
where session_id = %s and seq >= %s and seq < %s and type in ('user/message', 'assistant/message')
  and body {like} %s escape '!'
"""
_REMOVED = "select key from agent_sessions_sessionmark where session_id = %s and kind = 'removed'"
CHUNK = 500
"""How many events a search looks at between two looks at the clock."""


def session_page(
    *, by: Caller, filters: Filters, limit: int, now_ms: int, before: Cursor | None = None
) -> tuple[list[dict[str, Any]], Cursor | None]:
    """Return sessions that the caller may see, newest first, and where the next page begins (None: there is none).

    A search stops when its turn in the lane is over, so a page of it may hold less and still have a next one.
    """
    found: list[dict[str, Any]] = []
    turn, cursor = Turn(), before
    while True:
        page = _rows(by=by, filters=filters, limit=limit + 1, now_ms=now_ms, before=cursor)
        for position, (key, row) in enumerate(page):
            if len(found) == limit:
                return found, cursor
            first = cursor.seq if cursor is not None and cursor.key == key else 0
            hit, reached = _search(key, row, words=filters.words, first=first, turn=turn)
            if hit:
                found.append(row)
            cursor = Cursor(created_at_ms=row["created_at_ms"], key=key, seq=reached)
            if reached or (filters.words and turn.over()):
                more = reached or position + 1 < len(page) or len(page) > limit
                return found, cursor if more else None
        if len(page) <= limit:
            return found, None


def listed_session(*, session: Session, now_ms: int) -> dict[str, Any]:
    """Return one session, which the caller may see, as lists show it."""
    sql = f"{_SELECT} where s.id = %s"
    return _named(rows.execute(sql, [now_ms, session.pk]).fetchone())


def _rows(
    *, by: Caller, filters: Filters, limit: int, now_ms: int, before: Cursor | None
) -> list[tuple[str, dict[str, Any]]]:
    where, values = [f"s.profile_id = %s and {_VISIBLE}"], [now_ms, by.profile_id, by.user_id]
    if before is not None:
        where.append(f"(s.created_at_ms, s.id) {'<=' if before.seq else '<'} (%s, %s)")
        values += [before.created_at_ms, before.key]
    if filters.workspace:
        where.append("w.slug = %s")
        values.append(filters.workspace)
    for name in FLAGS:
        wanted = getattr(filters, name)
        if wanted is not None:
            where.append(_AMONG_SQL[name] if wanted else f"not {_FLAG_SQL[name]}")
            values += [by.profile_id] if wanted else []
            values += [now_ms] if name == "live" else []
    # Where few sessions are meant they are sorted, rather than all walked in order: the plus hides the index.
    few = "+" if filters.live or filters.running or filters.pinned else ""
    inner = f"""select s.id as page_id from agent_sessions_session s join accounts_workspace w on w.id = s.workspace_id
      where {" and ".join(where)} order by {few}s.created_at_ms desc, s.id desc limit %s"""  # noqa: S608
    sql = f"{_SELECT} join ({inner}) page on page.page_id = s.id order by s.created_at_ms desc, s.id desc"
    return [(row[0], _named(row)) for row in rows.execute(sql, [*values, limit]).fetchall()]


def _named(row: Any) -> dict[str, Any]:
    split = 1 + len(NAMES)
    plain = dict(zip(NAMES, row[1:split], strict=True))
    flags = {name: bool(value) for name, value in zip(FLAGS, row[split:], strict=True)}
    # Pages print the label; the title and the id themselves are for programs.
    return plain | flags | {"label": visible(plain["title"] or plain["id"])}


def _search(key: str, row: dict[str, Any], *, words: str, first: int, turn: Turn) -> tuple[bool, int]:
    """Tell whether a session has the words, or at which event to go on looking when the turn is over before."""
    folded = words.casefold()
    if not words or (not first and (folded in row["title"].casefold() or folded in row["id"].casefold())):
        return True, 0
    sql = _SAID.format(like="ilike" if connection.vendor == "postgresql" else "like")
    pattern, removed = like_pattern(words), None
    while first < row["events"]:
        for said_in, body in rows.execute(sql, [key, first, first + CHUNK, pattern]).fetchall():
            if says(json.loads(body), words=folded):
                # What was said in a turn that a person removed is not found.
                removed = _removed(key) if removed is None else removed
                if said_in not in removed:
                    return True, 0
        first += CHUNK
        if first < row["events"] and turn.over():
            return False, first
    return False, 0


def _removed(key: str) -> frozenset[int]:
    return frozenset(int(turn) for (turn,) in rows.execute(_REMOVED, [key]).fetchall())
