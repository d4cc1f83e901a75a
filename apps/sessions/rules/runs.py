"""What a session and a run may be."""

from __future__ import annotations

import re

from apps.core.errors import Conflict, Denied, InvalidField, NotFound

ID_LENGTH = 512
SOURCE_LENGTH = 64
TITLE_LENGTH = 200
RUN_TRANSITIONS = {"running": ("ended", "aborted")}
GROUP_SOURCES = frozenset({"group_chat", "workflow"})
"""Sources of sessions that more than one person or no person follows."""

_SOURCE = re.compile(r"[a-z0-9_.-]{1,64}")


class SessionNotFound(NotFound):
    """Session not found"""

    code = "session_not_found"


class SessionGone(SessionNotFound):
    """A person deleted this session here."""

    code = "deleted_here"


class SessionExists(Conflict):
    """There is already a session with this id."""

    code = "session_exists"


class WorkspaceNotFound(NotFound):
    """There is no such workspace."""


class RunNotFound(NotFound):
    """There is no such run."""

    code = "run_not_found"


class RunEnded(Conflict):
    """This run has ended already."""

    code = "run_ended"


class NotYourRun(Denied):
    """This run was started by somebody else; only its starter or a person may abort it."""

    code = "not_your_run"


def check_may_abort(*, kind: str, ref: str, starter: str) -> None:
    """Raise for an agent's token that did not start the run: an abort takes back what the run asks."""
    if kind == "agent" and ref != starter:
        raise NotYourRun


def check_session_id(value: object) -> str:
    """Return a client-chosen id: 1 to 512 characters without control characters or blanks around."""
    if not isinstance(value, str) or not value or value != value.strip() or len(value) > ID_LENGTH:
        raise InvalidField("id", f"id must be a text of 1 to {ID_LENGTH} characters without blanks around")
    if not value.isprintable() or "/" in value:
        raise InvalidField("id", "id must hold no slash and no control character")
    return value


def check_source(value: object) -> str:
    """Return the source of a session, such as `cli` or `group_chat`."""
    if not isinstance(value, str) or not _SOURCE.fullmatch(value):
        raise InvalidField("source", "source must be 1 to 64 of a-z, 0-9, dot, dash and underscore")
    return value


def check_title(value: object) -> str:
    """Return a title of at most 200 characters."""
    if not isinstance(value, str) or len(value) > TITLE_LENGTH:
        raise InvalidField("title", f"title must be a text of at most {TITLE_LENGTH} characters")
    return value
