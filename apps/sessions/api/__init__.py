"""Sessions and runs over REST."""

from apps.sessions.api.runs import RunAbort, RunEnd, RunList
from apps.sessions.api.session import SessionDetail
from apps.sessions.api.sessions import SessionList

__all__ = ["RunAbort", "RunEnd", "RunList", "SessionDetail", "SessionList"]
