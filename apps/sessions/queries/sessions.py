"""Reading sessions."""

from __future__ import annotations

from apps.accounts.models import Workspace
from apps.accounts.queries import workspace_of
from apps.accounts.rules import Caller
from apps.core import rows
from apps.sessions.models import Session
from apps.sessions.queries.deleted import was_deleted
from apps.sessions.rules import SessionGone, SessionNotFound, WorkspaceNotFound

_VISIBLE = """profile_id = %s and ref = %s and not exists (
  select 1 from accounts_workspace w
  where w.id = agent_sessions_session.workspace_id and w.restricted and not exists (
    select 1 from accounts_workspace_members m where m.workspace_id = w.id and m.user_id = %s))
order by created_at_ms, id"""


def session_of(*, by: Caller, ref: str) -> Session:
    """Return a session that the caller may see; anybody else's, and those of others' workspaces, are not there."""
    row = visible_session(by=by, ref=ref)
    if row is None:
        raise SessionGone if was_deleted(profile_id=by.profile_id, ref=ref) else SessionNotFound
    return row


def visible_session(*, by: Caller, ref: str) -> Session | None:
    """Return a session of the caller's profile, or None; a restricted workspace is its members' alone."""
    return rows.fetch(Session, _VISIBLE, [by.profile_id, ref, by.user_id])


def open_workspace(*, by: Caller, slug: str = "default") -> Workspace:
    """Return a workspace of the caller's profile that the caller may use; a restricted one is its members' alone."""
    found = workspace_of(profile_id=by.profile_id, slug=slug)
    if found.restricted and not found.members.filter(pk=by.user_id).exists():
        raise WorkspaceNotFound
    return found


def find_session(*, profile_id: str, ref: str) -> Session | None:
    """Return a session by the id that clients know, or None; whoever asks."""
    return rows.fetch(Session, "profile_id = %s and ref = %s", [profile_id, ref])
