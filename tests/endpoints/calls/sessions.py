"""Calls of sessions and runs."""

from tests.endpoints.calls.base import Call
from tests.sessions import logs

FIRST = {"expectedSeq": 0, "events": logs.numbered(logs.a_turn(1))}


def session(things):
    return {"session_ref": "s1"}


def told(things):
    """A session with a log, which no host holds."""
    return {"session_ref": things.known["told"]}


def held(things):
    return {"session_ref": things.known["held"]}


def run(things):
    return {"session_ref": "s1", "run_id": things.known["run"]}


def message(things):
    return {"session_ref": things.known["sent_to"], "message": things.known["message"]}


def turn(things):
    return {"sessionId": things.known["told"], "assistantMessageId": "a1", "expires_in_s": 60}


def numbered_turn(things):
    return {"sessionId": things.known["told"], "turn": 1}


def started(things):
    return things.world.post("/api/sessions/s1/runs", {}).json()["id"]


def with_log(ref):
    def make(things):
        assert things.world.post("/api/sessions", {"id": ref}).status_code == 201
        answer = things.world.post(f"/api/sessions/{ref}/events", FIRST)
        assert answer.status_code == 200, answer.content
        return ref

    return make


def held_by_host(things):
    ref = with_log("held")(things)
    assert things.world.post(f"/api/sessions/{ref}/lease", {}).status_code == 200
    return ref


MAKERS = {"run": started, "told": with_log("told"), "held": held_by_host}
# A session or a message that is not there.
GONE = {"sessionId": {404}, "assistantMessageId": {404}}
# The contract's order: a body that is too long is refused before it is read.
LONG = ("The body must have at most",)
CALLS = {
    "agent_control_sessions": [Call()],
    "agent_control_turns": [Call(query=lambda things: {"sessionId": things.known["told"]}, missing=GONE)],
    "agent_control_session_delete": [
        Call(body=lambda things: {"sessionId": "s1"}, status=202, missing=GONE, sentences=LONG)
    ],
    "agent_control_turn_delete": [
        Call(body=turn, status=202, missing=GONE, sentences=LONG),
        # A person's page may name the number.
        Call(by="person", body=numbered_turn, status=202, missing=GONE, sentences=LONG),
    ],
    "sessions_list": [Call(query=lambda things: {"limit": 5}), Call(query=lambda things: {"q": "ask"})],
    "sessions_create": [
        Call(body=lambda things: {"id": "s2", "source": "cli", "title": "t"}, status=201, missing={"workspace": {404}})
    ],
    "sessions_read": [Call(path=session)],
    "sessions_delete": [Call(path=told, status=202)],
    "sessions_archive": [Call(path=session)],
    "sessions_unarchive": [Call(path=session)],
    "sessions_pin": [Call(path=session)],
    "sessions_unpin": [Call(path=session)],
    "sessions_events": [Call(path=told, query=lambda things: {"after": 1, "limit": 2})],
    "sessions_append": [Call(path=session, body=lambda things: FIRST)],
    "sessions_surface": [Call(path=told, query=lambda things: {"limit": 2})],
    "sessions_reopen": [Call(path=told)],
    "sessions_fork": [Call(path=held, body=lambda things: {"id": "child", "boundary": 6}, status=201)],
    "sessions_lease_take": [
        Call(path=session, body=lambda things: {"lease_id": None}),
        Call(path=held),
    ],
    "sessions_lease_release": [Call(path=held)],
    "sessions_close": [Call(path=held)],
    "sessions_inbox": [
        Call(path=lambda things: {"session_ref": things.known["sent_to"]}),
        Call(path=session, query=lambda things: {"wait": 1}),
    ],
    "sessions_inbox_acknowledge": [Call(path=message)],
    "sessions_export": [
        Call(path=told),
        Call(path=told, query=lambda things: {"format": "markdown", "removed": "true"}),
    ],
    "runs_list": [Call(path=session)],
    "runs_start": [Call(path=session, status=201)],
    "sessions_runs_end_create": [Call(path=run)],
    "sessions_runs_abort_create": [Call(path=run)],
}
