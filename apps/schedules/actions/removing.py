"""Removing: a schedule, the schedules of a session, old delivery records. Reached through the gate only."""

from __future__ import annotations

from typing import Any

from apps.core import rows
from apps.core.contracts import Call, Preview
from apps.schedules.actions.storing import note_edit, shown_state, tell
from apps.schedules.models import Task
from apps.schedules.queries.previews import task_of_call
from apps.schedules.queries.tasks import lock_session

_OF_TASK = (
    "delete from schedules_delivery where task_id = %s",
    "delete from schedules_receipt where task_id = %s",
    "delete from schedules_taskedit where task_id = %s",
    "delete from schedules_task where id = %s",
)
_HOOK_OF_SESSION = (
    "delete from schedules_webhookcall where webhook_id in (select id from schedules_webhook where session_id = %s)",
    "delete from schedules_webhook where session_id = %s",
)
_PURGE = "delete from schedules_delivery where task_id = %s and hidden"


def delete_schedule(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Remove a schedule with its history; messages that were sent already stay in the inbox."""
    task = task_of_call(call, lock=True).task
    _remove(task)
    tell(profile_ids=(task.profile_id,))
    return {"id": task.ref, "deleted": True}


def purge_deliveries(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Remove the delivery records of a schedule that lie beyond the window of answers; their receipts stay."""
    task = task_of_call(call, lock=True).task
    before = shown_state(task)
    purged = rows.execute(_PURGE, [task.pk]).rowcount
    note_edit(task, action="purged", by=call.by, before=before, after=before, now_ms=call.now_ms)
    return {"id": task.ref, "purged": purged}


def remove_of_session(*, owner_id: str, **_: Any) -> int:
    """Remove every schedule of a session, with the session; returns how many."""
    lock_session(session_id=owner_id)
    found = list(Task.objects.filter(session_id=owner_id))
    for task in found:
        _remove(task)
    for statement in _HOOK_OF_SESSION:
        rows.execute(statement, [owner_id])
    tell(profile_ids=tuple({task.profile_id for task in found}))
    return len(found)


def _remove(task: Task) -> None:
    for statement in _OF_TASK:
        rows.execute(statement, [task.pk])
