"""Opening a stored session again: what an interruption left open is closed, and the boundary is marked."""

from __future__ import annotations

from django.db import transaction

from apps.accounts.rules import Caller
from apps.core import rows
from apps.sessions.actions.appending import Appended, append_events
from apps.sessions.models import Session
from apps.sessions.queries import session_of
from apps.sessions.queries.leases import live_leases
from apps.sessions.queries.log import load_state
from apps.sessions.rules.hosts import LeaseHeld
from apps.sessions.rules.repair import orphans_of, reopening_events


@transaction.atomic
def reopen_session(*, by: Caller, ref: str, now_ms: int) -> Appended:
    """Append the closers of an open turn and the boundary; a second time in a row nothing is written.

    Raises `LeaseHeld` while another host is at work in the session: its open turn is no leftover.
    """
    session = session_of(by=by, ref=ref)
    # Locked first, so that nobody appends between the look at the log and the closers.
    rows.fetch(Session, "id = %s", [session.pk], lock=True)
    session.refresh_from_db()
    if any(lease.holder != by.ref for lease in live_leases(profile_id=by.profile_id, ref=session.ref, now_ms=now_ms)):
        raise LeaseHeld
    state = load_state(session)
    events, orphans = reopening_events(state=state), orphans_of(state)
    return append_events(
        by=by, session=session, expected_seq=session.next_seq, events=events, now_ms=now_ms, orphans=orphans
    )
