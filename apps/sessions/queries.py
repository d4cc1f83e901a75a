"""Reading sessions and runs."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from apps.accounts.rules import Caller
from apps.core import rows
from apps.sessions.models import Run, Session
from apps.sessions.rules import RunNotFound, SessionNotFound


def session_of(*, by: Caller, ref: str) -> Session:
    """Return a session of the caller's profile; anybody else's is not there."""
    row = find_session(profile_id=by.profile_id, ref=ref)
    if row is None:
        raise SessionNotFound
    return row


def find_session(*, profile_id: str, ref: str) -> Session | None:
    """Return a session by the id that clients know, or None."""
    return rows.fetch(Session, "profile_id = %s and ref = %s", [profile_id, ref])


def session_list(*, by: Caller, limit: int) -> list[dict[str, Any]]:
    """Return the sessions of the caller's profile as clients see them, newest first."""
    names = ("ref", "source", "title", "created_at_ms")
    found = Session.objects.filter(profile_id=by.profile_id).values_list(*names)[:limit]
    return [dict(zip(("id", *names[1:]), row, strict=True)) for row in found]


def latest_run(*, session: Session) -> Run | None:
    """Return the run that started last, or None."""
    return Run.objects.filter(session=session).order_by("-started_ms", "-id").first()


def open_runs(*, session: Session) -> QuerySet[Run]:
    """Return the runs that have not ended."""
    return Run.objects.filter(session=session, state="running")


def run_of(*, by: Caller, ref: str, run_id: str) -> Run:
    """Return a run of a session of the caller's profile."""
    row = Run.objects.filter(pk=run_id, profile_id=by.profile_id, session__ref=ref).select_related("session").first()
    if row is None:
        raise RunNotFound
    return row
