"""Erasing one stored copy of a session, row by row: only what a person confirmed calls this."""

from __future__ import annotations

from django.db import transaction

from apps.core import rows
from apps.sessions.models import (
    Citation,
    ImportedFile,
    InboxMessage,
    Lease,
    Run,
    Session,
    SessionEvent,
    SessionMark,
    SurfaceNode,
)

_PARTS = (Citation, SessionMark, SurfaceNode, SessionEvent, InboxMessage, Lease, ImportedFile, Run)


@transaction.atomic
def erase_log(*, session: Session) -> dict[str, int]:
    """Delete everything that is stored of one copy and the copy itself; returns how many rows of which table."""
    counts = {}
    for model in _PARTS:
        table = model._meta.db_table
        counts[table] = rows.execute(f'delete from "{table}" where session_id = %s', [session.pk]).rowcount  # noqa: S608
    own = Session._meta.db_table
    counts[own] = rows.execute(f'delete from "{own}" where id = %s', [session.pk]).rowcount  # noqa: S608
    return counts
