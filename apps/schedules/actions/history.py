"""What is kept of a delivery: the record that answers show, the receipt, and the window beyond which records hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from apps.core import rows
from apps.schedules.models import Task
from apps.schedules.rules.history import Retention
from apps.schedules.rules.messages import SCHEDULED, SENT
from apps.schedules.rules.values import DAY_MS

_DELIVERY = (
    "insert into schedules_delivery (task_id, origin, outcome, occurrence_ms, delivered_ms, message_id, title, prompt,"
    ' missed, hidden, "by") values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)'
)
_RECEIPT = (
    "insert into schedules_receipt (task_id, origin, occurrence_ms, delivered_ms, message_id)"
    " values (%s, %s, %s, %s, %s)"
)
_HIDE_OLD = "update schedules_delivery set hidden = %s where task_id = %s and not hidden and delivered_ms < %s"
_HIDE_MANY = (
    "update schedules_delivery set hidden = %s where task_id = %s and not hidden and outcome = 'sent' and id in"
    " (select id from schedules_delivery where task_id = %s and not hidden and outcome = 'sent' order by id limit %s)"
)
_SHOWN = (
    "select count(*), min(delivered_ms) from schedules_delivery where task_id = %s and not hidden and outcome = 'sent'"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """One line of a task's history; only what was sent has a message."""

    task: Task
    outcome: str
    occurrence_ms: int
    message_id: str = ""
    missed: int = 0
    origin: str = SCHEDULED
    by: str = ""


def retention() -> Retention:
    """Return how long and how many delivery records answers show."""
    return Retention(days=settings.SAYSO_DELIVERY_HISTORY_DAYS, records=settings.SAYSO_DELIVERY_HISTORY_RECORDS)


def write_history(lines: Sequence[Written], *, delivered_ms: int) -> None:
    """Write lines with the receipts of what was sent, and set the columns of their tasks that are about deliveries.

    The tasks' rows are written by the caller. Hiding is judged at this very append, never at a read.
    """
    window = retention()
    rows.execute_many(
        _DELIVERY,
        [
            (
                line.task.id,
                line.origin,
                line.outcome,
                line.occurrence_ms,
                delivered_ms,
                line.message_id,
                line.task.title,
                line.task.prompt,
                line.missed,
                False,
                line.by,
            )
            for line in lines
        ],
    )
    sent = [line for line in lines if line.outcome == SENT]
    rows.execute_many(
        _RECEIPT,
        [(line.task.id, line.origin, line.occurrence_ms, delivered_ms, line.message_id) for line in sent],
    )
    for line in sent:
        task = line.task
        task.last_scheduled_ms, task.last_delivered_ms = line.occurrence_ms, delivered_ms
        task.last_message = line.message_id
        if line.origin == SCHEDULED:
            task.newest_ms = max(line.occurrence_ms, task.newest_ms or line.occurrence_ms)
        task.shown += 1
        task.oldest_ms = delivered_ms if task.oldest_ms is None else min(task.oldest_ms, delivered_ms)
    for task in {line.task.id: line.task for line in sent}.values():
        _hide_beyond(task, window=window, delivered_ms=delivered_ms)


def _hide_beyond(task: Task, *, window: Retention, delivered_ms: int) -> None:
    cutoff_ms = delivered_ms - window.days * DAY_MS
    if task.shown <= window.records and task.oldest_ms is not None and task.oldest_ms >= cutoff_ms:
        return
    rows.execute(_HIDE_OLD, [True, task.id, cutoff_ms])
    count, _ = rows.execute(_SHOWN, [task.id]).fetchone()
    if count > window.records:
        rows.execute(_HIDE_MANY, [True, task.id, task.id, count - window.records])
    task.shown, task.oldest_ms = rows.execute(_SHOWN, [task.id]).fetchone()
    task.earlier_unavailable = task.earlier_pruned = True
