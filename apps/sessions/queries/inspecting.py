"""The report of a stored session or of a log file, whether or not it would open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from apps.accounts.rules import Caller
from apps.core.errors import SaysoError
from apps.sessions.models import Session
from apps.sessions.queries.homes import read_file
from apps.sessions.queries.log import all_events, header_of
from apps.sessions.queries.sessions import visible_session
from apps.sessions.rules import SessionNotFound
from apps.sessions.rules.ids import spellings
from apps.sessions.rules.inspection import inspection
from apps.sessions.rules.log_reader import LogReader
from apps.sessions.rules.plain_json import Event
from apps.sessions.rules.refusals import LogCorrupt
from apps.sessions.rules.tolerant import Tolerant
from apps.sessions.rules.validator import survey_of


def session_spelled(*, by: Caller, ref: str) -> Session:
    """Return a session that the caller may see, under the spelling given or else under the other one."""
    found = (visible_session(by=by, ref=name) for name in spellings(ref))
    session = next((one for one in found if one is not None), None)
    if session is None:
        raise SessionNotFound
    return session


def inspected_session(*, by: Caller, ref: str) -> dict[str, Any]:
    """Return the report of a stored session."""
    session = session_spelled(by=by, ref=ref)
    header = header_of(session)
    if header is None:
        raise LogCorrupt("The header of this session could not be read when it was taken in.")
    return _report(list(all_events(session)), header=header) | {"torn": None, "damage": ""}


def inspected_file(*, path: Path) -> dict[str, Any]:
    """Return the report of a log file as far as it can be read; `damage` says what ended the reading."""
    file = read_file(path)
    reader = LogReader(file.data, compressed=file.compressed)
    events: list[Event] = []
    damage = ""
    try:
        for event in reader:
            events.append(event)  # noqa: PERF402 (what was read before the damage counts)
    except SaysoError as error:
        damage = f"{error.own_code}: {error.message}"
    torn = asdict(reader.torn) if reader.torn else None
    return _report(events, header=reader.header) | {"torn": torn, "damage": damage, "sha256": file.sha256}


def _report(events: Iterable[Event], *, header: dict[str, Any]) -> dict[str, Any]:
    kept = list(events)
    log = Tolerant(header=header, survey=survey_of(kept))
    log.read(kept)
    return {"header": header, **inspection(log)}
