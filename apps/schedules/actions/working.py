"""The worker of the webhook queue: woken when a call is due, each call in a thread of its own."""

from __future__ import annotations

import logging
import threading
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django_tasks.base import TaskResultStatus
from django_tasks_db.management.commands.db_worker import Worker
from django_tasks_db.models import DBTaskResult, get_date_max

from apps.core.announce import announce
from apps.schedules.actions.calling import EPOCH, QUEUE

log = logging.getLogger("sayso.webhooks")

CALLS_AT_ONCE = 8
LOST_AFTER_MS = 60_000
"""A call takes much less; one that takes longer was lost with its process."""
KEPT_MS = 86_400_000
"""How long the queue remembers what it did."""

# Not its loop, which looks every second: only its way of running one task and keeping the result.
_worker = Worker(
    queue_names=[QUEUE],
    interval=0,
    batch=True,
    backend_name="default",
    startup_delay=False,
    max_tasks=None,
    worker_id="sayso",
    excluded_queue_names=[],
)
_slots = threading.BoundedSemaphore(CALLS_AT_ONCE)


def start_calls(*, now_ms: int) -> None:
    """Start the calls that are due, as many as may be under way at once; the end of each wakes the timer."""
    _take_back_lost(now_ms=now_ms)
    _forget(now_ms=now_ms)
    while _slots.acquire(blocking=False):
        row = _claimed(now_ms=now_ms)
        if row is None:
            _slots.release()
            return
        threading.Thread(target=_run, args=(row,), name="sayso-webhook", daemon=True).start()


def run_calls(*, now_ms: int) -> int:
    """Make the calls that are due, one after the other, in this very thread; returns how many."""
    count = 0
    while (row := _claimed(now_ms=now_ms)) is not None:
        _worker.run_task(row)
        count += 1
    return count


def next_call_ms() -> int | None:
    """Return when the next call is due; None when there is none, or when the end of another one will wake us."""
    if not _slots.acquire(blocking=False):
        return None
    _slots.release()
    own = DBTaskResult.objects.filter(queue_name=QUEUE).order_by()
    ready = own.filter(status=TaskResultStatus.READY)
    if ready.filter(run_after=get_date_max()).exists():
        return 0
    due = ready.order_by("run_after").values_list("run_after", flat=True).first()
    running = own.filter(status=TaskResultStatus.RUNNING).order_by("started_at")
    since = running.values_list("started_at", flat=True).first()
    found = [_ms(due)] if due is not None else []
    return min([*found, *([_ms(since) + LOST_AFTER_MS] if since is not None else [])], default=None)


def _run(row: DBTaskResult[Any, Any]) -> None:
    try:
        _worker.run_task(row)
    except Exception:
        log.exception("a webhook call could not be kept")
    # Before the announcement: whoever is woken by it must find the place free.
    _slots.release()
    announce("webhook.queued", deadline=0)
    connection.close()


def _claimed(*, now_ms: int) -> DBTaskResult[Any, Any] | None:
    """Take the next call that is due; nobody else gets it."""
    moment = _at(now_ms)
    ready = DBTaskResult.objects.filter(status=TaskResultStatus.READY, queue_name=QUEUE)
    due = ready.filter(Q(run_after=get_date_max()) | Q(run_after__lte=moment)).order_by("enqueued_at")
    with transaction.atomic():
        row = due.select_for_update(skip_locked=True).first()
        if row is not None:
            row.status, row.started_at = TaskResultStatus.RUNNING, moment
            row.worker_ids = [*row.worker_ids, _worker.worker_id]
            row.save(update_fields=["status", "started_at", "worker_ids"])
    return row


def _take_back_lost(*, now_ms: int) -> None:
    own = DBTaskResult.objects.filter(queue_name=QUEUE, status=TaskResultStatus.RUNNING)
    own.filter(started_at__lte=_at(now_ms - LOST_AFTER_MS)).update(status=TaskResultStatus.READY)


def _forget(*, now_ms: int) -> None:
    ended = (TaskResultStatus.SUCCESSFUL, TaskResultStatus.FAILED)
    old = DBTaskResult.objects.filter(queue_name=QUEUE, status__in=ended, started_at__lte=_at(now_ms - KEPT_MS))
    old.delete()


def _at(moment_ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=moment_ms)


def _ms(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)
