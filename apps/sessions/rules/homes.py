"""The folders of a host's home: which session a folder claims to be, and what a project folder is called here."""

from __future__ import annotations

import hashlib
from typing import Any

from apps.core.errors import SaysoError
from apps.core.text import storable
from apps.sessions.rules.ids import bare, check_target_session, segment, segment_name, slug

SLUG_COLUMN = 255


class FolderMismatch(SaysoError):
    """The folder is named after another session than the one that its log belongs to."""

    code = "folder_mismatch"
    status = 422


def workspace_slug(folder: str) -> str:
    """Return a project folder's name as a workspace keeps it: as it is, or escaped where it cannot be kept."""
    if storable(folder) and len(folder) <= SLUG_COLUMN:
        return folder
    mark = hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"{segment(folder)[: SLUG_COLUMN - 13]}~{mark}"


def spelling_of(folder: str, *, header: dict[str, Any]) -> str:
    """Return the spelling that a session's folder stands for; it must be one of the log's own id.

    What a client may not ask for is not taken in either: nobody could ever delete it.
    """
    name = segment_name(folder)
    if bare(name) != bare(header["id"]):
        raise FolderMismatch
    return _checked(name)


def place_of(header: dict[str, Any]) -> tuple[str, str]:
    """Return the project folder and the session's spelling of a log that lies outside a home."""
    return slug(header.get("cwd")), _checked(header["id"])


def _checked(name: str) -> str:
    if check_target_session(name) != name:
        raise FolderMismatch
    return name
