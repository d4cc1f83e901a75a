"""What agent hosts hold and take in: leases, inbox messages, and how long an agent is waited for."""

from __future__ import annotations

from typing import Any

from apps.core.errors import Conflict, InvalidField, NotFound
from apps.sessions.rules.plain_json import members

LEASE_MS = 60_000
IDLE_WAIT_MS = 15_000
"""How long a running agent is waited for after it was asked to stop."""
INBOX_PAGE = 100
APPEND_MAX = 10_000
"""How many events one frame appends at most."""
NUMBER_MAX = 2**53 - 1
SCHEDULE = "schedule"
"""The source kind by which an appended message takes an inbox message in."""


class LeaseHeld(Conflict):
    """Another agent host holds this session; close it there, or try again when its lease has run out."""

    code = "lease_held"


class LeaseNotHeld(Conflict):
    """You do not hold this session, or your lease has run out; take it again."""

    code = "lease_not_held"


class MessageNotFound(NotFound):
    """There is no such message in this inbox."""

    code = "message_not_found"


def check_count(value: Any, *, name: str, least: int = 0, most: int = NUMBER_MAX) -> int:
    """Return a whole number from a query or a frame; digits as text are accepted."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value[:17])
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidField(name, f"{name} must be a whole number from {least} to {most}")
    return value


def check_flag(value: Any, *, name: str) -> bool | None:
    """Return a yes or no from a query, None when it is absent."""
    if value is None or value == "":
        return None
    if value not in ("true", "false"):
        raise InvalidField(name, f"{name} must be true or false")
    return bool(value == "true")


def taken_in_by(event: dict[str, Any]) -> str:
    """Return the id of the inbox message that an event takes in, an empty text for any other event.

    The host appends the message under the inbox message's own id, or under one of its own and names the inbox message
    as `source.messageId`.
    """
    data = members(event.get("data"))
    source = members(data.get("source"))
    if event.get("type") != "user/message" or source.get("kind") != SCHEDULE:
        return ""
    named = source.get("messageId", data.get("id"))
    return named if isinstance(named, str) else ""
