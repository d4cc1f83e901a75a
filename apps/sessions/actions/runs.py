"""Starting and ending runs."""

from __future__ import annotations

from django.db import transaction

from apps.accounts.rules import Caller
from apps.core.announce import announce
from apps.core.dependents import dependents_of
from apps.sessions.models import Run
from apps.sessions.queries import run_of, session_of
from apps.sessions.rules import GROUP_SOURCES, RUN_TRANSITIONS, RunEnded, check_may_abort


@transaction.atomic
def start_run(
    *, by: Caller, ref: str, now_ms: int, background: bool = False, source: str = "", from_elsewhere: bool = False
) -> Run:
    """Start a run; a phone that starts it in a direct chat becomes the session's target, anybody else takes it away.

    `source` is the run's own where it differs from the session's; `from_elsewhere` marks a phone on another profile.
    """
    session = session_of(by=by, ref=ref)
    direct = GROUP_SOURCES.isdisjoint({session.source, source}) and not background
    is_target = by.kind == "device" and direct and not from_elsewhere
    run = Run.objects.create(
        profile_id=by.profile_id,
        session=session,
        started_ms=now_ms,
        created_at_ms=now_ms,
        device=by.ref if is_target else "",
        background=background,
        starter=by.ref,
    )
    announce("run.started", profile=by.profile_id, session=session.pk, run=run.pk)
    return run


@transaction.atomic
def end_run(*, by: Caller, ref: str, run_id: str, now_ms: int, state: str = "ended", keeps_target: bool = False) -> Run:
    """End or abort a run; an abort takes back what the session asks, and its target unless its person aborts there."""
    found = run_of(by=by, ref=ref, run_id=run_id)
    if state == "aborted":
        check_may_abort(kind=by.kind, ref=by.ref, starter=found.starter)
        # Before the run's own lock: confirmations are locked first everywhere.
        for dependent in dependents_of("run"):
            dependent.remove(owner_id=found.session_id, now_ms=now_ms)
    run = Run.objects.select_for_update().get(pk=found.pk)
    if state not in RUN_TRANSITIONS.get(run.state, ()):
        raise RunEnded
    run.state, run.ended_ms, run.version = state, now_ms, run.version + 1
    if state == "aborted" and not keeps_target:
        run.device = ""
    run.save()
    keys = (f"runs:{run.session_id}",)
    announce(f"run.{state}", keys=keys, profile=by.profile_id, session=run.session_id, run=run.pk)
    return run
