"""How schedules are shown: the view of one, and the order of all."""

from __future__ import annotations

from collections.abc import Iterable

from apps.schedules.rules.kinds import Record
from apps.schedules.rules.records import record_json
from apps.schedules.rules.tasks import Task, receipt_json

SCHEDULED = "scheduled"
OVERDUE = "overdue"
DELIVERY_MODE = "host"


def state_of(*, scheduled_ms: int, now_ms: int) -> str:
    """Return whether the target lies ahead."""
    return OVERDUE if now_ms >= scheduled_ms else SCHEDULED


def view_json(record: Record, *, now_ms: int) -> dict[str, object]:
    """Return a record with its state, as callers get it."""
    state = state_of(scheduled_ms=record.scheduled_ms, now_ms=now_ms)
    return {**record_json(record), "state": state, "deliveryMode": DELIVERY_MODE}


def catalog_json(tasks: Iterable[Task]) -> list[dict[str, object]]:
    """Return the tasks of all sessions by target and then by id, without their histories."""
    ordered = sorted(tasks, key=lambda task: (task.record.scheduled_ms, task.record.id))
    return [_entry(task) for task in ordered]


def _entry(task: Task) -> dict[str, object]:
    last = {} if task.last_delivery is None else {"lastDelivery": receipt_json(task.last_delivery)}
    return {**record_json(task.record), "sessionId": task.session_id, "status": task.status, **last}
