"""Forking: a session that begins with a copy of another one's log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import transaction

from apps.accounts.rules import Caller
from apps.core.announce import announce
from apps.core.values import new_id
from apps.sessions.actions.sessions import check_free
from apps.sessions.actions.shelving import list_in_workspace
from apps.sessions.actions.storing import store_log
from apps.sessions.models import Session
from apps.sessions.queries import session_of
from apps.sessions.queries.ground import StoredGround
from apps.sessions.queries.leases import is_live
from apps.sessions.queries.log import events_between, header_of, load_state
from apps.sessions.rules import check_session_id
from apps.sessions.rules.plain_json import Event
from apps.sessions.rules.refusals import LogCorrupt
from apps.sessions.rules.repair import inherited_marker, may_fork_at
from apps.sessions.rules.shelving import BadBoundary, BoundaryInTurn, SourceNotLive, fork_header


@transaction.atomic
def fork_session(*, by: Caller, ref: str, now_ms: int, child: Any = None, boundary: int | None = None) -> Session:
    """Make a session of the first `boundary` events of a live one (all of them by default); returns the new one.

    Refused in this order: unknown source, source not live, child id taken, a boundary beyond the log, a boundary inside
    an open turn.
    """
    source = session_of(by=by, ref=ref)
    if not is_live(profile_id=by.profile_id, ref=source.ref, now_ms=now_ms):
        raise SourceNotLive
    child = check_session_id(child) if child is not None else f"s-{new_id()}"
    check_free(profile_id=by.profile_id, ref=child)
    count = source.next_seq if boundary is None else boundary
    _check_boundary(source, count=count)
    header = header_of(source)
    if header is None:
        raise LogCorrupt
    fork = store_log(
        by=by,
        workspace=source.workspace,
        header=fork_header(header, ref=child, now_ms=now_ms),
        events=Beginning(source, count=count, now_ms=now_ms),
        now_ms=now_ms,
        source=source.source,
    )
    list_in_workspace(session=fork, now_ms=now_ms)
    announce("session.forked", profile=fork.profile_id, session=fork.pk)
    return fork


class Beginning:
    """The first events of a stored log and the marker that ends what a fork inherits; may be gone through again."""

    def __init__(self, session: Session, *, count: int, now_ms: int) -> None:
        """Take so many events of a session."""
        self._session, self._count, self._now_ms = session, count, now_ms

    def __iter__(self) -> Iterator[Event]:
        yield from events_between(session_id=self._session.pk, first=0, last=self._count - 1)
        yield inherited_marker(seq=self._count, time_ms=self._now_ms)


def _check_boundary(source: Session, *, count: int) -> None:
    if count > source.next_seq:
        raise BadBoundary(f"The log has {source.next_seq} events; boundary is the number of events to copy.")
    if not may_fork_at(count, ground=StoredGround(source.pk), state=load_state(source)):
        raise BoundaryInTurn
