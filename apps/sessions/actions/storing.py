"""Storing a whole log at once, as an import or a fork brings it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from apps.accounts.models import Workspace
from apps.accounts.rules import Caller
from apps.sessions.actions.log_rows import LogRows, accept_all, state_json
from apps.sessions.models import ImportedFile, Session
from apps.sessions.queries.ground import StoredGround
from apps.sessions.rules import SessionExists, check_session_id
from apps.sessions.rules.log_facts import parent_in, title_in
from apps.sessions.rules.plain_json import Event, ascii_json
from apps.sessions.rules.validator import Survey, opened, survey_of

CHUNK = 500
"""How many events are checked and written at once; memory is bounded by them, whatever the length of the log."""


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A file that a log was read from."""

    name: str
    generation: int
    sha256: str
    size_bytes: int


@transaction.atomic
def store_log(
    *,
    by: Caller,
    workspace: Workspace,
    header: dict[str, Any],
    events: Iterable[Any],
    now_ms: int,
    ref: str = "",
    files: Iterable[File] = (),
    survey: Survey | None = None,
    source: str = "cli",
) -> Session:
    """Store a log of which nothing is stored yet, checked event by event; all of it or nothing.

    `ref` is the spelling to store it under where it is not the header's own. `events` is gone through twice, unless a
    `survey` of it is given: a list, or an object whose iterator begins anew. Raises LogRefused and SessionExists.
    """
    if survey is None:
        if iter(events) is events:
            raise TypeError("events that can be read only once need a survey")
        survey = survey_of(events)
    state = opened(header=header, survey=survey)
    session = Session(
        profile_id=workspace.profile_id,
        workspace=workspace,
        ref=check_session_id(ref or header["id"]),
        source=source,
        header=ascii_json(header),
        origin=header.get("origin", ""),
        parent=parent_in(header),
        created_at_ms=now_ms,
    )
    try:
        with transaction.atomic():
            session.save(force_insert=True)
    except IntegrityError:
        raise SessionExists from None
    ground, written = StoredGround(session.pk), LogRows()
    for chunk in _chunks(events):
        accepted = accept_all(chunk, state=state, below=ground, orphans=survey.orphans)
        written.add(accepted, session_id=session.pk)
        written.write()
        for one in accepted:
            session.title = title_in(one.event, before=session.title)
    session.state, session.next_seq, session.last_ms = state_json(state), state.next_seq, state.last_time_ms
    session.save(update_fields=["state", "next_seq", "last_ms", "title"])
    ImportedFile.objects.bulk_create(
        ImportedFile(
            session=session, name=one.name, generation=one.generation, sha256=one.sha256, size_bytes=one.size_bytes
        )
        for one in files
    )
    return session


def _chunks(events: Iterable[Event]) -> Iterator[list[Event]]:
    chunk: list[Event] = []
    for event in events:
        chunk.append(event)
        if len(chunk) >= CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
