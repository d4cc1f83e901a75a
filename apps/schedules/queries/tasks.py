"""Finding tasks, and reading rows as the rules know them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import connection

from apps.accounts.rules import Caller
from apps.core import rows
from apps.core.text import storable
from apps.schedules.models import Task
from apps.schedules.rules.errors import CorruptScheduleLog, ScheduleNotFound
from apps.schedules.rules.history import Receipt
from apps.schedules.rules.kinds import TITLE_LENGTH, Record, Rule
from apps.schedules.rules.listing import catalog_json, state_of
from apps.schedules.rules.options import Options, options_json
from apps.schedules.rules.records import read_record, record_json
from apps.schedules.rules.tasks import Task as TaskValue
from apps.schedules.rules.tasks import receipt_json
from apps.schedules.rules.values import format_instant, in_range, is_trimmed, utf16_length
from apps.sessions.models import Session
from apps.sessions.queries import session_of
from apps.sessions.rules import SessionNotFound

CATALOG_PAGE = 1_000
_CATALOG = """select {columns}, s.ref from schedules_task t
 join agent_sessions_session s on s.id = t.session_id
 join accounts_workspace w on w.id = s.workspace_id
 where t.profile_id = %s and (not w.restricted or exists (
   select 1 from accounts_workspace_members m where m.workspace_id = w.id and m.user_id = %s)){more}
 order by t.scheduled_ms, t.ref limit %s"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A task with the session that it belongs to."""

    session: Session
    task: Task


def find_task(*, by: Caller, session_ref: str, ref: str, lock: bool = False) -> Held:
    """Return a task of a session that the caller may see; raises ScheduleNotFound.

    With `lock` the session is locked first: it orders everything that happens to its schedules.
    """
    try:
        session = session_of(by=by, ref=session_ref) if storable(session_ref) else None
    except SessionNotFound:
        session = None
    if session is None or not storable(ref):
        raise ScheduleNotFound
    return held_task(session=session, ref=ref, lock=lock)


def held_task(*, session: Session, ref: str, lock: bool = False) -> Held:
    """Return a task of a session; raises ScheduleNotFound."""
    if lock:
        lock_session(session_id=session.pk)
    task = rows.fetch(Task, "ref = %s and session_id = %s", [ref, session.pk], lock=lock)
    if task is None:
        raise ScheduleNotFound
    return Held(session=session, task=task)


def lock_session(*, session_id: str) -> None:
    """Let nobody else deliver to a session, or change its schedules, until this transaction ends."""
    if connection.vendor == "postgresql":
        rows.execute("select id from agent_sessions_session where id = %s for update", [session_id])


def record_of(task: Task) -> Record:
    """Return the record of a row; raises CorruptScheduleLog for one that was not written by this program."""
    rule = _rule_of(task.kind, task.rule)
    if not (is_trimmed(task.title) and utf16_length(task.title) <= TITLE_LENGTH):
        raise CorruptScheduleLog("A stored schedule has a title that cannot be used", field="title")
    if not is_trimmed(task.prompt):
        raise CorruptScheduleLog("A stored schedule has a prompt that cannot be used", field="prompt")
    if not is_trimmed(task.ref) or not in_range(task.scheduled_ms):
        raise CorruptScheduleLog("A stored schedule has an id or a scheduledAt that cannot be used")
    return Record(id=task.ref, title=task.title, prompt=task.prompt, rule=rule, scheduled_ms=task.scheduled_ms)


@lru_cache(maxsize=16_384)
def _rule_of(kind: str, rule: str) -> Rule:
    """Return the rule of stored JSON, read as strictly as a whole record; most tasks share theirs with others."""
    try:
        members = json.loads(rule)
    except ValueError:
        members = None
    if not isinstance(members, dict):
        raise CorruptScheduleLog("A stored schedule has a rule that cannot be read", field="rule")
    common = {"id": "t", "kind": kind, "title": "T", "prompt": "P", "scheduledAt": format_instant(0)}
    if common.keys() & members.keys():
        raise CorruptScheduleLog("A stored schedule has a set of members that cannot be used", field="rule")
    return read_record({**common, **members}).rule


def options_of(task: Task) -> Options:
    """Return what a task was told beside its record."""
    return Options(
        missed=task.missed,
        grace_s=task.grace_s,
        until_ms=task.until_ms,
        max_runs=task.max_runs,
        paused=task.paused,
    )


def last_delivery_of(task: Task) -> Receipt | None:
    """Return the receipt of the latest delivery, or None."""
    if task.last_scheduled_ms is None or task.last_delivered_ms is None:
        return None
    return Receipt(
        scheduled_ms=task.last_scheduled_ms, delivered_ms=task.last_delivered_ms, message_id=task.last_message
    )


def tasks_of_session(*, session: Session, active_only: bool = True) -> list[Task]:
    """Return the tasks of a session in storage order."""
    found = Task.objects.filter(session=session)
    return list(found.filter(status="active") if active_only else found)


def beside(task: Task, *, now_ms: int) -> dict[str, Any]:
    """Return what is told of a task beside its record."""
    facts: dict[str, Any] = {
        "options": options_json(options_of(task)),
        "state": state_of(scheduled_ms=task.scheduled_ms, now_ms=now_ms),
        "runs": task.runs,
        "missed": task.missed_total,
        "undelivered": None,
        "quarantined": task.quarantined or None,
        "version": task.version,
    }
    if task.failures:
        retry = None if task.retry_ms is None else format_instant(task.retry_ms)
        facts["undelivered"] = {"failures": task.failures, "reason": task.problem, "retryAt": retry}
    return facts


def whole_body(held: Held, *, now_ms: int) -> dict[str, Any]:
    """Return one task: its record, and everything else beside it."""
    task = held.task
    last = last_delivery_of(task)
    return {
        "record": record_or_none(task),
        "sessionId": held.session.ref,
        "status": task.status,
        **({} if last is None else {"lastDelivery": receipt_json(last)}),
        **beside(task, now_ms=now_ms),
    }


def record_or_none(task: Task) -> dict[str, Any] | None:
    """Return the record's JSON, None for a row that cannot be read."""
    try:
        return record_json(record_of(task))
    except CorruptScheduleLog:
        return None


def session_body(*, session: Session, now_ms: int) -> dict[str, Any]:
    """Return the active schedules of a session in storage order, and by their ids what is told beside them."""
    schedules: list[dict[str, Any]] = []
    facts: dict[str, Any] = {}
    for task in tasks_of_session(session=session):
        record = record_or_none(task)
        if record is not None:
            schedules.append(record)
        facts[task.ref] = beside(task, now_ms=now_ms)
    return {"schedules": schedules, "beside": facts}


def catalog_body(*, by: Caller, now_ms: int, query: Mapping[str, Any]) -> dict[str, Any]:
    """Return all tasks that the caller may see by target and id; `query` may have status, undelivered and after."""
    more, values = _conditions(query)
    sql = _CATALOG.format(columns=_columns(), more=more)
    found = rows.execute(sql, [by.profile_id, by.user_id, *values, CATALOG_PAGE + 1]).fetchall()
    entries: list[dict[str, Any]] = []
    facts: dict[str, Any] = {}
    page = found[:CATALOG_PAGE]
    for columns in page:
        task, session_ref = _task_from(columns[:-1]), columns[-1]
        facts[task.ref] = {"sessionId": session_ref, "title": task.title, **beside(task, now_ms=now_ms)}
        try:
            value = TaskValue(
                session_id=session_ref,
                record=record_of(task),
                status=task.status,
                last_delivery=last_delivery_of(task),
            )
        except CorruptScheduleLog:
            continue
        entries += catalog_json([value])
    last = _task_from(page[-1][:-1]) if len(found) > CATALOG_PAGE else None
    following = None if last is None else f"{last.scheduled_ms}.{last.ref}"
    return {"schedules": entries, "beside": facts, "next": following}


def _conditions(query: Mapping[str, Any]) -> tuple[str, list[Any]]:
    more, values = "", []
    if query.get("status") in ("active", "inactive"):
        more += " and t.status = %s"
        values.append(query["status"])
    if query.get("undelivered"):
        more += " and (t.failures > 0 or t.quarantined <> '')"
    at, _, ref = str(query.get("after") or "").partition(".")
    if ref and storable(ref) and at.lstrip("-").isascii() and at.lstrip("-").isdecimal() and len(at) < 18:
        more += " and (t.scheduled_ms, t.ref) > (%s, %s)"
        values += [int(at), ref]
    return more, values


def _columns() -> str:
    return ", ".join(f't."{field.column}"' for field in Task._meta.concrete_fields)


def _task_from(columns: tuple[Any, ...]) -> Task:
    names = [field.attname for field in Task._meta.concrete_fields]
    return rows.bare(Task, dict(zip(names, columns, strict=True)))
