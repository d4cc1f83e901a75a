"""Putting sessions away, and copying the beginning of one."""

from __future__ import annotations

from typing import Any

from apps.core.errors import Conflict, InvalidField, SaysoError
from apps.sessions.rules.plain_json import is_count


class ArchiveRefused(Conflict):
    """The session cannot be put away while something in it is active."""

    code = "archive_refused"


class SourceNotLive(Conflict):
    """Only a session that a host holds can be forked; open it there first."""

    code = "source_not_live"


class BadBoundary(SaysoError):
    """The log does not reach that far; boundary is the number of events to copy."""

    code = "bad_boundary"
    status = 422


class BoundaryInTurn(Conflict):
    """A fork cannot begin inside an open turn; choose the end of a turn."""

    code = "boundary_in_turn"


def check_boundary(value: Any) -> int | None:
    """Return how many events a fork copies, None for all of them."""
    if value is None:
        return None
    if not is_count(value):
        raise InvalidField("boundary", "boundary must be the number of events to copy, a whole number of at least 0")
    return value


def fork_header(parent: dict[str, Any], *, ref: str, now_ms: int) -> dict[str, Any]:
    """Return the header of a fork: as deep as its parent, of no origin, begun from a copy."""
    kept: dict[str, Any] = {name: parent[name] for name in ("cwd", "agentPreset") if name in parent}
    return {
        "version": 4,
        "id": ref,
        "createdAt": now_ms,
        "isSeeded": True,
        "delegationDepth": parent.get("delegationDepth", 0),
        "parentSession": parent["id"],
        **kept,
    }
