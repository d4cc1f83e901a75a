"""Calls of what pages read: conversations, how a session stands, what was sent lately."""

from tests.endpoints.calls.base import Call
from tests.sessions.logs import a_turn, numbered


def spoken(things):
    made = things.world.post("/api/sessions", {"id": "spoken"})
    said = things.world.post("/api/sessions/spoken/events", {"expectedSeq": 0, "events": numbered(a_turn(1))})
    assert (made.status_code, said.status_code) == (201, 200), said.content
    return "spoken"


def session(things):
    return {"session_ref": things.known["spoken"]}


def row(things):
    return {**session(things), "seq": "2"}


MAKERS = {"spoken": spoken}
CALLS = {
    "sessions_transcript": [
        Call(path=session, query=lambda things: {"view": "seen", "before": "3", "limit": "5"}),
        Call(path=session, query=lambda things: {"after": "1"}),
    ],
    "sessions_transcript_row": [Call(path=row)],
    "sessions_standing": [Call(path=session)],
    "schedules_fired": [Call(query=lambda things: {"after": "0"})],
}
