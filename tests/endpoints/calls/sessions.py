"""Calls of sessions and runs."""

from tests.endpoints.calls.base import Call


def session(things):
    return {"session_ref": "s1"}


def run(things):
    return {"session_ref": "s1", "run_id": things.known["run"]}


def started(things):
    return things.world.post("/api/sessions/s1/runs", {}).json()["id"]


MAKERS = {"run": started}
CALLS = {
    "sessions_list": [Call()],
    "sessions_create": [Call(body=lambda things: {"id": "s2", "source": "cli", "title": "t"}, status=201)],
    "sessions_read": [Call(path=session)],
    "runs_list": [Call(path=session)],
    "runs_start": [Call(path=session, status=201)],
    "sessions_runs_end_create": [Call(path=run)],
    "sessions_runs_abort_create": [Call(path=run)],
}
