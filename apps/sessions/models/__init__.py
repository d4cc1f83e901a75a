"""Sessions, their logs, and what is kept about them."""

from apps.sessions.models.accounting import (
    ArchivedSession,
    CachedListing,
    DeletedSession,
    ImportedFile,
    PinnedSession,
    WorkspaceEntry,
)
from apps.sessions.models.hosts import InboxMessage, Lease
from apps.sessions.models.log import Citation, SessionEvent, SessionMark, SurfaceNode
from apps.sessions.models.sessions import Run, Session

__all__ = [
    "ArchivedSession",
    "CachedListing",
    "Citation",
    "DeletedSession",
    "ImportedFile",
    "InboxMessage",
    "Lease",
    "PinnedSession",
    "Run",
    "Session",
    "SessionEvent",
    "SessionMark",
    "SurfaceNode",
    "WorkspaceEntry",
]
