"""What a person or an agent does with the next run: now, or not at all."""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction

from apps.accounts.rules import Caller
from apps.core import rows
from apps.schedules.actions.history import Written, write_history
from apps.schedules.actions.hooking import call_webhooks
from apps.schedules.actions.storing import note_edit, shown_state, write_state
from apps.schedules.models import Task
from apps.schedules.queries.tasks import Held, find_task, options_of, record_of
from apps.schedules.rules.errors import ScheduleEnded
from apps.schedules.rules.kinds import ACTIVE
from apps.schedules.rules.messages import MANUAL, SENT, SKIPPED, SOURCE, Entry, Message, form_of
from apps.schedules.rules.outcomes import skipped
from apps.sessions.actions.inbox import put_message

_DELIVERED = ("last_scheduled_ms", "last_delivered_ms", "last_message", "shown", "oldest_ms")
_FLAGS = ("earlier_unavailable", "earlier_pruned")
_TAKEN = (
    "select max(occurrence_ms) from schedules_receipt where task_id = %s and origin = 'manual' and occurrence_ms >= %s"
)


def run_now(*, by: Caller, session_ref: str, ref: str, read_ms: Callable[[], int]) -> tuple[Held, str]:
    """Deliver a schedule at once, beside its rule: the record stays as it is. Returns the id of the message too."""
    with transaction.atomic():
        held = _active(by=by, session_ref=session_ref, ref=ref)
        task, now_ms = held.task, read_ms()
        before = shown_state(task)
        occurrence_ms = _free_instant(task, at_ms=now_ms)
        record = record_of(task)
        message = Message(form=form_of(record), entries=(Entry(record=record, occurrence_ms=occurrence_ms, missed=0),))
        payload = message.payload(delivered_ms=now_ms, origin=MANUAL)
        stored = put_message(session=held.session, source=SOURCE, payload=payload, now_ms=now_ms)
        line = Written(
            task=task, outcome=SENT, occurrence_ms=occurrence_ms, message_id=stored.pk, origin=MANUAL, by=by.ref
        )
        write_history([line], delivered_ms=now_ms)
        write_state(task, names=(*_DELIVERED, *_FLAGS))
        call_webhooks(messages=[stored], now_ms=now_ms)
        note_edit(task, action="run", by=by.ref, before=before, after=shown_state(task), now_ms=now_ms)
    return held, stored.pk


def skip_next(*, by: Caller, session_ref: str, ref: str, read_ms: Callable[[], int]) -> Held:
    """Pass over the next occurrence without a message; it is kept in the history as skipped."""
    with transaction.atomic():
        held = _active(by=by, session_ref=session_ref, ref=ref)
        task, now_ms = held.task, read_ms()
        before = shown_state(task)
        outcome = skipped(record_of(task), options=options_of(task), now_ms=now_ms)
        missed = outcome.missed
        line = Written(task=task, outcome=SKIPPED, occurrence_ms=outcome.settled_ms, missed=missed, by=by.ref)
        write_history([line], delivered_ms=now_ms)
        task.scheduled_ms, task.status = outcome.record.scheduled_ms, outcome.status
        task.missed_total += missed
        task.failures, task.retry_ms, task.problem = 0, None, ""
        write_state(task, names=("scheduled_ms", "missed_total"))
        note_edit(task, action="skipped", by=by.ref, before=before, after=shown_state(task), now_ms=now_ms)
    return held


def _active(*, by: Caller, session_ref: str, ref: str) -> Held:
    held = find_task(by=by, session_ref=session_ref, ref=ref, lock=True)
    if held.task.status != ACTIVE:
        raise ScheduleEnded(id=ref)
    return held


def _free_instant(task: Task, *, at_ms: int) -> int:
    """Return the instant under which a run by hand is kept; two within a millisecond are two."""
    taken = rows.execute(_TAKEN, [task.pk, at_ms]).fetchone()[0]
    return at_ms if taken is None else int(taken) + 1
