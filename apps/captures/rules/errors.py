"""What the rules of captures refuse, with the contract's codes."""

from __future__ import annotations

from apps.core.errors import Conflict, NotFound, SaysoError


class InvalidRequest(SaysoError):
    """The request cannot be read."""

    code = "invalid_request"
    status = 422


class SourceNotFound(NotFound):
    """There is no such source in this scope."""


class SourceConflict(Conflict):
    """Another source was captured under this identity; nothing was changed."""

    code = "source_conflict"


class SourcePurged(Conflict):
    """The source of this identity was purged; its place in the journal stays taken."""

    code = "source_purged"


class InvalidCoverage(SaysoError):
    """The coverage declaration breaks its own contract."""

    code = "invalid_coverage"
    status = 422


class CaptureIncomplete(SaysoError):
    """The new part of the window does not fit and a complete checkpoint is required; nothing was sent."""

    code = "capture_incomplete"
    status = 422


class WindowBroken(SaysoError):
    """The journal positions are no contiguous run."""

    code = "window_not_contiguous"
    status = 409


class EvidenceOverBudget(SaysoError):
    """A single source is larger than the evidence budget; the cursor stays where it is."""

    code = "evidence_over_budget"
    status = 422
