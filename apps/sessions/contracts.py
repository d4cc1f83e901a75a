"""The contracts of the sessions room."""

from __future__ import annotations

from apps.core.contracts import Contract
from apps.sessions import serializers as words
from apps.sessions.actions import deleting, removing
from apps.sessions.queries import deletions, removals

DELETE_SESSION = Contract(
    name="sessions.delete",
    scope="session.delete",
    preview=deletions.session_deletion,
    act=deleting.delete_session,
    words=words.session_words,
    example={"session": "s1"},
    louder=True,
    recheck=deletions.check_not_live,
    must_wait=deletions.is_running,
    wait_out=deleting.stop_agents,
    keeps=words.kept_facts,
    erases=True,
)
DELETE_TURN = Contract(
    name="sessions.delete_turn",
    scope="session.delete",
    preview=removals.turn_removal,
    act=removing.remove_turn,
    words=words.turn_words,
    example={"session": "s1", "message": "a2"},
    recheck=removals.check_at_rest,
    keeps=words.kept_facts,
)

ALL = (DELETE_SESSION, DELETE_TURN)
