"""The errors of logs, removals and deletions, with the codes that callers know."""

from __future__ import annotations

from typing import ClassVar

from apps.core.errors import SaysoError


class LogRefused(SaysoError):
    """The log breaks a rule of its format; nothing was changed."""

    status: ClassVar[int] = 422

    def __init__(self, reason: str, *, seq: int | None = None, message: str = "") -> None:
        """Name the rule, such as `surface.bad_op`, and the number of the event that breaks it."""
        where = "The log" if seq is None else f"Event {seq}"
        super().__init__(message or f"{where} breaks the rule {reason}.", code=reason, reason=reason, seq=seq)
        self.reason = reason
        self.seq = seq


class LogCorrupt(SaysoError):
    """The stored log is damaged and cannot be read."""

    code = "log_corrupt"
    status = 422


class LogTooLarge(SaysoError):
    """The stored log is larger than what may be read here."""

    code = "log_too_large"
    status = 413


class InvalidRequest(SaysoError):
    """The request cannot be read."""

    code = "INVALID_REQUEST"
    status = 400


class TargetNotFound(SaysoError):
    """It no longer exists."""

    code = "TARGET_NOT_FOUND"
    status = 404


class TurnNotClosed(SaysoError):
    """This turn is not finished yet."""

    code = "TURN_NOT_CLOSED"
    status = 409


class TurnCompacted(SaysoError):
    """This turn cannot be removed on its own any more."""

    code = "TURN_COMPACTED"
    status = 409


class SessionLive(SaysoError):
    """The session, or a subagent of it, is open; close it first."""

    code = "SESSION_LIVE"
    status = 409


class AgentBusy(SaysoError):
    """The agent is at work; nothing was changed, try again later."""

    code = "AGENT_BUSY"
    status = 423


class DeleteFailed(SaysoError):
    """It could not be deleted; nothing was changed."""

    code = "DELETE_FAILED"
    status = 500
