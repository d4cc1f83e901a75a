"""Creating and changing schedules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction

from apps.accounts.rules import Caller
from apps.core.errors import SaysoError
from apps.schedules.actions.storing import insert_task, new_ref, note_edit, shown_state, write_record
from apps.schedules.models import Task
from apps.schedules.queries.tasks import Held, find_task, lock_session, options_of, record_of
from apps.schedules.rules.errors import InvalidSelector, ScheduleEnded
from apps.schedules.rules.kinds import ACTIVE, Record
from apps.schedules.rules.options import Options, check_options, read_options
from apps.schedules.rules.requests import new_record
from apps.schedules.rules.updates import Update, update_record
from apps.sessions.queries import session_of

CHANGING = ("title", "prompt", "change")


def create_schedule(*, by: Caller, session_ref: str, request: Mapping[str, Any], now_ms: int, ref: str = "") -> Held:
    """Make a schedule; `now_ms` is the time of the request, sampled before anything waits."""
    session = session_of(by=by, ref=session_ref)
    record = new_record(request, record_id=ref or new_ref(), now_ms=now_ms)
    options = read_options(request["options"]) if "options" in request else Options()
    check_options(options, record=record, runs=0)
    with transaction.atomic():
        lock_session(session_id=session.pk)
        task = insert_task(session=session, record=record, options=options, now_ms=now_ms)
        note_edit(task, action="created", by=by.ref, before=None, after=shown_state(task), now_ms=now_ms)
    return Held(session=session, task=task)


def update_schedule(
    *, by: Caller, session_ref: str, ref: str, request: Mapping[str, Any], read_ms: Callable[[], int]
) -> tuple[Held, bool]:
    """Change a schedule and tell whether anything changed; the clock is read once the session's turn has come.

    Without title, prompt and change only the options are changed, and `expected` may be absent.
    """
    with transaction.atomic():
        held = find_task(by=by, session_ref=session_ref, ref=ref, lock=True)
        task, now_ms = held.task, read_ms()
        before, record, options = shown_state(task), record_of(task), options_of(task)
        try:
            update = _updated(record, task=task, request=request, now_ms=now_ms)
            wanted = read_options(request["options"], base=options) if "options" in request else options
            if wanted != options or update.updated:
                check_options(wanted, record=update.record, runs=task.runs)
        except SaysoError as error:
            if error.own_code in ("schedule_ended", "schedule_conflict"):
                error.extra |= {"id": ref, "updated": False}
            raise
        changed = update.updated or wanted != options
        if changed:
            write_record(task, record=update.record, options=wanted)
            action = _action(wanted, base=options, updated=update.updated)
            note_edit(task, action=action, by=by.ref, before=before, after=shown_state(task), now_ms=now_ms)
    return held, changed


def _updated(record: Record, *, task: Task, request: Mapping[str, Any], now_ms: int) -> Update:
    if "expected" in request or any(name in request for name in CHANGING):
        return update_record(record, status=task.status, request=request, now_ms=now_ms)
    if task.status != ACTIVE:
        raise ScheduleEnded
    if "options" not in request:
        raise InvalidSelector("There is nothing to change")
    return Update(record=record, updated=False)


def _action(wanted: Options, *, base: Options, updated: bool) -> str:
    if wanted.paused != base.paused and not updated:
        return "paused" if wanted.paused else "resumed"
    return "updated"
