"""The log over REST: append, read on, see what the model sees, open again; whatever is sent, nothing breaks."""

import copy
import json

import pytest
from django.test import Client

from apps.sessions.actions.erasing import erase_log
from apps.sessions.models import Session, SessionEvent
from apps.sessions.rules.repair import OUTCOME_UNKNOWN_ERROR
from tests.sessions import logs
from tests.sessions.place import NOW

EVENTS = "/api/sessions/s1/events"
LONE = "lone \ud800 and \0 nothing"


class Door:
    """A session of the agent's over HTTP."""

    def __init__(self, place):
        self.place = place

    def post(self, body, path=EVENTS, **more):
        return self.place.call("POST", path, body, **more)

    def append(self, *rows, first=0):
        return self.post({"expectedSeq": first, "events": logs.numbered(rows, first=first)})

    def get(self, path, **more):
        answer = self.place.call("GET", path, **more)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def raw(self, body, path=EVENTS):
        client = Client(headers={"authorization": f"Bearer {self.place.secrets['agent']}"})
        return client.post(path, body, content_type="application/json")


@pytest.fixture
def door(place):
    place.session()
    return Door(place)


def test_what_is_appended_is_read_page_by_page(door):
    answer = door.append(*logs.a_turn(1), *logs.a_turn(2))
    assert (answer.status_code, answer.json()) == (200, {"first": 0, "next_seq": 12, "repeated": False})
    found, after = [], -1
    while True:
        page = door.get(f"{EVENTS}?after={after}&limit=5" if after >= 0 else f"{EVENTS}?limit=5")
        found += page["events"]
        if not page["more"]:
            break
        after = found[-1]["seq"]
    assert found == logs.numbered([*logs.a_turn(1), *logs.a_turn(2)])
    assert page["next_seq"] == 12
    assert door.get(f"{EVENTS}?after=11") == {"events": [], "next_seq": 12, "more": False}


def test_the_same_again_succeeds_and_a_stale_one_is_told_what_it_missed(door):
    door.append(*logs.a_turn(1))
    assert door.append(*logs.a_turn(1)).json() == {"first": 0, "next_seq": 6, "repeated": True}
    stale = door.post({"expected_seq": 3, "events": [logs.user("u", LONE)]})
    assert stale.status_code == 409
    told = stale.json()
    assert (told["code"], told["next_seq"]) == ("stale_append", 6)
    assert told["events"] == logs.numbered(logs.a_turn(1))[3:]


def test_a_refusal_names_the_rule_and_the_event(door):
    answer = door.append(logs.turn_start(1), logs.turn_start(2))
    assert answer.status_code == 422
    assert (answer.json()["code"], answer.json()["seq"]) == ("turn.unexpected_start", 1)
    assert SessionEvent.objects.count() == 0


def test_texts_that_no_encoding_keeps_go_in_and_come_out(door):
    assert door.append(logs.user("u1", LONE)).status_code == 200
    assert door.get(EVENTS)["events"][0]["data"]["content"][0]["text"] == LONE
    assert door.get("/api/sessions/s1/surface")["messages"][0]["content"][0]["text"] == LONE
    stale = door.append(logs.user("u2", LONE))
    assert stale.json()["events"][0]["data"]["content"][0]["text"] == LONE


def test_the_surface_is_what_the_model_sees(door):
    door.append(*logs.a_turn(1), *logs.a_compaction("c", seq=6, shadowed=[2, 3]), *logs.a_turn(2))
    whole = door.get("/api/sessions/s1/surface")
    assert (whole["nodes"], whole["next_seq"], whole["replaces"], whole["more"]) == ([8, 12, 13], 16, 1, False)
    assert [message["id"] for message in whole["messages"]] == ["k-c", "u2", "a2"]
    part = door.get("/api/sessions/s1/surface?after=8&limit=1")
    assert (part["nodes"], part["more"]) == ([12], True)
    gone = door.place.call("GET", "/api/sessions/s1/surface?after=2")
    assert (gone.status_code, gone.json()["field"]) == (400, "after")


def test_opening_again_closes_what_an_interruption_left_open_and_grows_nothing_twice(door):
    door.append(
        logs.turn_start(1),
        logs.step_start(1, 1),
        logs.reply(1, 1, "a", logs.call_block("c1"), logs.call_block("c2")),
        logs.call(1, 1, "c1"),
    )
    first = door.post(None, "/api/sessions/s1/reopen").json()
    assert first == {"first": 4, "next_seq": 9, "repeated": False}
    closers = door.get(f"{EVENTS}?after=3")["events"]
    kinds = ["tool/result", "tool/result", "step/end", "turn/end", "session/end-seed"]
    assert [event["type"] for event in closers] == kinds
    assert closers[0]["data"]["error"] == OUTCOME_UNKNOWN_ERROR
    assert door.post(None, "/api/sessions/s1/reopen").json() == {"first": 9, "next_seq": 9, "repeated": True}


def test_nobody_opens_again_what_another_host_is_at_work_in(door):
    assert door.post(None, "/api/sessions/s1/lease", by="other").status_code in (200, 201)
    answer = door.post(None, "/api/sessions/s1/reopen")
    assert (answer.status_code, answer.json()["code"]) == (409, "lease_held")
    assert door.post(None, "/api/sessions/s1/reopen", by="other").status_code == 200


class TestHeaders:
    def make(self, door, **members):
        return door.post({"id": "child", **members}, "/api/sessions")

    def test_hold_what_the_host_says(self, door):
        told = {"cwd": "/srv", "parentSession": "session-s1", "origin": "subagent", "delegationDepth": 1}
        assert self.make(door, **told, agentPreset="deep").status_code == 201
        row = Session.objects.get(ref="child")
        required = {"version": 4, "id": "child", "createdAt": NOW, "isSeeded": False}
        assert json.loads(row.header) == required | told | {"agentPreset": "deep"}
        assert (row.origin, row.parent) == ("subagent", "s1")

    @pytest.mark.parametrize(
        "told",
        [
            {"cwd": "here"},
            {"cwd": 5},
            {"cwd": "/" * 5000},
            {"origin": "fork"},
            {"parentSession": ["s1"]},
            {"agentPreset": {}},
            {"delegationDepth": -1},
            {"delegationDepth": True},
        ],
    )
    def test_hold_nothing_else(self, door, told):
        answer = self.make(door, **told)
        assert (answer.status_code, answer.json()["field"]) == (400, *told)

    def test_are_made_once_under_either_spelling(self, door):
        for name in ("s1", "session-s1"):
            answer = door.post({"id": name}, "/api/sessions")
            assert (answer.status_code, answer.json()["code"]) == (409, "session_exists")


ODD = [None, True, [], {}, "", 10**400, -0.0, "\ud800", "\0", "x" * 1_000_000, [[]], {"a": None}, -1, 1.5, "1"]
NAMES = [json.dumps(value)[:20] for value in ODD]


class TestWhateverIsSent:
    @pytest.mark.parametrize("body", [b"", b"null", b"[]", b"{", b'"', b"\xff\xfe", b"[" * 10_000, b"NaN", b"1e999"])
    def test_a_body_that_is_no_object_is_refused(self, door, body):
        assert door.raw(body).status_code == 400

    @pytest.mark.parametrize("value", ODD, ids=NAMES)
    def test_an_odd_value_in_the_place_of_a_member_is_refused_by_name(self, door, value):
        answer = door.raw(json.dumps({"expectedSeq": value, "events": []}))
        assert (answer.status_code, answer.json()["field"]) == (400, "expectedSeq")
        answer = door.raw(json.dumps({"expectedSeq": 0, "events": value}))
        if value == []:
            assert answer.json() == {"first": 0, "next_seq": 0, "repeated": True}
        else:
            assert (answer.status_code, answer.json()["field"]) == (400, "events")
        answer = door.raw(json.dumps({"expectedSeq": 0, "events": [value]}))
        if isinstance(value, dict):
            assert (answer.status_code, answer.json()["code"]) == (422, "envelope.missing_field")
        else:
            assert (answer.status_code, answer.json()["field"]) == (400, "events")

    @pytest.mark.parametrize(
        "value", [None, {}, "\ud800", -0.0, 10**400, [[]]], ids=lambda value: json.dumps(value)[:20]
    )
    def test_an_odd_value_anywhere_in_an_event_breaks_nothing(self, door, value):
        plain = logs.numbered([logs.turn_start(1), logs.step_start(1, 1), logs.reply(1, 1, "a", logs.text("b"))])
        for path in places(plain):
            events = copy.deepcopy(plain)
            put(events, path, value)
            answer = door.raw(json.dumps({"expectedSeq": 0, "events": events}))
            refused = answer.status_code in (400, 422)
            assert refused or answer.status_code == 200, (path, answer.content)
            if not refused:
                assert door.get(EVENTS)["events"] == events
                erase_log(session=Session.objects.get(ref="s1"))
                door.place.session()

    @pytest.mark.parametrize(
        "query", ["after=x", "after=-2", "limit=0", "limit=1e3", "limit=99999", "after=1&limit=-1"]
    )
    @pytest.mark.parametrize("path", ["events", "surface"])
    def test_an_odd_query_is_refused(self, door, path, query):
        answer = door.place.call("GET", f"/api/sessions/s1/{path}?{query}")
        assert (answer.status_code, answer.json()["field"] in query) == (400, True)


def places(value, *, path=()):
    """Give the way to every member below a value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield (*path, name)
        yield from places(member, path=(*path, name))


def put(value, path, member):
    for name in path[:-1]:
        value = value[name]
    value[path[-1]] = member


@pytest.mark.parametrize("by", ["charlies"])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "events"), ("POST", "events"), ("GET", "surface"), ("POST", "reopen")]
)
def test_a_session_of_others_is_not_there(door, method, path, by):
    hidden = door.place.call(method, f"/api/sessions/s1/{path}", None, by=by)
    missing = door.place.call(method, f"/api/sessions/none/{path}", None, by=by)
    assert hidden.status_code == missing.status_code == 404
    assert hidden.content == missing.content
