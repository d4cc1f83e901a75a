"""When the dispatcher has work, and for which sessions."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from apps.core import rows
from apps.schedules.models import Task
from apps.schedules.rules.passes import LONGEST_RETRY_MS

SESSIONS_AT_ONCE = 512
TASKS_AT_ONCE = 1_000
_NEXT = "select min(wake_ms) from schedules_task where wake_ms is not null"
_LATE = (
    "select session_id from schedules_task where wake_ms is not null and wake_ms <= %s{apart}"
    " order by wake_ms, place limit {limit}"
)
_LOCK = "select id from agent_sessions_session where id in ({marks}) order by id for update skip locked"


def next_wake_ms() -> int | None:
    """Return when the next task wants to be looked at, or None when nothing waits."""
    found = rows.execute(_NEXT).fetchone()[0]
    return None if found is None else int(found)


def longest_retry_ms(*, now_ms: int) -> int:
    """Return after which instant a back-off is one that a clock set back has made too long."""
    return now_ms + 2 * LONGEST_RETRY_MS


def claimed_sessions(*, now_ms: int, apart: Sequence[str]) -> tuple[list[str], list[str]]:
    """Lock the sessions whose tasks have waited longest, and return their ids, and those that others hold.

    `apart` are sessions to leave out. Another dispatcher, or a host that appends, keeps its sessions: nobody waits.
    """
    marks = ", ".join(["%s"] * len(apart))
    sql = _LATE.format(apart=f" and session_id not in ({marks})" if apart else "", limit=SESSIONS_AT_ONCE)
    found = list(dict.fromkeys(row[0] for row in rows.execute(sql, [now_ms, *apart]).fetchall()))
    if not found or connection.vendor != "postgresql":
        return found, []
    lock = _LOCK.format(marks=", ".join(["%s"] * len(found)))
    held = {row[0] for row in rows.execute(lock, found).fetchall()}
    return [one for one in found if one in held], [one for one in found if one not in held]


def hold_session(*, session_id: str) -> bool:
    """Lock a session unless somebody else holds it; tells whether it is held."""
    if connection.vendor != "postgresql":
        return True
    return rows.execute(_LOCK.format(marks="%s"), [session_id]).fetchone() is not None


def due_tasks(*, session_ids: Sequence[str], now_ms: int) -> list[Task]:
    """Return the due tasks of sessions that this transaction holds, in storage order."""
    marks = ", ".join(["%s"] * len(session_ids))
    due = f"session_id in ({marks}) and wake_ms is not null and wake_ms <= %s"
    return rows.fetch_all(Task, f"{due} order by place, id limit {TASKS_AT_ONCE}", [*session_ids, now_ms])


def delivered_before(*, wanted: Sequence[tuple[str, int]]) -> dict[str, frozenset[int]]:
    """Return which of the wanted (task, occurrence) pairs have a receipt, by task."""
    found: dict[str, set[int]] = {}
    sql = (
        "select occurrence_ms from schedules_receipt"
        " where task_id = %s and origin = 'scheduled' and occurrence_ms >= %s"
    )
    for task_id, oldest in wanted:
        found[task_id] = {row[0] for row in rows.execute(sql, [task_id, oldest]).fetchall()}
    return {task_id: frozenset(instants) for task_id, instants in found.items()}
