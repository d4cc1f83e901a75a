"""The agent-control routes: their codes, and what every other code of the server is called there."""

from __future__ import annotations

from apps.sessions.rules.refusals import (
    AgentBusy,
    DeleteFailed,
    InvalidRequest,
    SessionLive,
    TargetNotFound,
    TurnCompacted,
    TurnNotClosed,
)

STATUS = {
    error.code: error.status
    for error in (InvalidRequest, TargetNotFound, TurnNotClosed, TurnCompacted, SessionLive, AgentBusy, DeleteFailed)
}
OF_STATE = {
    "denied": ("CONFIRMATION_DENIED", 403),
    "expired": ("CONFIRMATION_EXPIRED", 409),
    "withdrawn": ("CONFIRMATION_WITHDRAWN", 409),
    "changed": ("PREVIEW_STALE", 409),
    "uncertain": ("UNCERTAIN", 502),
}
"""How a confirmation that ended without a deletion is answered."""
_SHAPE = frozenset({"invalid", "invalid_field", "method_not_allowed", "parse_error", "too_large"})
CHANGED = "changed"


def code_of(code: str) -> str:
    """Return what a code of the server is called on these routes."""
    if code in STATUS:
        return code
    return InvalidRequest.code if code in _SHAPE else code.upper()


def failed_as(code: str) -> tuple[str, int]:
    """Return code and status of a deletion that was agreed to and failed: anything unknown is a failure of ours."""
    if code == CHANGED:
        return OF_STATE[CHANGED]
    return (code, STATUS[code]) if code in STATUS else (DeleteFailed.code, DeleteFailed.status)
