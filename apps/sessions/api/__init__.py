"""Sessions and runs over REST."""

from apps.sessions.api.runs import RunAbort, RunEnd, RunList
from apps.sessions.api.sessions import SessionDetail, SessionList

__all__ = ["RunAbort", "RunEnd", "RunList", "SessionDetail", "SessionList"]
