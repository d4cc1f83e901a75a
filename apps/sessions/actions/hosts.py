"""What the server asks of hosts, and what they tell of their agents."""

from __future__ import annotations

from typing import Literal

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.rules import Caller
from apps.core.announce import announce
from apps.core.blocking import block_until
from apps.sessions.actions.runs import end_run
from apps.sessions.models import Run, Session
from apps.sessions.queries import session_of
from apps.sessions.queries.leases import live_leases
from apps.sessions.rules.hosts import IDLE_WAIT_MS, LeaseNotHeld

Stop = Literal["idle", "stopped", "busy"]


def ask_cancel(*, session_id: str, cause: str = "user") -> None:
    """Ask whoever works in a session, by its key, to stop: its followers and those who started its open runs."""
    ref = Session.objects.filter(pk=session_id).values_list("ref", flat=True).first()
    starters = list(_open(session_id).order_by().values_list("starter", flat=True).distinct())
    announce("agent.cancel_asked", session=session_id, ref=ref, cause=cause, starters=starters)


def ask_close(*, session_id: str) -> None:
    """Ask the host that holds a session, by its key, to let it go."""
    announce("session.close_asked", session=session_id)


def stop_agent(*, session_id: str, within_ms: int = IDLE_WAIT_MS) -> Stop:
    """Ask a running agent to stop and wait for it; an idle one is left alone.

    Waits outside any transaction and never in the lane, whose turn it is to hear that the agent has stopped.
    """
    if not _open(session_id).exists():
        return "idle"
    ask_cancel(session_id=session_id)
    stopped = block_until(lambda: not _open(session_id).exists(), key=f"runs:{session_id}", within_ms=within_ms)
    return "stopped" if stopped else "busy"


@transaction.atomic
def declare_idle(*, by: Caller, ref: str, now_ms: int) -> list[Run]:
    """End the open runs of a session at the word of its host: all of them where it holds the lease, else its own."""
    session = session_of(by=by, ref=ref)
    held = live_leases(profile_id=by.profile_id, ref=session.ref, now_ms=now_ms)
    found = _open(session.pk)
    if all(lease.holder != by.ref for lease in held):
        found = found.filter(starter=by.ref)
        if not found.exists() and _open(session.pk).exists():
            raise LeaseNotHeld
    ids = list(found.values_list("pk", flat=True))
    return [end_run(by=by, ref=session.ref, run_id=run_id, now_ms=now_ms) for run_id in ids]


def _open(session_id: str) -> QuerySet[Run]:
    return Run.objects.filter(session_id=session_id, state="running")
