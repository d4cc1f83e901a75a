"""Appending to a stored log: checked, written whole or not at all, and told after the commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from apps.accounts.rules import Caller
from apps.core.errors import SaysoError
from apps.core.threads import lane
from apps.sessions.actions.writer import Append, Appended, StaleAppend, write_appends
from apps.sessions.models import Session

__all__ = ["Appended", "StaleAppend", "append_events", "append_soon"]


def append_events(
    *,
    by: Caller,
    session: Session,
    expected_seq: int,
    events: Sequence[Any],
    now_ms: int,
    orphans: frozenset[int] = frozenset(),
) -> Appended:
    """Add events to a stored log, all or none; the same events at the same place again are success and write nothing.

    Raises LogRefused with the rule that an event breaks, and StaleAppend with the events that the caller missed; either
    leaves the transaction around as it was.
    """
    one = Append(
        by=by.ref, session_id=session.pk, expected_seq=expected_seq, events=events, now_ms=now_ms, orphans=orphans
    )
    with transaction.atomic():
        [found] = write_appends([one])
    if isinstance(found, SaysoError):
        raise found
    return found


async def append_soon(
    *, by: Caller, session_id: str, expected_seq: int, events: Sequence[Any], now_ms: int
) -> Appended:
    """Do what `append_events` does, in the lane and together with all that waits there; returns after the commit."""
    one = Append(by=by.ref, session_id=session_id, expected_seq=expected_seq, events=events, now_ms=now_ms)
    found: Appended = await lane.run_together(write_appends, one)
    return found
