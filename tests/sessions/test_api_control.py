"""The agent-control routes: who may ask, what is hidden, in which order a request is looked at."""

import json

import pytest
from django.conf import settings
from django.test import Client

from apps.confirmations.models import Confirmation
from apps.confirmations.rules import Outcome
from apps.sessions.contracts import DELETE_SESSION
from apps.sessions.models import PinnedSession, Session, WorkspaceEntry
from tests import factories
from tests.sessions.deciding import Desk
from tests.sessions.place import NOW

pytestmark = pytest.mark.django_db(transaction=True)
SESSIONS, TURNS = "/api/agent-control/sessions", "/api/agent-control/turns"
SESSION_DELETE, TURN_DELETE = "/api/agent-control/session/delete", "/api/agent-control/turn/delete"


@pytest.fixture
def desk(place):
    desk = Desk(place)
    desk.session("s2", turns=3, title="Holiday plans")
    return desk


def raw(desk, path, data, *, by="agent", **headers):
    headers = {"authorization": f"Bearer {desk.place.secrets[by]}", **headers}
    return Client(headers=headers).generic("POST", path, data, content_type="application/json")


def error_of(answer):
    body = answer.json()
    assert body["ok"] is False
    return answer.status_code, body["error"]["code"]


class TestAsking:
    def test_a_person_is_asked_and_the_answer_says_where_to_look(self, desk):
        answer = desk.place.call("POST", SESSION_DELETE, {"sessionId": "s2"})
        body = answer.json()
        row = Confirmation.objects.get(pk=body["confirmation_id"])
        assert (answer.status_code, body["ok"], body["status"]) == (202, True, "pending")
        assert answer["Location"] == f"/api/confirmations/{row.pk}"
        assert (row.contract, row.deadline_ms) == ("sessions.delete", NOW + 300_000)

    def test_the_lifetime_is_a_member_of_the_body(self, desk):
        body = {"sessionId": "s2", "expires_in_s": 30}
        found = desk.place.call("POST", SESSION_DELETE, body, prefer="respond-async").json()
        assert Confirmation.objects.get(pk=found["confirmation_id"]).deadline_ms == NOW + 30_000
        for wrong in (2, "soon", 604_801, True, 3.5, []):
            refused = desk.place.call("POST", SESSION_DELETE, body | {"expires_in_s": wrong})
            assert error_of(refused) == (400, "INVALID_REQUEST")

    def test_the_outcome_is_found_by_the_key_afterwards(self, desk):
        ask = {"sessionId": "s2"}
        first = desk.place.call("POST", SESSION_DELETE, ask, idempotency_key="k1").json()
        desk.tick(desk.ask(DELETE_SESSION, session="s2"))
        again = desk.place.call("POST", SESSION_DELETE, ask, idempotency_key="k1")
        assert (again.status_code, again.json()["sessionId"]) == (200, "s2")
        assert again.json()["confirmation_id"] == first["confirmation_id"]
        other = desk.place.call("POST", SESSION_DELETE, {"sessionId": "s3"}, idempotency_key="k1")
        assert error_of(other) == (422, "IDEMPOTENCY_CONFLICT")

    def test_a_denial_is_not_asked_again_for_a_while(self, desk):
        desk.tick(desk.ask(session="s2"), decision="deny", reason="Not yet")
        answer = desk.place.call("POST", SESSION_DELETE, {"sessionId": "session-s2"})
        assert error_of(answer) == (403, "DENIED_RECENTLY")
        assert answer["Retry-After"] == str(answer.json()["error"]["retry_after_s"])

    def test_too_many_open_requests_are_refused(self, desk, monkeypatch):
        monkeypatch.setattr(settings, "SAYSO_MAX_OPEN", 1)
        desk.ask(session="s2")
        desk.session("s3")
        answer = desk.place.call("POST", SESSION_DELETE, {"sessionId": "s3"})
        assert error_of(answer) == (429, "TOO_MANY_PENDING")

    def test_a_removed_turn_is_answered_at_once(self, desk):
        desk.tick(desk.ask_turn("s2", "a2"))
        answer = desk.place.call("POST", TURN_DELETE, {"sessionId": "session-s2", "assistantMessageId": "a2"})
        body = answer.json()
        assert (answer.status_code, body["ok"], body["turn"], body["alreadyDeleted"]) == (200, True, 2, True)
        assert desk.place.call("GET", f"{TURNS}?sessionId=session-s2").json()["turns"] == [2]


class TestWhoMay:
    def test_nobody_without_a_credential(self, desk):
        for method, path in (("get", SESSIONS), ("get", TURNS), ("post", SESSION_DELETE), ("post", TURN_DELETE)):
            answer = getattr(Client(), method)(path)
            assert error_of(answer) == (401, "UNAUTHORIZED")
            assert answer["WWW-Authenticate"].startswith("Bearer")

    def test_no_token_without_the_scope_and_no_viewer(self, desk):
        reading = {"scopes": ["session.read", "session.append"]}
        _, desk.place.secrets["reader"] = factories.token(desk.place.alice, of=desk.place.profile, **reading)
        vera = factories.person("vera", default="viewer")
        _, desk.place.secrets["vera"] = factories.token(vera, of=desk.place.profile)
        for by in ("reader", "vera"):
            answer = desk.place.call("POST", SESSION_DELETE, {"sessionId": "s2"}, by=by)
            assert error_of(answer) == (403, "PERMISSION_DENIED")
            assert desk.place.call("GET", SESSIONS, by=by).status_code == 200

    def test_what_is_hidden_and_what_is_missing_look_alike(self, desk):
        desk.place.restrict(desk.place.bob)
        for by in ("agent", "charlies"):
            hidden = desk.place.call("POST", SESSION_DELETE, {"sessionId": "s2"}, by=by)
            missing = desk.place.call("POST", SESSION_DELETE, {"sessionId": "s3"}, by=by)
            assert error_of(hidden) == (404, "TARGET_NOT_FOUND")
            assert hidden.content == missing.content
            turn = {"sessionId": "s2", "assistantMessageId": "a2"}
            assert error_of(desk.place.call("POST", TURN_DELETE, turn, by=by)) == (404, "TARGET_NOT_FOUND")
            assert error_of(desk.place.call("GET", f"{TURNS}?sessionId=s2", by=by)) == (404, "TARGET_NOT_FOUND")
            assert desk.place.call("GET", SESSIONS, by=by).json()["sessions"] == []
        assert desk.place.call("POST", SESSION_DELETE, {"sessionId": "s2"}, by="bobs").status_code == 202

    def test_a_subagent_in_a_room_of_others_is_not_deleted_behind_their_backs(self, desk):
        hidden = desk.place.copy("kid", slug="theirs")
        Session.objects.filter(pk=hidden.pk).update(parent="s2", origin="subagent")
        desk.place.restrict(desk.place.bob, slug="theirs")
        answer = desk.place.call("POST", SESSION_DELETE, {"sessionId": "s2"})
        assert error_of(answer) == (403, "PERMISSION_DENIED")
        assert "kid" not in answer.text

    def test_a_number_names_a_turn_only_for_a_person(self, desk):
        body = {"sessionId": "s2", "turn": 2}
        assert error_of(desk.place.call("POST", TURN_DELETE, body)) == (400, "INVALID_REQUEST")
        client = Client(headers={"origin": min(settings.SAYSO_ORIGINS)})
        client.force_login(desk.place.alice)
        assert client.post(TURN_DELETE, json.dumps(body), content_type="application/json").status_code == 202
        for turn in (0, -1, "2", 2**40, None, True, 1.5):
            found = client.post(TURN_DELETE, json.dumps(body | {"turn": turn}), content_type="application/json")
            assert error_of(found) == (400, "INVALID_REQUEST")
        found = client.post(TURN_DELETE, json.dumps(body | {"turn": 9}), content_type="application/json")
        assert error_of(found) == (404, "TARGET_NOT_FOUND")


class TestShapes:
    @pytest.mark.parametrize(
        "data",
        [
            b"[]",
            b"true",
            b'"\\ud800"',
            b'{"sessionId": null}',
            b'{"sessionId": 1e309}',
            b'{"sessionId": NaN}',
            b'{"sessionId": {}}',
            b'{"sessionId": "a\\u0000b"}',
            b'{"sessionId": "\\ud800"}',
            b'{"sessionId": "' + b"x" * 60_000 + b'"}',
            b'{"sessionId": "s2"' + b" " * 1_000_000 + b"}",
            b'{"sessionId": "s2"' + b" " * 3_000_000 + b"}",
            b"\xff\xfe",
            b"[" * 60_000,
            b"1" * 60_000,
        ],
        ids=lambda data: repr(data[:24]),
    )
    def test_a_body_that_names_no_session_is_the_callers_mistake(self, desk, data):
        for path in (SESSION_DELETE, TURN_DELETE):
            assert error_of(raw(desk, path, data)) == (400, "INVALID_REQUEST")

    def test_the_content_type_does_not_matter(self, desk):
        headers = {"authorization": f"Bearer {desk.place.secrets['agent']}"}
        answer = Client(headers=headers).generic(
            "POST", SESSION_DELETE, b'{"sessionId": "s2"}', content_type="text/plain"
        )
        assert answer.status_code == 202

    def test_65536_bytes_are_not_too_many(self, desk):
        body = b'{"sessionId": "s2"}'
        assert raw(desk, SESSION_DELETE, body.ljust(65_536)).status_code == 202

    def test_a_wrong_method_is_told_the_right_one(self, desk):
        for method in ("PUT", "PATCH", "DELETE", "GET", "HEAD", "OPTIONS"):
            answer = desk.place.call(method, SESSION_DELETE)
            assert (answer.status_code, answer["Allow"]) == (405, "POST")


def test_the_list_names_each_session_once_and_says_what_is_in_the_way(desk):
    desk.place.copy("session-s2", slug="--desk--")
    stray = desk.place.copy("session-x", slug="--desk--")
    PinnedSession.objects.create(profile=desk.place.profile, spelling="nowhere")
    WorkspaceEntry.objects.create(
        profile=desk.place.profile, workspace=stray.workspace, spelling="gone", created_at_ms=NOW
    )
    stray.workspace.title, stray.workspace.path = "Desk", "/srv/desk"
    stray.workspace.save()
    desk.place.call("POST", "/api/sessions/s2/lease", {})
    rows = {row["sessionId"]: row for row in desk.place.call("GET", SESSIONS).json()["sessions"]}
    assert list(rows) == ["s2", "gone", "x"]
    assert (rows["s2"]["live"], rows["s2"]["removable"], len(rows["s2"]["reasons"])) == (True, False, 1)
    assert (rows["gone"]["workspaceTitle"], rows["gone"]["cwd"]) == ("Desk", "/srv/desk")
    assert (rows["x"]["live"], rows["x"]["removable"]) == (False, True)
    assert rows["x"]["reasons"] == ["It is stored, but no workspace lists it."]


class TestTheRestDoor:
    def test_any_id_can_be_asked_for_by_its_address(self, desk):
        desk.session("会话 7")
        path = "/api/sessions/%E4%BC%9A%E8%AF%9D%207?expires_in_s=30"
        pending = desk.place.call("DELETE", path, idempotency_key="k1")
        body = pending.json()
        assert (pending.status_code, body["status"]) == (202, "pending")
        row = desk.tick(Outcome(confirmation_id=body["confirmation_id"], state="pending"))
        assert (row.state, row.deadline_ms) == ("executed", NOW + 30_000)
        done = desk.place.call("DELETE", path, idempotency_key="k1")
        assert (done.status_code, done.json()["removed"]) == (200, ["default/会话 7"])

    def test_it_refuses_in_its_own_family(self, desk):
        answer = desk.place.call("DELETE", "/api/sessions/ghost")
        assert (answer.status_code, answer.json()["code"]) == (404, "TARGET_NOT_FOUND")
        desk.place.call("POST", "/api/sessions/s2/lease", {})
        answer = desk.place.call("DELETE", "/api/sessions/s2")
        assert (answer.status_code, answer.json()["code"]) == (409, "SESSION_LIVE")
