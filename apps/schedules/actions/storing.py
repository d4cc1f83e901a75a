"""Writing tasks: the columns of a record, when it wakes, and what is noted of an edit."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from apps.core import rows
from apps.core.announce import announce
from apps.core.values import canonical_json, digest_of, new_id
from apps.ledger import actions as ledger
from apps.schedules.models import Task, TaskEdit
from apps.schedules.queries.tasks import options_of, record_or_none
from apps.schedules.rules.kinds import ACTIVE, Record
from apps.schedules.rules.options import Options, options_json
from apps.schedules.rules.records import rule_json
from apps.sessions.models import Session

ID_PREFIX = "schedule-"
RECORD_COLUMNS = ("kind", "title", "prompt", "rule", "scheduled_ms")
OPTION_COLUMNS = ("missed", "grace_s", "until_ms", "max_runs", "paused")
STATE_COLUMNS = ("status", "failures", "retry_ms", "problem", "wake_ms", "version")
_PLACE = "select coalesce(max(place), 0) + 1 from schedules_task"


def new_ref() -> str:
    """Return the id of a new schedule."""
    return f"{ID_PREFIX}{uuid.uuid4()}"


def insert_task(*, session: Session, record: Record, options: Options, now_ms: int) -> Task:
    """Store a new task of a session that this transaction holds."""
    task = rows.fresh(
        Task,
        id=new_id(),
        profile_id=session.profile_id,
        session_id=session.pk,
        created_at_ms=now_ms,
        ref=record.id,
        place=rows.execute(_PLACE).fetchone()[0],
        **_record_columns(record),
        **_option_columns(options),
    )
    settle_wake(task)
    rows.insert(task)
    return task


def write_record(task: Task, *, record: Record, options: Options) -> None:
    """Write what an edit changed, and look at the task anew: what failed before may succeed now."""
    for name, value in (_record_columns(record) | _option_columns(options)).items():
        setattr(task, name, value)
    task.failures, task.retry_ms, task.problem = 0, None, ""
    write_state(task, names=(*RECORD_COLUMNS, *OPTION_COLUMNS))


def write_state(task: Task, *, names: tuple[str, ...] = ()) -> None:
    """Write the named columns with what says whether and when the task runs."""
    task.version += 1
    settle_wake(task)
    rows.update(task, (*names, *STATE_COLUMNS))


def settle_wake(task: Task) -> None:
    """Set when the dispatcher looks at a task: at its target, later after a failure, never when it rests."""
    if task.status != ACTIVE or task.paused or task.quarantined:
        task.wake_ms = None
    else:
        task.wake_ms = max(task.scheduled_ms, task.retry_ms or task.scheduled_ms)


def _record_columns(record: Record) -> dict[str, Any]:
    return {
        "kind": record.kind,
        "title": record.title,
        "prompt": record.prompt,
        "rule": canonical_json(rule_json(record.rule)),
        "scheduled_ms": record.scheduled_ms,
    }


def _option_columns(options: Options) -> dict[str, Any]:
    return {name: getattr(options, name) for name in OPTION_COLUMNS}


def shown_state(task: Task) -> dict[str, Any]:
    """Return what an edit is about: the record, its options and its status."""
    return {
        "record": record_or_none(task),
        "options": options_json(options_of(task)),
        "status": task.status,
    }


def note_edit(
    task: Task, *, action: str, by: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, now_ms: int
) -> None:
    """Keep what an edit was, with before and after, and append the ledger's row; the last step of a transaction."""
    TaskEdit.objects.create(
        task=task,
        action=action,
        by=by,
        at_ms=now_ms,
        before="" if before is None else canonical_json(before),
        after="" if after is None else canonical_json(after),
    )
    tell(profile_ids=(task.profile_id,), wake_ms=task.wake_ms)
    ledger.append(
        profile_id=task.profile_id,
        actor=by,
        action=f"schedules.{action}",
        target=f"schedule:{task.ref}",
        effect=digest_of(after) if after is not None else "",
        digest=digest_of(before) if before is not None else "",
        ids={"session": task.session_id},
        now_ms=now_ms,
    )


def tell(*, profile_ids: tuple[str, ...], wake_ms: int | None = None) -> None:
    """Announce, without any contents, that schedules of profiles changed; a dispatcher may have to wake earlier."""
    for number, profile_id in enumerate(profile_ids):
        deadline = wake_ms if number == 0 else None
        announce("schedule.changed", keys=(f"schedules:{profile_id}",), profile=profile_id, deadline=deadline)
