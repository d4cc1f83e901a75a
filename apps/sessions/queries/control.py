"""The lists of the agent-control routes."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from apps.accounts.models import Workspace
from apps.accounts.rules import Caller
from apps.sessions.models import Session, SessionMark, WorkspaceEntry
from apps.sessions.queries.leases import live_spellings, running_spellings
from apps.sessions.rules.family import Account, Row, Stored, session_rows
from apps.sessions.rules.ids import spellings
from apps.sessions.rules.refusals import TargetNotFound


def control_rows(*, by: Caller, now_ms: int) -> list[Row]:
    """Return one row for each session that the caller may see: those of workspaces first, then those only stored."""
    places = _open_to(by)
    listed: dict[str, list[str]] = {}
    entries = WorkspaceEntry.objects.filter(profile_id=by.profile_id, workspace__in=places)
    for workspace_id, spelling in entries.values_list("workspace_id", "spelling"):
        listed.setdefault(workspace_id, []).append(spelling)
    accounts = [
        Account(title=place.title or place.slug, path=place.path or None, names=tuple(listed[place.pk]))
        for place in places.order_by("created_at_ms", "pk")
        if place.pk in listed
    ]
    rows = Session.objects.filter(profile_id=by.profile_id, workspace__in=places).order_by("created_at_ms", "pk")
    stored = [Stored(slug=slug, name=ref, header=None) for slug, ref in rows.values_list("workspace__slug", "ref")]
    return session_rows(
        accounts=accounts,
        stored=stored,
        live=live_spellings(profile_id=by.profile_id, now_ms=now_ms),
        running=running_spellings(profile_id=by.profile_id),
    )


def removed_turns_of(*, by: Caller, ref: str) -> list[int]:
    """Return the turns of a session that a person removed, in the order of removal, from the stored log."""
    known = spellings(ref)
    rows = Session.objects.filter(profile_id=by.profile_id, ref__in=known, workspace__in=_open_to(by))
    keys: list[Any] = sorted(rows.values_list("ref", "pk"), key=lambda row: (known.index(row[0]), row[1]))
    if not keys:
        raise TargetNotFound
    found: dict[int, None] = {}
    for _, key in keys:
        marks = SessionMark.objects.filter(session_id=key, kind="removed").order_by("seq")
        found |= {int(turn): None for turn in marks.values_list("key", flat=True)}
    return list(found)


def _open_to(by: Caller) -> QuerySet[Workspace]:
    """Return the workspaces of the profile in which the caller may look."""
    here = Workspace.objects.filter(profile_id=by.profile_id)
    return here.exclude(restricted=True) | here.filter(members=by.user_id)
