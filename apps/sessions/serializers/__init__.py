"""Shapes of the sessions room."""

from apps.sessions.serializers.deletions import kept_facts, session_words, turn_words
from apps.sessions.serializers.runs import RunStartSerializer, run_body
from apps.sessions.serializers.sessions import SessionPageSerializer, SessionSerializer, session_body

__all__ = [
    "RunStartSerializer",
    "SessionPageSerializer",
    "SessionSerializer",
    "kept_facts",
    "run_body",
    "session_body",
    "session_words",
    "turn_words",
]
