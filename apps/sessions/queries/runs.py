"""Reading runs."""

from __future__ import annotations

from django.db.models import QuerySet

from apps.accounts.rules import Caller
from apps.sessions.models import Run, Session
from apps.sessions.queries.sessions import visible_session
from apps.sessions.rules import RunNotFound


def latest_run(*, session: Session) -> Run | None:
    """Return the run that started last, or None."""
    return Run.objects.filter(session=session).order_by("-started_ms", "-id").first()


def open_runs(*, session: Session) -> QuerySet[Run]:
    """Return the runs that have not ended."""
    return Run.objects.filter(session=session, state="running")


def run_of(*, by: Caller, ref: str, run_id: str) -> Run:
    """Return a run of a session that the caller may see."""
    session = visible_session(by=by, ref=ref)
    row = Run.objects.filter(pk=run_id, session=session).select_related("session").first() if session else None
    if row is None:
        raise RunNotFound
    return row
