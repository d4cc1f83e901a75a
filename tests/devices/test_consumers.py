import asyncio

import pytest

from apps.devices.rules import all_actions
from tests.conformance.gate.wire import fetch
from tests.devices.house import DELETE, LIST, NOW, only_id

STALE = "Calendar or reminder request is no longer pending."
WRONG_DEVICE = "Response is not from the target device"


class TestHandshake:
    async def test_takes_a_token_in_the_first_frame_within_five_seconds(self, house):
        phone = await house.phone()
        socket = await house.socket()
        (ready,) = await house.say(socket, event="hello", token=phone.secret, actions=[])
        assert (ready["event"], ready["profile"]) == ("hello.accepted", "default")

    async def test_is_closed_after_five_silent_seconds(self, house):
        socket = await house.socket()
        await house.server.advance(4_999)
        await house.rest()
        assert not socket.closed
        await house.server.advance(1)
        await house.rest()
        assert socket.closed
        assert socket.frames == []

    async def test_that_was_let_in_is_not_closed_then(self, house):
        phone = await house.phone()
        socket = await house.socket()
        await house.say(socket, event="auth", token=phone.secret)
        await house.server.advance(5_000)
        await house.rest()
        assert not socket.closed

    async def test_with_cookie_and_token_is_refused(self, house):
        phone = await house.phone()
        cookie = house.people["alice"].cookies()
        socket = await house.socket(authorization=f"Bearer {phone.secret}", cookie=cookie)
        assert socket.closed
        assert socket.connection is None

    async def test_ignores_a_cookie(self, house):
        socket = await house.socket(cookie=house.people["alice"].cookies())
        (said,) = await house.say(socket, event="resume", session_id="s1")
        assert said["event"] == "connect_error"
        assert socket.closed

    @pytest.mark.parametrize("secret", ["", "made up", "agent"])
    async def test_without_a_phones_token_says_so_and_closes(self, house, secret):
        socket = await house.socket(authorization=f"Bearer {house.secrets.get(secret, secret)}")
        assert [(f["event"], f["error"]) for f in socket.frames] == [
            ("connect_error", "App device authentication failed")
        ]
        assert socket.closed

    @pytest.mark.parametrize("profile", ["charlies", "nowhere"])
    async def test_for_somebody_elses_profile_is_refused(self, house, profile):
        phone = await house.phone()
        socket = await house.socket(query=f"?profile={profile}", authorization=f"Bearer {phone.secret}")
        assert [f["error"] for f in socket.frames] == ["Profile access denied"]
        assert socket.closed

    async def test_for_another_profile_of_the_person_is_for_that_profile(self, house):
        phone = await house.phone()
        socket = await house.socket(query="?profile=work", authorization=f"Bearer {phone.secret}")
        (ready,) = await house.say(socket, event="hello", actions=[])
        assert ready["profile"] == "work"

    async def test_needs_no_origin_and_minds_none(self, house):
        phone = await house.phone()
        socket = await house.socket(authorization=f"Bearer {phone.secret}", origin="https://elsewhere.example")
        assert not socket.closed


class TestFrames:
    async def test_that_are_unknown_are_named(self, house):
        phone = await house.phone()
        (said,) = await house.say(phone, event="calendar.requested")
        assert (said["event"], said["code"], said["of"]) == ("error", "unknown_event", "calendar.requested")

    async def test_hold_odd_characters_and_the_socket_lives(self, house):
        phone = await house.phone()
        (said,) = await house.say(phone, event="resume", session_id="s1\x00\ud800")
        assert (said["code"], said["error"]) == ("session_not_found", "Session not found")
        assert not phone.closed

    async def test_about_another_tenants_session_find_nothing(self, house):
        phone = await house.phone()
        for event in ("run.started", "run.ended", "abort", "resume"):
            (said,) = await house.say(phone, event=event, session_id="s9")
            assert (said["of"], said["error"]) == (event, "Session not found")

    async def test_of_somebody_who_only_looks_start_and_end_nothing(self, house):
        alices = await house.phone()
        await house.say(alices, event="run.started", session_id="s1")
        here = await house.phone("v1", person="vera")
        for event in ("run.started", "run.ended", "abort"):
            (said,) = await house.say(here, event=event, session_id="s1")
            assert (said["of"], said["code"]) == (event, "permission_denied")
        elsewhere = await house.phone("v2", person="vera", profile="work")
        (said,) = await house.say(elsewhere, event="run.started", session_id="s1", profile="default")
        assert said["code"] == "permission_denied"
        (said,) = await house.say(here, event="resume", session_id="s1")
        assert said["isWorking"]

    async def test_with_numbers_of_any_length_are_answered(self, house):
        phone = await house.phone()
        frame = {"session_id": "s1", "calendar_request_id": 10**4000, "status": 10**400}
        await house.say(phone, event="calendar.respond", **frame)
        assert not phone.closed

    async def test_of_a_persons_own_app_start_runs_but_never_as_a_phone(self, house):
        script = await house.socket(authorization=f"Bearer {house.secrets['script']}")
        (said,) = await house.say(script, event="run.started", session_id="s1")
        assert said["event"] == "run.accepted"
        request = await house.ask(LIST)
        assert request.answer.json["error"].startswith("Mobile target unavailable")


class TestClosing:
    async def test_follows_the_revocation_at_once(self, house):
        phone = await house.phone()
        other = await house.phone("android")
        listed = (await house.page("GET", "/api/devices")).json["devices"]
        mine = next(one for one in listed if one["name"] == "iphone")
        assert [one["online"] for one in listed] == [True, True]
        assert (await house.page("DELETE", f"/api/devices/{mine['id']}")).status == 200
        await house.rest()
        assert (phone.closed, other.closed) == (True, False)
        assert [one["name"] for one in (await house.page("GET", "/api/devices")).json["devices"]] == ["android"]

    async def test_follows_the_lost_membership(self, house):
        bobs = await house.phone("b", person="bob")
        alices = await house.phone("a")
        await house.server.call("change", kind="member", id="bob", set={"profile": "default"})
        await house.rest()
        assert (bobs.closed, alices.closed) == (True, False)

    async def test_follows_pairing_again_for_the_old_token(self, house):
        old = await house.phone()
        new = await house.phone()
        assert (old.closed, new.closed) == (True, False)
        assert old.secret != new.secret

    async def test_follows_the_end_of_the_thirty_days(self, house):
        phone = await house.phone()
        await house.server.advance(30 * 24 * 3_600_000)
        await house.rest()
        assert phone.closed

    async def test_does_not_follow_a_sign_out_in_the_browser(self, house):
        phone = await house.phone()
        await house.server.call("sign_out", person="alice", cookie=house.people["alice"].cookie)
        await house.rest()
        assert not phone.closed


class TestRequests:
    @pytest.fixture
    async def phone(self, house):
        phone = await house.phone()
        await house.say(phone, event="run.started", session_id="s1")
        return phone

    async def test_reach_every_socket_of_the_phone_and_nobody_else(self, house, phone):
        second, other = await house.again(phone), await house.phone("android")
        bobs = await house.phone("iphone", person="bob")
        await house.ask(LIST)
        assert [len(one.requests) for one in (phone, second, other, bobs)] == [1, 1, 0, 0]

    async def test_are_answered_by_any_socket_of_the_phone(self, house, phone):
        second = await house.again(phone)
        request = await house.ask(LIST)
        item = {"id": "1", "title": "Sync", "startMs": 5, "secret": "x"}
        frames = await house.answer(second, only_id(phone), status="success", result={"items": [item]})
        assert [(f["event"], f["status"], f["resolved"]) for f in frames] == [("calendar.resolved", "success", True)]
        assert phone.frames[-1] == frames[0]
        assert request.answer.json["result"]["items"] == [{"id": "1", "title": "Sync", "startMs": 5}]

    async def test_survive_a_reconnect_and_pairing_again(self, house, phone):
        request = await house.ask(LIST)
        found = only_id(phone)
        again = await house.phone()
        (resumed,) = await house.say(again, event="resume", session_id="s1")
        assert [one["data"]["calendar_request_id"] for one in resumed["events"]] == [found]
        await house.answer(again, found)
        assert request.answer.json["status"] == "denied"

    async def test_are_shown_again_to_a_numbered_question(self, house, phone):
        await house.ask(LIST)
        (resumed,) = await house.say(phone, event="app.resume", session_id="s1", id="q7")
        assert (resumed["event"], resumed["id"], resumed["isWorking"]) == ("app.resumed", "q7", True)
        assert len(resumed["events"]) == 1
        (refused,) = await house.say(phone, event="app.resume", session_id="s1", id="x" * 129)
        assert refused["of"] == "app.resume"

    async def test_are_ended_by_one_of_two_answers_at_the_same_moment(self, house, phone):
        second = await house.again(phone)
        request = await house.ask(DELETE)
        frame = {"event": "calendar.respond", "session_id": "s1", "calendar_request_id": only_id(phone)}
        yes = {**frame, "status": "success", "result": {"item": {"id": "e1", "deleted": True}}}
        await asyncio.gather(phone.say(yes), second.say({**frame, "status": "denied"}))
        await house.rest()
        heard = [f for f in phone.frames if f["event"] == "calendar.resolved"]
        stale, settled = sorted(heard, key=lambda f: f["resolved"])
        assert (stale["resolved"], stale["error"], settled["resolved"]) == (False, STALE, True)
        won = request.answer.json
        assert won["status"] == settled["status"]
        states = await house.server.call("states", ids=[won["confirmation_id"]])
        (state,) = states.values()
        assert (state["decider_kind"], state["decider"][:7]) == ("device", "device:")

    async def test_refuse_another_phone_and_stay_open(self, house, phone):
        other = await house.phone("android")
        request = await house.ask(DELETE)
        (said,) = await house.answer(other, only_id(phone))
        assert (said["resolved"], said["error"]) == (False, WRONG_DEVICE)
        assert [f["event"] for f in phone.frames if f["event"].endswith("resolved")] == []
        assert request.answer is None

    async def test_refuse_the_phone_of_another_tenant_like_a_missing_session(self, house, phone):
        theirs = await house.phone("iphone", person="charlie", profile="charlies")
        request = await house.ask(DELETE)
        (said,) = await house.answer(theirs, only_id(phone))
        assert (said["resolved"], said["error"]) == (False, "Session not found")
        assert request.answer is None

    async def test_that_ran_out_cannot_be_answered(self, house, phone):
        request = await house.ask({**DELETE, "timeout_ms": 3000})
        await house.server.advance(3000)
        await house.rest()
        assert request.answer.json["error"] == {"code": "calendar_failed", "reason": "expired"}
        assert phone.frames[-1]["error"] == {"code": "calendar_failed"}
        (said,) = await house.answer(phone, only_id(phone))
        assert (said["stale"], said["error"]) == (True, STALE)

    async def test_are_taken_back_by_an_abort_and_the_phone_stays_the_target(self, house, phone):
        request = await house.ask(DELETE)
        (resolved,) = await house.say(phone, event="abort", session_id="s1")
        assert (resolved["event"], resolved["status"]) == ("calendar.resolved", "error")
        assert request.answer.json["error"] == {"code": "calendar_failed", "reason": "withdrawn"}
        await house.ask(LIST)
        assert len(phone.requests) == 2

    async def test_are_taken_back_by_the_servers_abort_with_the_target(self, house, phone):
        request = await house.ask(DELETE)
        headers = {"authorization": f"Bearer {house.secrets['agent']}"}
        (run,) = (await fetch(house.origin, "GET", "/api/sessions/s1/runs", headers=headers)).json["runs"]
        path = f"/api/sessions/s1/runs/{run['id']}/abort"
        refused = await fetch(house.origin, "POST", path, headers=headers)
        assert (refused.status, refused.json["code"]) == (403, "not_your_run")
        assert request.answer is None
        assert (await house.page("POST", path)).status == 200
        await house.rest()
        assert request.answer.json["error"]["reason"] == "withdrawn"
        refused = await house.ask(LIST)
        assert refused.answer.json["error"].startswith("Mobile target unavailable")

    async def test_are_taken_back_by_a_hang_up(self, house, phone):
        request = await house.ask(DELETE)
        await request.hang_up()
        await house.server.call("rest", seen=[], gone=[request.tag], frames={})
        await phone.catch_up()
        assert phone.frames[-1]["status"] == "error"
        (said,) = await house.answer(phone, only_id(phone))
        assert said["stale"] is True

    async def test_to_delete_the_same_after_a_no_are_not_shown_for_a_while(self, house, phone):
        await house.ask(DELETE)
        await house.answer(phone, only_id(phone))
        again = await house.ask({**DELETE, "purpose": "please"})
        assert (again.answer.json["status"], again.answer.json["code"]) == ("denied", "denied_recently")
        assert len(phone.requests) == 1
        await house.server.advance(600_000)
        await house.ask(DELETE)
        assert len(phone.requests) == 2

    async def test_need_the_right_to_what_is_asked_and_no_other(self, house, phone):
        refused = await house.ask(LIST, by="deleter")
        assert refused.answer.status == 403
        asked = await house.ask(DELETE, by="deleter")
        assert asked.answer is None
        await house.answer(phone, only_id(phone))
        assert asked.answer.json["status"] == "denied"

    async def test_for_an_action_that_the_phone_does_not_know_are_answered_at_once(self, house, phone):
        await house.say(phone, event="hello", actions=[one for one in all_actions() if one != "calendar.delete"])
        request = await house.ask(DELETE)
        assert request.answer.status == 200
        assert request.answer.json["error"]["code"] == "calendar_unavailable"
        assert phone.requests == {}
        await house.ask(LIST)
        assert len(phone.requests) == 1

    async def test_appear_in_no_browser(self, house, phone):
        page = await house.people["alice"].open_page(house.origin)
        house.sockets.append(page)
        await house.ask(DELETE)
        assert (await house.page("GET", "/api/inbox")).json["cards"] == []
        assert page.cards == {}
        path = f"/api/confirmations/{only_id(phone)}/decision"
        refused = await house.page(
            "POST", path, body={"decision": "approve", "acknowledged": True, "digest": "", "nonce": ""}
        )
        assert refused.status == 404

    async def test_outlive_a_stop_of_the_server(self, house, phone):
        request = await house.ask({**DELETE, "timeout_ms": 60_000})
        found = only_id(phone)
        await house.server.end("stop")
        assert (await request.done()).status == 503
        house.server.start(now_ms=NOW + 1000)
        again = await house.again(phone)
        (resumed,) = await house.say(again, event="resume", session_id="s1")
        assert [one["data"]["expires_at_ms"] for one in resumed["events"]] == [NOW + 60_000]
        await house.answer(again, found)
        assert (await house.server.call("states", ids=[found]))[found]["state"] == "denied"
