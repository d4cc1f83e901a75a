"""Calls of captures; what they refuse is 422."""

from tests.endpoints.calls.base import Call

SCOPE = {"scope_id": "main"}
BODY = {**SCOPE, "source_id": "s:2", "content": "x", "metadata": {"a": 1}}
PROJECT = {"profile": "hermes-turn-text.v1", "session_id": "s1", "user": "q", "assistant": "a"}


def captured(things):
    answer = things.world.post("/api/captures/sources", {**SCOPE, "source_id": "s:1", "content": "Ana prefers tea."})
    assert answer.status_code == 201
    other = things.world.post("/api/captures/sources", {**SCOPE, "source_id": "s:1", "content": "Ana prefers milk."})
    assert other.status_code == 409
    return "s:1"


def source(things):
    return {"source_id": things.known["capture"]}


def scope(things):
    return SCOPE


def body(things):
    return BODY


GATEWAY = {**PROJECT, "profile": "gateway-turn-text.v1", "protocol": "chat", "finish_reason": "stop", "gap": True}
WINDOW = {**PROJECT, "profile": "hermes-precompress-text.v1", "messages": [], "previous": [], "mode": "optional"}
# A scope or a source that is not there; the tests of paths name no scope.
GONE = {"scope_id": {404}, "source_id": {404}}
UNNAMED = ("scope_id must not be blank",)
MAKERS = {"capture": captured}
CALLS = {
    "captures_list": [Call(query=lambda things: {**SCOPE, "after": "0", "limit": "5"})],
    "captures_capture": [Call(body=body, status=201)],
    "captures_capture_v1": [Call(body=body, status=201)],
    "captures_read": [Call(path=source, query=scope, missing=GONE, sentences=UNNAMED)],
    "captures_purge": [Call(path=source, query=scope, missing=GONE, sentences=UNNAMED, status=202)],
    "captures_conflicts": [Call(query=lambda things: {**SCOPE, "source_id": "s:1"}, missing=GONE)],
    "captures_evidence": [Call(query=lambda things: {**SCOPE, "budget": "9000"})],
    "captures_scopes": [Call()],
    "captures_project": [
        Call(body=lambda things: PROJECT),
        Call(body=lambda things: GATEWAY),
        Call(body=lambda things: WINDOW),
    ],
}
