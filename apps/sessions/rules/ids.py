"""The ids of sessions and messages: what may be asked for, the two spellings, and folder names on disk."""

from __future__ import annotations

import json
import re
from typing import Any

from apps.core.errors import SaysoError
from apps.core.values import name_hash
from apps.sessions.rules.refusals import InvalidRequest

PREFIX = "session-"
BODY_BYTES = 65_536
SLUG_LENGTH = 251
NO_CWD = "_no-cwd"

_SESSION = re.compile(r"[A-Za-z0-9._:-]{1,200}")
_MESSAGE = re.compile(r"[A-Za-z0-9._:@-]{1,200}")
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_ESCAPE = re.compile(r"~([0-9A-F]{4})")


class NotASegment(SaysoError):
    """This folder name does not stand for the id of a session."""

    code = "not_a_segment"


def spellings(name: str) -> list[str]:
    """Return both spellings under which a session may be known, the given one first."""
    name = name.strip()
    if not name:
        return []
    return [name, name.removeprefix(PREFIX)] if name.startswith(PREFIX) and name != PREFIX else [name, PREFIX + name]


def bare(name: str) -> str:
    """Return an id without one leading `session-`, by which two spellings compare equal."""
    name = name.strip()
    return name.removeprefix(PREFIX) or name


def id_hash(*, profile_id: str, ref: str) -> str:
    """Return what is kept of a session's id when the session is gone: the same for both spellings."""
    return name_hash(profile_id=profile_id, name=bare(ref))


def check_target_session(value: object) -> str:
    """Return the id of a session that a request names; it need not be a UUID."""
    text = value.strip() if isinstance(value, str) else ""
    if not _SESSION.fullmatch(text) or ".." in text:
        raise InvalidRequest("sessionId must be 1 to 200 letters, digits, dots, underscores, colons or dashes.")
    return text


def check_target_message(value: object) -> str:
    """Return the id of a message that a request names; it never becomes a path."""
    text = value.strip() if isinstance(value, str) else ""
    if not _MESSAGE.fullmatch(text):
        raise InvalidRequest("assistantMessageId must be 1 to 200 letters, digits or any of . _ : @ -")
    return text


def fields_of(body: bytes) -> dict[str, Any]:
    """Return the fields of a request's body; an empty body, a list, a text and null have none."""
    if len(body) > BODY_BYTES:
        raise InvalidRequest(f"The body must have at most {BODY_BYTES} bytes.")
    if not body.strip():
        return {}
    try:
        value = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise InvalidRequest("The body is not JSON.") from None
    return value if isinstance(value, dict) else {}


def segment(name: str) -> str:
    """Return the folder name of a session: reversible, safe on every file system."""
    if not name:
        raise NotASegment
    if name in {".", ".."}:
        return "".join(_escaped(character) for character in name)
    return "".join(character if character in _SAFE else _escaped(character) for character in name)


def segment_name(folder: str) -> str:
    """Return the id that a folder name stands for."""
    units = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), folder)
    try:
        name = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    except UnicodeDecodeError:
        raise NotASegment from None
    if not name or segment(name) != folder:
        raise NotASegment
    return name


def slug(cwd: str | None) -> str:
    """Return the project folder of a working directory; two directories can share one."""
    if not cwd:
        return NO_CWD
    joined = re.sub(r"[/\\:]+", "-", cwd)
    safe = "".join(character if character in _SAFE else _escaped(character) for character in joined).lstrip("-")
    return f"--{(safe or 'root')[:SLUG_LENGTH]}--"


def _escaped(character: str) -> str:
    """Return `~XXXX` for each UTF-16 unit of a character."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"~{units[index]:02X}{units[index + 1]:02X}" for index in range(0, len(units), 2))
