"""What a session, its log and its removals may be."""

from apps.sessions.rules.runs import (
    GROUP_SOURCES,
    ID_LENGTH,
    RUN_TRANSITIONS,
    SOURCE_LENGTH,
    TITLE_LENGTH,
    NotYourRun,
    RunEnded,
    RunNotFound,
    SessionExists,
    SessionGone,
    SessionNotFound,
    WorkspaceNotFound,
    check_may_abort,
    check_session_id,
    check_source,
    check_title,
)

__all__ = [
    "GROUP_SOURCES",
    "ID_LENGTH",
    "RUN_TRANSITIONS",
    "SOURCE_LENGTH",
    "TITLE_LENGTH",
    "NotYourRun",
    "RunEnded",
    "RunNotFound",
    "SessionExists",
    "SessionGone",
    "SessionNotFound",
    "WorkspaceNotFound",
    "check_may_abort",
    "check_session_id",
    "check_source",
    "check_title",
]
