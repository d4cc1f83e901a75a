"""Taking in one log: new, longer than before, the same, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from apps.accounts.actions import ensure_workspace
from apps.accounts.rules import Caller
from apps.sessions.actions.appending import append_events
from apps.sessions.actions.shelving import list_in_workspace
from apps.sessions.actions.storing import File, store_log
from apps.sessions.models import ImportedFile, Session
from apps.sessions.queries.leases import is_live
from apps.sessions.queries.log import all_events, header_of, load_state
from apps.sessions.rules.import_report import Entry, LogDiverged
from apps.sessions.rules.plain_json import Event, same_json
from apps.sessions.rules.refusals import SessionLive
from apps.sessions.rules.repair import orphans_of, reopening_events
from apps.sessions.rules.validator import Survey


@dataclass(frozen=True, kw_only=True, slots=True)
class Incoming:
    """A log that was read once already: where it belongs, and what a load of it must know beforehand."""

    slug: str
    name: str
    header: dict[str, Any]
    survey: Survey
    file: File
    torn: bool


def take_in(
    incoming: Incoming, *, chunks: Iterable[list[Event]], entry: Entry, by: Caller, close: bool, now_ms: int
) -> Session:
    """Store what of a log is not stored yet, in the caller's transaction, and say in the entry what was done.

    `close` closes a turn that the log leaves open, as a host does on opening it; a log whose end is cut off is closed
    in any case. Raises LogDiverged when the stored log has gone another way, and LogRefused as every load does.
    """
    workspace = ensure_workspace(profile_id=by.profile_id, slug=incoming.slug)
    session = Session.objects.select_for_update().filter(workspace=workspace, ref=incoming.name).first()
    fresh, first = session is None, 0
    if session is None:
        session = store_log(
            by=by,
            workspace=workspace,
            header=incoming.header,
            events=(),
            ref=incoming.name,
            survey=incoming.survey,
            now_ms=now_ms,
        )
        list_in_workspace(session=session, now_ms=now_ms)
    elif _is_known(session, file=incoming.file):
        entry.outcome, entry.events = "unchanged", session.next_seq
        return session
    else:
        first = session.next_seq
        _check_header(session, header=incoming.header)
        chunks = _beyond(session, chunks=chunks)
    _append(session, chunks=chunks, survey=incoming.survey, by=by, now_ms=now_ms)
    if session.next_seq > first and is_live(profile_id=by.profile_id, ref=session.ref, now_ms=now_ms):
        raise SessionLive
    if incoming.torn or close:
        _close(session, by=by, now_ms=now_ms)
    _remember(session, file=incoming.file)
    entry.events, entry.added = session.next_seq, session.next_seq - first
    entry.outcome = "imported" if fresh else "appended" if entry.added else "unchanged"
    return session


def _is_known(session: Session, *, file: File) -> bool:
    return ImportedFile.objects.filter(session=session, name=file.name, sha256=file.sha256).exists()


def _check_header(session: Session, *, header: dict[str, Any]) -> None:
    stored = header_of(session)
    if stored is None or not same_json(stored, other=header):
        raise LogDiverged


def _beyond(session: Session, *, chunks: Iterable[list[Event]]) -> Iterator[list[Event]]:
    """Give what of a log comes after the stored one; up to there, or up to its own end, both must say the same."""
    stored = all_events(session)
    left = session.next_seq
    for chunk in chunks:
        known, rest = chunk[:left], chunk[left:]
        for event in known:
            if not same_json(next(stored), other=event):
                raise LogDiverged(seq=event["seq"])
        left -= len(known)
        if rest:
            yield rest


def _append(session: Session, *, chunks: Iterable[list[Event]], survey: Survey, by: Caller, now_ms: int) -> None:
    for chunk in chunks:
        done = append_events(
            by=by,
            session=session,
            expected_seq=session.next_seq,
            events=chunk,
            now_ms=now_ms,
            orphans=survey.orphans,
        )
        session.next_seq = done.next_seq


def _close(session: Session, *, by: Caller, now_ms: int) -> None:
    """Append what a host writes when it opens a log whose last turn was cut off."""
    session.refresh_from_db()
    state = load_state(session)
    if state.turn is not None:
        survey = Survey(orphans=orphans_of(state))
        _append(session, chunks=[reopening_events(state=state)], survey=survey, by=by, now_ms=now_ms)


def _remember(session: Session, *, file: File) -> None:
    about = {"generation": file.generation, "sha256": file.sha256, "size_bytes": file.size_bytes}
    ImportedFile.objects.update_or_create(session=session, name=file.name, defaults=about)
