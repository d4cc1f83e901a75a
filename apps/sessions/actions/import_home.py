"""Importing a host's home session by session, each in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from django.db import transaction

from apps.accounts.rules import Caller
from apps.core.errors import SaysoError
from apps.sessions.actions.importing import Incoming, take_in
from apps.sessions.actions.repairing import repair_tombstones
from apps.sessions.actions.restoring import forget_deletion
from apps.sessions.actions.storing import File
from apps.sessions.models import Session
from apps.sessions.queries.deleted import was_deleted
from apps.sessions.queries.exporting import removed_turns
from apps.sessions.queries.homes import FoundLog, LogFile, Skipped, logs_in, read_file, read_found, sessions_root
from apps.sessions.queries.log import load_state
from apps.sessions.rules.envelope import VERSION, check_header
from apps.sessions.rules.homes import place_of, spelling_of, workspace_slug
from apps.sessions.rules.ids import bare
from apps.sessions.rules.import_report import DeletedHere, Entry, Report
from apps.sessions.rules.log_names import log_name, parse_log_name
from apps.sessions.rules.log_reader import LogReader
from apps.sessions.rules.plain_json import Event
from apps.sessions.rules.validator import Surveyor, survey_of

CHUNK_EVENTS, CHUNK_BYTES = 500, 1024 * 1024
"""So much of a log is held in memory, checked and written at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """What the person at the terminal asked for; `restore` and `repair` name the sessions that they confirmed."""

    dry_run: bool = False
    close: bool = False
    restore: frozenset[str] = frozenset()
    repair: frozenset[str] = frozenset()


def import_home(*, by: Caller, path: Path, wishes: Wishes, clock: Callable[[], int]) -> Report:
    """Take in every session below a path, or the one log that it is; what is refused leaves the others alone."""
    job = partial(_import, by=by, wishes=wishes)
    if path.is_file():
        report = Report(root=str(path), dry_run=wishes.dry_run)
        entry = Entry(slug="", folder=path.name, file=path.name)
        report.entries.append(entry)
        job(entry, read=partial(read_file, path), found=None, now_ms=clock())
        return report
    root = sessions_root(path)
    report = Report(root=str(root), dry_run=wishes.dry_run)
    for found in logs_in(root):
        if isinstance(found, Skipped):
            report.skipped.append({"path": found.path, "code": found.code})
            continue
        entry = Entry(slug=found.project, folder=found.folder, file=found.log, older_files=list(found.older))
        report.entries.append(entry)
        job(entry, read=partial(read_found, found), found=found, now_ms=clock())
    return report


def _import(
    entry: Entry,
    *,
    by: Caller,
    read: Callable[[], LogFile],
    wishes: Wishes,
    found: FoundLog | None,
    now_ms: int,
) -> None:
    """Take in one log; whatever is wrong with it goes into its entry."""
    try:
        _check_generation(entry)
        file = read()
        incoming = _surveyed(entry, file=file, found=found)
        with transaction.atomic():
            _store(entry, incoming=incoming, file=file, by=by, wishes=wishes, now_ms=now_ms)
            if wishes.dry_run:
                transaction.set_rollback(True)
    except OSError as error:
        _refuse(entry, code="not_readable", sentence=error.strerror or "The file cannot be read.")
    except SaysoError as error:
        _refuse(entry, code=error.own_code, sentence=error.message, seq=error.extra.get("seq"))
        if isinstance(error, DeletedHere):
            entry.outcome = "deleted_here"


def _refuse(entry: Entry, *, code: str, sentence: str, seq: int | None = None) -> None:
    entry.outcome, entry.code, entry.sentence, entry.seq = "refused", code, sentence, seq
    entry.events = entry.added = 0


def _check_generation(entry: Entry) -> None:
    """Refuse another format by its name, whatever the file holds."""
    parsed = parse_log_name(entry.file)
    entry.version = parsed.version if parsed else None
    if parsed and parsed.version != VERSION:
        check_header({"version": parsed.version})


def _surveyed(entry: Entry, *, file: LogFile, found: FoundLog | None) -> Incoming:
    """Read a log once, before anything is locked: who it is, whether it is whole, what a load must know beforehand."""
    entry.sha256, entry.size_bytes = file.sha256, len(file.data)
    reader = LogReader(file.data, compressed=file.compressed)
    header = reader.header
    entry.version = header["version"]
    if found is None:
        entry.slug, entry.name = place_of(header)
        name = log_name(version=VERSION, compressed=file.compressed)
    else:
        entry.slug, entry.name = workspace_slug(found.project), spelling_of(found.folder, header=header)
        name = found.log
    surveyor, count = Surveyor(), 0
    for count, event in enumerate(reader, start=1):
        surveyor.see(event, seq=count - 1)
    entry.torn = asdict(reader.torn) if reader.torn else None
    about = File(name=name, generation=VERSION, sha256=file.sha256, size_bytes=len(file.data))
    return Incoming(
        slug=entry.slug,
        name=entry.name,
        header=header,
        survey=surveyor.survey(),
        file=about,
        torn=reader.torn is not None,
    )


def _store(entry: Entry, *, incoming: Incoming, file: LogFile, by: Caller, wishes: Wishes, now_ms: int) -> None:
    if was_deleted(profile_id=by.profile_id, ref=incoming.name):
        if not _is_named(incoming.name, among=wishes.restore):
            raise DeletedHere
        forget_deletion(by=by, ref=incoming.name, now_ms=now_ms)
        entry.notes.append("A person brought it back after it was deleted here.")
    reader = LogReader(file.data, compressed=file.compressed)
    chunks = _chunks(reader, size=lambda: reader.line_bytes)
    if _is_named(incoming.name, among=wishes.repair):
        events, found = repair_tombstones(
            by=by, ref=incoming.name, header=incoming.header, events=list(reader), now_ms=now_ms
        )
        chunks, incoming = _chunks(events, size=lambda: 0), replace(incoming, survey=survey_of(events))
        turns = ", ".join(str(one.turn) for one in found)
        entry.notes.append(f"The first plugin's removals were mended: turn {turns}.")
    session = take_in(incoming, chunks=chunks, entry=entry, by=by, close=wishes.close, now_ms=now_ms)
    _describe(entry, session=session)


def _is_named(name: str, *, among: Iterable[str]) -> bool:
    return bare(name) in {bare(one) for one in among}


def _chunks(events: Iterable[Event], *, size: Callable[[], int]) -> Iterator[list[Event]]:
    """Give events in portions that are bounded by their number and by their bytes."""
    chunk: list[Event] = []
    held = 0
    for event in events:
        chunk.append(event)
        held += size()
        if len(chunk) >= CHUNK_EVENTS or held >= CHUNK_BYTES:
            yield chunk
            chunk, held = [], 0
    if chunk:
        yield chunk


def _describe(entry: Entry, *, session: Session) -> None:
    session.refresh_from_db()
    state = load_state(session)
    entry.turns = state.next_turn - 1 + (state.turn is not None)
    entry.removed_turns = removed_turns(session)
    entry.surface_nodes = state.nodes
    entry.open_turn = state.turn is not None
