"""Making sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from apps.accounts.rules import Caller
from apps.core.values import new_id
from apps.sessions.actions.shelving import list_in_workspace
from apps.sessions.models import Session
from apps.sessions.queries.deleted import was_deleted
from apps.sessions.queries.sessions import open_workspace
from apps.sessions.rules import SessionExists, check_session_id, check_source, check_title
from apps.sessions.rules.ids import spellings
from apps.sessions.rules.import_report import DeletedHere
from apps.sessions.rules.listing import check_slug
from apps.sessions.rules.log_facts import OPTIONS, new_header, parent_in
from apps.sessions.rules.plain_json import ascii_json


def check_free(*, profile_id: str, ref: str) -> None:
    """Raise for an id that a session has under either spelling, or had before a person deleted it."""
    if was_deleted(profile_id=profile_id, ref=ref):
        raise DeletedHere
    if Session.objects.filter(profile_id=profile_id, ref__in=spellings(ref)).exists():
        raise SessionExists


def create_session(
    *,
    by: Caller,
    ref: Any,
    now_ms: int,
    source: Any = "cli",
    title: Any = "",
    told: Mapping[str, Any] | None = None,
    workspace: Any = None,
) -> Session:
    """Make a session in a workspace, the default one unless named by its slug; without an id it gets one.

    `told` is what its host says of it, by the names of a header: working directory, parent, origin, preset and depth.
    """
    ref = check_session_id(ref) if ref is not None else f"s-{new_id()}"
    check_free(profile_id=by.profile_id, ref=ref)
    header = new_header(ref=ref, now_ms=now_ms, **{name: (told or {}).get(name) for name in OPTIONS})
    session = Session(
        profile_id=by.profile_id,
        workspace=open_workspace(by=by, slug=check_slug("default" if workspace is None else workspace)),
        ref=ref,
        source=check_source(source),
        title=check_title(title),
        header=ascii_json(header),
        origin=header.get("origin", ""),
        parent=parent_in(header),
        created_at_ms=now_ms,
    )
    try:
        with transaction.atomic():
            session.save(force_insert=True)
            list_in_workspace(session=session, now_ms=now_ms)
    except IntegrityError:
        raise SessionExists from None
    return session
