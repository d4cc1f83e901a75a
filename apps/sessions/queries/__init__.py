"""Reads of the sessions room."""

from apps.sessions.queries.runs import latest_run, open_runs, run_of
from apps.sessions.queries.sessions import find_session, session_of, visible_session

__all__ = ["find_session", "latest_run", "open_runs", "run_of", "session_of", "visible_session"]
