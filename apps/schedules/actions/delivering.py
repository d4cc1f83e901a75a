"""Delivering what is due: inbox message, delivery, receipt and the task's advance in one transaction."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from apps.core import rows
from apps.core.failpoints import reach
from apps.core.threads import Turn
from apps.core.timers import MORE
from apps.schedules.actions.history import Written, write_history
from apps.schedules.actions.hooking import call_webhooks
from apps.schedules.actions.storing import settle_wake, tell
from apps.schedules.models import Task
from apps.schedules.queries.due import (
    claimed_sessions,
    delivered_before,
    due_tasks,
    hold_session,
    longest_retry_ms,
    next_wake_ms,
)
from apps.schedules.queries.tasks import options_of, record_of
from apps.schedules.rules.errors import CorruptScheduleLog
from apps.schedules.rules.kinds import ACTIVE, After, At
from apps.schedules.rules.messages import (
    DROPPED,
    REPEATED,
    SENT,
    SOURCE,
    Decided,
    Message,
    messages_of,
    without_repeats,
)
from apps.schedules.rules.outcomes import outcome_of
from apps.schedules.rules.passes import Waiting, admitted, due_groups, retry_delay_ms
from apps.sessions.actions.inbox import Draft, put_messages

log = logging.getLogger("sayso.schedules")

ALONE_AFTER = 3
"""After so many failures in a row the members of a group go alone, so that the bad one is found."""
_FORGET_RETRIES = (
    "update schedules_task set retry_ms = null, wake_ms = scheduled_ms"
    " where retry_ms is not null and retry_ms > %s and wake_ms is not null"
)
_ADVANCED = (
    *("scheduled_ms", "status", "runs", "missed_total", "last_scheduled_ms", "last_delivered_ms", "last_message"),
    *("newest_ms", "shown", "oldest_ms", "earlier_unavailable", "earlier_pruned"),
    *("failures", "retry_ms", "problem", "quarantined", "wake_ms", "version"),
)
_FAILED = ("failures", "retry_ms", "problem", "quarantined", "wake_ms", "version")
ReadClock = Callable[[], int]


@dataclass(kw_only=True, slots=True)
class Pass:
    """What one job of the lane does: the clock, the jitter of back-offs, and who was delivered to."""

    read_ms: ReadClock
    jitter: Callable[[], float]
    delivered: int = 0
    failed: int = 0
    apart: list[str] = field(default_factory=list)
    """Sessions that somebody else holds at this moment, or of which not even a failure can be noted."""
    decision_ms: int | None = None
    """When the latest decision was made; earlier than the scan if the clock was set back meanwhile."""
    broken: Exception | None = None


def deliver_due(*, scan_ms: int, read_ms: ReadClock, jitter: Callable[[], float]) -> str | None:
    """Deliver what is due, session by session, for one turn of the lane; returns `MORE` when something is left."""
    turn, work = Turn(), Pass(read_ms=read_ms, jitter=jitter)
    # After a clock was set back, what waits for a second try must not wait for the old time to come again.
    rows.execute(_FORGET_RETRIES, [longest_retry_ms(now_ms=scan_ms)])
    while deliver_chunk(work, scan_ms=scan_ms):
        if work.decision_ms is not None:
            scan_ms = min(scan_ms, work.decision_ms)
        if turn.over() and work.broken is None:
            break
    if work.broken is not None:
        # Everybody else has been served; the timer comes back to these after a while.
        raise work.broken
    due = next_wake_ms() if turn.over() else None
    return MORE if due is not None and due <= scan_ms else None


def deliver_chunk(work: Pass, *, scan_ms: int) -> bool:
    """Deliver to the sessions that have waited longest; tells whether there may be others."""
    groups: list[tuple[Task, ...]] = []
    try:
        with transaction.atomic():
            session_ids, held = claimed_sessions(now_ms=scan_ms, apart=work.apart)
            work.apart += held
            if not session_ids:
                return bool(held)
            groups = groups_of(due_tasks(session_ids=session_ids, now_ms=scan_ms), scan_ms=scan_ms)
            reach("deliver.claimed")
            _deliver(groups, work=work)
            reach("deliver.before_commit")
    except Exception as error:
        if not groups:
            raise
        log.debug("a common delivery failed, each group goes alone", exc_info=error)
        for group in groups:
            deliver_alone(work, session_id=group[0].session_id, task_ids=[task.id for task in group], scan_ms=scan_ms)
    reach("deliver.after_commit")
    return True


def groups_of(tasks: Sequence[Task], *, scan_ms: int) -> list[tuple[Task, ...]]:
    """Return due tasks in the groups in which they share a message, in storage order."""
    by_id = {task.id: task for task in tasks}
    waiting = [
        Waiting(
            task_id=task.id,
            session_id=task.session_id,
            recurs=task.kind not in (After.kind, At.kind) and task.failures < ALONE_AFTER,
            scheduled_ms=task.scheduled_ms,
            retry_ms=task.retry_ms,
        )
        for task in tasks
    ]
    return [tuple(by_id[one.task_id] for one in group) for group in due_groups(waiting, scan_ms=scan_ms)]


def deliver_alone(work: Pass, *, session_id: str, task_ids: Sequence[str], scan_ms: int) -> None:
    """Deliver one group in a transaction of its own; a failure is noted at its tasks and holds up nobody else."""
    wanted = set(task_ids)
    try:
        with transaction.atomic():
            if not hold_session(session_id=session_id):
                return
            found = [task for task in due_tasks(session_ids=[session_id], now_ms=scan_ms) if task.id in wanted]
            if found:
                _deliver([tuple(found)], work=work)
    except Exception as error:  # noqa: BLE001 (whatever it is, the others must go on)
        log.warning("a delivery failed and is tried again: %s", error)
        reason = f"{type(error).__name__}: {error}"
        try:
            note_failure(work, task_ids=task_ids, reason=reason, scan_ms=scan_ms)
        except Exception as second:  # noqa: BLE001 (see above)
            work.apart.append(session_id)
            work.broken = second


def note_failure(work: Pass, *, task_ids: Sequence[str], reason: str, scan_ms: int) -> None:
    """Keep why a delivery failed and when it is tried again."""
    now_ms = work.read_ms()
    with transaction.atomic():
        failed = []
        for task_id in task_ids:
            task = rows.fetch(Task, "id = %s and wake_ms <= %s", [task_id, scan_ms], lock=True)
            if task is None:
                continue
            task.failures += 1
            task.problem = reason[:500]
            task.retry_ms = now_ms + retry_delay_ms(failures=task.failures, jitter=work.jitter())
            task.version += 1
            settle_wake(task)
            failed.append(task)
        rows.update_all(Task, failed, _FAILED)
        work.failed += len(failed)
        _tell(failed)


def _deliver(groups: Sequence[tuple[Task, ...]], *, work: Pass) -> None:
    """Write everything about some groups; the transaction around is theirs alone."""
    decision_ms = work.decision_ms = work.read_ms()
    decided = [_decide(group, decision_ms=decision_ms) for group in groups]
    _drop_repeats([one for group in decided for one in group])
    letters: list[tuple[Message, tuple[Decision, ...]]] = [
        (message, group)
        for group in decided
        for message in messages_of([one.decided for one in group if one.decided is not None])
    ]
    delivered_ms = work.read_ms()
    drafts = [
        Draft(
            session_id=group[0].task.session_id,
            profile_id=group[0].task.profile_id,
            source=SOURCE,
            payload=message.payload(delivered_ms=delivered_ms),
        )
        for message, group in letters
    ]
    stored = put_messages(drafts=drafts, now_ms=delivered_ms) if drafts else []
    reach("deliver.messages_written")
    written: list[Written] = []
    for (message, group), row in zip(letters, stored, strict=True):
        by_ref = {one.task.ref: one.task for one in group}
        written += [
            Written(
                task=by_ref[entry.record.id],
                outcome=SENT,
                occurrence_ms=entry.occurrence_ms,
                message_id=row.pk,
                missed=entry.missed,
            )
            for entry in message.entries
        ]
    everyone = [one for group in decided for one in group]
    written += [line for one in everyone for line in _unsent(one)]
    write_history(written, delivered_ms=delivered_ms)
    for one in everyone:
        _advance(one)
    rows.update_all(Task, [one.task for one in everyone], _ADVANCED)
    call_webhooks(messages=stored, now_ms=delivered_ms)
    work.delivered += len(everyone)
    _tell([one.task for one in everyone])


@dataclass(kw_only=True, slots=True)
class Decision:
    """A due task with what becomes of it; without `decided` its row cannot be read."""

    task: Task
    decided: Decided | None
    repeated: tuple[int, ...] = ()


def _decide(group: Sequence[Task], *, decision_ms: int) -> tuple[Decision, ...]:
    """Decide the members of a group that are still due; a clock set back leaves the others alone."""
    waiting = [
        Waiting(task_id=task.id, session_id=task.session_id, recurs=True, scheduled_ms=task.scheduled_ms)
        for task in group
    ]
    still = {one.task_id for one in admitted(waiting, decision_ms=decision_ms)}
    found = []
    for task in group:
        if task.id not in still:
            continue
        try:
            record = record_of(task)
            outcome = outcome_of(record, options=options_of(task), runs=task.runs, accepted_ms=decision_ms)
        except CorruptScheduleLog as error:
            task.quarantined = error.message
            found.append(Decision(task=task, decided=None))
            continue
        found.append(Decision(task=task, decided=Decided(record=record, outcome=outcome)))
    return tuple(found)


def _drop_repeats(decisions: Sequence[Decision]) -> None:
    """Take out what was delivered before, which only a clock set back can bring about."""
    suspects = [
        (one, one.decided)
        for one in decisions
        if one.decided is not None
        and one.task.newest_ms is not None
        and one.decided.outcome.sent_ms
        and one.decided.outcome.sent_ms[0] <= one.task.newest_ms
    ]
    if not suspects:
        return
    known = delivered_before(wanted=[(one.task.id, decided.outcome.sent_ms[0]) for one, decided in suspects])
    for one, decided in suspects:
        outcome, one.repeated = without_repeats(decided.outcome, known=known[one.task.id])
        one.decided = Decided(record=decided.record, outcome=outcome)


def _unsent(one: Decision) -> list[Written]:
    """Return what the history says of a task beside its messages."""
    if one.decided is None:
        return []
    outcome = one.decided.outcome
    missed = 0 if outcome.sent_ms else outcome.missed
    lines = [
        Written(task=one.task, outcome=REPEATED, occurrence_ms=at, missed=missed if number == 0 else 0)
        for number, at in enumerate(one.repeated)
    ]
    if not outcome.sent_ms and not one.repeated:
        lines.append(Written(task=one.task, outcome=DROPPED, occurrence_ms=outcome.settled_ms, missed=missed))
    return lines


def _advance(one: Decision) -> None:
    """Set the columns of a task after its delivery."""
    task = one.task
    task.version += 1
    if one.decided is not None:
        outcome = one.decided.outcome
        task.scheduled_ms, task.status = outcome.record.scheduled_ms, outcome.status
        task.runs += len(outcome.sent_ms)
        task.missed_total += outcome.missed
        task.failures, task.retry_ms, task.problem = 0, None, ""
    settle_wake(task)


def _tell(tasks: Sequence[Task]) -> None:
    """Announce the change of each profile once; the next wake is asked for after the work anyway."""
    wakes = [task.wake_ms for task in tasks if task.status == ACTIVE and task.wake_ms is not None]
    tell(
        profile_ids=tuple(dict.fromkeys(task.profile_id for task in tasks)),
        wake_ms=min(wakes, default=None),
    )
