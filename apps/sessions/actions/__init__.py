"""Writes of the sessions room."""

from apps.sessions.actions.runs import end_run, start_run
from apps.sessions.actions.sessions import create_session

__all__ = ["create_session", "end_run", "start_run"]
