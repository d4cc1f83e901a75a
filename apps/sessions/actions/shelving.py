"""Archiving and pinning, and the lists of workspaces; ids are kept as text, by the spelling that was used."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from apps.accounts.rules import Caller
from apps.core.announce import announce
from apps.core.dependents import dependents_of
from apps.sessions.models import ArchivedSession, PinnedSession, Session, WorkspaceEntry
from apps.sessions.queries import session_of
from apps.sessions.rules.ids import spellings
from apps.sessions.rules.shelving import ArchiveRefused

Shelf = type[ArchivedSession] | type[PinnedSession]


def archive_session(*, by: Caller, ref: str, now_ms: int) -> Session:
    """Put a session away; refused while something that hangs on it, such as a schedule, is active."""
    return _shelve(ArchivedSession, by=by, ref=ref, now_ms=now_ms)


def unarchive_session(*, by: Caller, ref: str, now_ms: int) -> Session:
    """Take a session back out."""
    return _take_off(ArchivedSession, by=by, ref=ref)


def pin_session(*, by: Caller, ref: str, now_ms: int) -> Session:
    """Keep a session at the top."""
    return _shelve(PinnedSession, by=by, ref=ref, now_ms=now_ms)


def unpin_session(*, by: Caller, ref: str, now_ms: int) -> Session:
    """Let a session go back among the others."""
    return _take_off(PinnedSession, by=by, ref=ref)


def list_in_workspace(*, session: Session, now_ms: int) -> None:
    """List a session in its workspace, unless it is listed there under either spelling."""
    known = WorkspaceEntry.objects.filter(workspace=session.workspace_id, spelling__in=spellings(session.ref))
    if not known.exists():
        WorkspaceEntry.objects.create(
            profile_id=session.profile_id,
            workspace_id=session.workspace_id,
            spelling=session.ref,
            created_at_ms=now_ms,
        )
        announce("session.listed", profile=session.profile_id, session=session.pk)


@transaction.atomic
def _shelve(shelf: Shelf, *, by: Caller, ref: str, now_ms: int) -> Session:
    session = _locked(by=by, ref=ref)
    if shelf is ArchivedSession:
        check_may_archive(session)
    if not shelf.objects.filter(profile_id=session.profile_id, spelling__in=spellings(session.ref)).exists():
        shelf.objects.create(profile_id=session.profile_id, spelling=session.ref, created_at_ms=now_ms)
        _tell(session)
    return session


@transaction.atomic
def _take_off(shelf: Shelf, *, by: Caller, ref: str) -> Session:
    session = _locked(by=by, ref=ref)
    if shelf.objects.filter(profile_id=session.profile_id, spelling__in=spellings(session.ref)).delete()[0]:
        _tell(session)
    return session


def check_may_archive(session: Session) -> None:
    """Raise with what is active in a session, listed under the name of its kind."""
    reasons: list[str] = []
    listed: dict[str, Any] = {}
    for dependent in dependents_of("archive"):
        if reason := dependent.refusal(owner_id=session.pk):
            reasons.append(reason)
            listed[dependent.name] = dependent.digest_part(owner_id=session.pk)
    if reasons:
        raise ArchiveRefused(" ".join(reasons), **listed)


def _locked(*, by: Caller, ref: str) -> Session:
    session = session_of(by=by, ref=ref)
    return Session.objects.select_for_update().get(pk=session.pk)


def _tell(session: Session) -> None:
    announce("session.shelved", profile=session.profile_id, session=session.pk)
