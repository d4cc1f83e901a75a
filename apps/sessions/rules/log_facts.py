"""What a stored log says of its session beside the log: its header, its parent, its title."""

from __future__ import annotations

from typing import Any

from apps.core.errors import InvalidField
from apps.core.text import storable
from apps.sessions.rules.envelope import VERSION, check_header
from apps.sessions.rules.ids import bare
from apps.sessions.rules.plain_json import Event, members
from apps.sessions.rules.refusals import LogRefused
from apps.sessions.rules.runs import ID_LENGTH, TITLE_LENGTH

PATH_LENGTH = 4096
OPTIONS = {
    "cwd": PATH_LENGTH,
    "parentSession": ID_LENGTH,
    "origin": PATH_LENGTH,
    "agentPreset": PATH_LENGTH,
    "delegationDepth": 0,
}
"""What a host may say of a session that it begins, and how long it may be."""


def new_header(*, ref: str, now_ms: int, **told: Any) -> dict[str, Any]:
    """Return the header of a session that begins now, with what its host says of it; None is not said.

    Raises `InvalidField` naming what no header may hold.
    """
    header: dict[str, Any] = {
        "version": VERSION,
        "id": ref,
        "createdAt": now_ms,
        "isSeeded": False,
        "delegationDepth": 0,
    }
    for name, length in OPTIONS.items():
        value = told.get(name)
        if value is None:
            continue
        if isinstance(value, str) and len(value) > length:
            raise InvalidField(name, f"{name} is too long")
        try:
            check_header({**header, name: value})
        except LogRefused:
            raise InvalidField(name) from None
        header[name] = value
    return header


def parent_in(header: dict[str, Any]) -> str:
    """Return the bare id of the parent that a header names, as a column keeps it."""
    return shown(bare(header.get("parentSession", "")), length=ID_LENGTH)


def title_in(event: Event, *, before: str) -> str:
    """Return the title after an event; the latest one wins."""
    if event["type"] != "session/title":
        return before
    title = members(event["data"]).get("title")
    return shown(title, length=TITLE_LENGTH) if isinstance(title, str) else before


def shown(text: str, *, length: int) -> str:
    """Return a text as a column keeps it: cut, without what no database keeps."""
    if not storable(text):
        text = text.replace("\0", "").encode("utf-8", "ignore").decode()
    return text[:length]
