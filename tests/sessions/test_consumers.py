"""The hosts' socket: who is let in, leases that end with it, the inbox as it fills, requests to stop."""

import json

import pytest

from apps.core.frames import all_frames
from tests.sessions.hosts import NOW, new


class TestHandshake:
    async def test_takes_a_token_in_the_first_frame_within_five_seconds(self, house):
        socket = await house.socket()
        (ready,) = await house.say(socket, event="auth", token=house.secrets["host"])
        assert (ready["event"], ready["profile"], ready["lease_ms"]) == ("host.accepted", "default", 60_000)
        await house.server.advance(5_000)
        await house.rest()
        assert not socket.closed

    async def test_is_closed_after_five_silent_seconds(self, house):
        socket = await house.socket()
        await house.server.advance(4_999)
        await house.rest()
        assert not socket.closed
        await house.server.advance(1)
        await house.rest()
        assert (socket.closed, socket.frames) == (True, [])

    async def test_with_cookie_and_token_is_refused(self, house):
        cookie = house.people["alice"].cookies()
        socket = await house.socket(authorization=f"Bearer {house.secrets['host']}", cookie=cookie)
        assert (socket.closed, socket.connection) == (True, None)

    async def test_ignores_a_cookie(self, house):
        socket = await house.socket(cookie=house.people["alice"].cookies())
        (said,) = await house.say(socket, event="lease.take", session_id="s1")
        assert (said["event"], said["code"], socket.closed) == ("error", "unauthorized", True)

    @pytest.mark.parametrize(
        ("secret", "code"),
        [
            ("", "unauthorized"),
            ("made up", "unauthorized"),
            ("phone", "permission_denied"),
            ("calendars", "permission_denied"),
        ],
    )
    async def test_needs_a_host_s_token_with_a_scope_for_sessions(self, house, secret, code):
        socket = await house.socket(authorization=f"Bearer {house.secrets.get(secret, secret)}")
        assert [(frame["event"], frame["code"]) for frame in socket.frames] == [("error", code)]
        assert socket.closed

    async def test_lets_a_person_s_own_script_in(self, house):
        await house.host("script")


class TestClosing:
    async def test_follows_the_revocation_at_once_and_the_session_is_free(self, house):
        socket = await house.host(takes="s1")
        other = await house.host("other")
        await house.server.call("change", kind="token", id="host", set={})
        await house.rest()
        assert (socket.closed, other.closed) == (True, False)
        (taken,) = await house.say(other, event="lease.take", session_id="s1")
        assert taken["event"] == "lease.taken"

    async def test_follows_the_lost_membership(self, house):
        socket = await house.host("bobs", takes="s1")
        await house.server.call("change", kind="member", id="bob", set={"profile": "default"})
        await house.rest()
        assert socket.closed
        assert (await house.page("POST", "/api/sessions/s1/close")).json["live"] is False

    async def test_follows_the_end_of_the_token(self, house):
        socket = await house.host("short")
        await house.server.advance(90_000)
        await house.rest()
        assert socket.closed


class TestFrames:
    async def test_are_answered_under_the_number_that_they_carry(self, house):
        socket = await house.host()
        (taken,) = await house.say(socket, event="lease.take", session_id="s1", id="q7")
        assert (taken["id"], taken["session_id"], taken["expires_ms"]) == ("q7", "s1", NOW + 60_000)
        (failed,) = await house.say(socket, event="lease.take", session_id="nothing", id=8)
        assert (failed["event"], failed["of"], failed["id"], failed["code"]) == (
            "error",
            "lease.take",
            8,
            "session_not_found",
        )

    async def test_that_cannot_be_used_are_named_and_the_socket_lives(self, house):
        socket = await house.host()
        for text in ("[]", "null", "{", '{"event": "lease.take", "n": NaN}', '{"a":' * 5000, f'{{"n": {"9" * 5000}}}'):
            known = len(socket.frames)
            await socket.connection.send(text)
            socket.sent += 1
            await house.rest()
            assert [frame["code"] for frame in new(socket, since=known)] == ["bad_frame"]
        for event in ("decide", "", None, 5, ["lease.take"]):
            (said,) = await house.say(socket, event=event)
            assert said["code"] == "unknown_event"
        assert not socket.closed

    @pytest.mark.parametrize("event", sorted(event for kind, event in all_frames() if kind == "agent"))
    async def test_of_any_shape_are_answered_with_a_sentence(self, house, event):
        socket = await house.host()
        odd = (None, True, 5, 1e300, [], {}, "", "x" * 100_000, "s1\x00", "\ud800")
        for value in odd:
            names = ("session_id", "run_id", "message", "after", "events", "expected_seq")
            answers = await house.say(socket, event=event, **dict.fromkeys(names, value))
            assert {one["event"] for one in answers} <= {"error", "session.unfollowed", "lease.renewed"}
            assert len(answers) == 1, value
        for name in ("run_id", "message", "after", "background", "aborted", "events", "expected_seq"):
            for value in odd:
                await house.say(socket, event=event, session_id="s1", **{name: value})
        assert not socket.closed

    async def test_of_everybody_else_move_nothing_in_a_session(self, house):
        """Every credential, every frame: what was not granted is refused, hidden and missing alike."""
        events = sorted(event for kind, event in all_frames() if kind == "agent")
        reading = {"session.follow", "session.unfollow"}
        for name, session in (("reader", "s1"), ("looker", "s1"), ("charlies", "s1"), ("host", "s9")):
            stranger = name == "charlies" or session == "s9"
            for event in events:
                socket = await house.host(name)
                frame = {"run_id": "r", "message": 1, "events": [], "expected_seq": 0}
                (said, *_) = await house.say(socket, event=event, session_id=session, **frame)
                if event == "session.unfollow" or (event in reading and not stranger):
                    assert said["event"] != "error", (name, event)
                else:
                    codes = (
                        {"session_not_found", "run_not_found", "lease_not_held"} if stranger else {"permission_denied"}
                    )
                    assert (said["event"], said["code"] in codes) == ("error", True), (name, event, said)
                await socket.close()
        assert (await house.page("GET", "/api/sessions/s1/runs")).json["runs"] == []


class TestLeases:
    async def test_end_with_the_connection(self, house):
        socket = await house.host(takes="s1")
        await house.say(socket, event="lease.take", session_id="s2")
        assert (await house.call("POST", "/api/sessions/s2/lease", by="other")).status == 409
        await house.hang_up(socket)
        for session in ("s1", "s2"):
            assert (await house.call("POST", f"/api/sessions/{session}/lease", by="other")).status == 200

    async def test_of_a_connection_that_was_replaced_stay_with_the_new_one(self, house):
        old = await house.host(takes="s1")
        known = len(old.frames)
        new_one = await house.host(takes="s1")
        assert [frame["event"] for frame in new(old, since=known)] == ["lease.ended"]
        await house.hang_up(old)
        assert (await house.call("POST", "/api/sessions/s1/lease", by="other")).status == 409
        (renewed,) = await house.say(new_one, event="lease.renew")
        assert (renewed["session_ids"], renewed["lost"]) == (["s1"], [])

    async def test_are_renewed_one_by_one_or_all_together(self, house):
        socket = await house.host(takes="s1")
        await house.say(socket, event="lease.take", session_id="s2")
        await house.server.advance(30_000)
        (one,) = await house.say(socket, event="lease.renew", session_id="s1")
        assert (one["session_ids"], one["expires_ms"]) == (["s1"], NOW + 90_000)
        await house.server.advance(31_000)
        (both,) = await house.say(socket, event="lease.renew")
        assert (both["session_ids"], both["lost"]) == (["s1"], ["s2"])
        (gone,) = await house.say(socket, event="lease.renew", session_id="s2")
        assert gone["code"] == "lease_not_held"

    async def test_are_refused_with_the_words_that_help(self, house):
        await house.host(takes="s1")
        other = await house.host("other")
        (said,) = await house.say(other, event="lease.take", session_id="s1")
        assert (said["code"], said["held_by"], said["retry_after_s"]) == ("lease_held", "host", 60)
        assert "close it there" in said["error"]

    async def test_are_let_go_and_the_session_is_still_followed(self, house):
        socket = await house.host(takes="s1")
        said = await house.say(socket, event="lease.release", session_id="s1")
        assert [(frame["event"], frame.get("released")) for frame in said] == [("lease.released", True)]
        assert (await house.page("POST", "/api/sessions/s1/close")).json["live"] is False
        known = len(socket.frames)
        await house.put("s1")
        assert [frame["event"] for frame in new(socket, since=known)] == ["inbox.message"]

    async def test_survive_no_restart_but_the_host_takes_them_again(self, house):
        await house.host(takes="s1")
        await house.server.end("stop")
        house.server.start(now_ms=NOW + 1000)
        again = await house.host(takes="s1")
        assert again.frames[-1]["expires_ms"] == NOW + 61_000


class TestInbox:
    async def test_is_pushed_to_whoever_follows_and_nobody_else(self, house):
        holder, follower, elsewhere = (
            await house.host(takes="s1"),
            await house.host("other"),
            await house.host(takes="s2"),
        )
        await house.say(follower, event="session.follow", session_id="s1")
        known = [len(socket.frames) for socket in (holder, follower, elsewhere)]
        ids = await house.put("s1", prompt="Water", count=3)
        for socket, since in zip((holder, follower), known, strict=False):
            frames = new(socket, since=since)
            assert [(f["event"], f["message"]["id"], f["message"]["number"]) for f in frames] == [
                ("inbox.message", one, n) for n, one in enumerate(ids, 1)
            ]
        assert new(elsewhere, since=known[2]) == []

    async def test_is_shown_from_where_the_host_left_off(self, house):
        await house.put("s1", count=3)
        await house.call("POST", "/api/sessions/s1/inbox/2/ack")
        socket = await house.host()
        _, *shown = await house.say(socket, event="lease.take", session_id="s1")
        assert [frame["message"]["number"] for frame in shown] == [1, 3]
        again = await house.host()
        _, *shown = await house.say(again, event="session.follow", session_id="s1", after=1)
        assert [frame["message"]["number"] for frame in shown] == [3]

    async def test_of_many_messages_comes_whole_and_each_once(self, house):
        await house.put("s1", count=250)
        socket = await house.host()
        _, *shown = await house.say(socket, event="lease.take", session_id="s1")
        assert [frame["message"]["number"] for frame in shown] == list(range(1, 251))
        await house.put("s1", count=60)
        numbers = [f["message"]["number"] for f in socket.frames if f["event"] == "inbox.message"]
        assert numbers == list(range(1, 311))

    async def test_is_acknowledged_over_the_socket(self, house):
        socket = await house.host(takes="s1")
        (message_id,) = await house.put("s1")
        (said,) = await house.say(socket, event="inbox.acknowledge", session_id="s1", message=message_id)
        assert said["message"]["acknowledged_ms"] == NOW
        assert (await house.call("GET", "/api/sessions/s1/inbox")).json["messages"] == []

    async def test_is_waited_for_over_http(self, house):
        request = await house.start("GET", "/api/sessions/s1/inbox?wait=60")
        assert request.answer is None
        await house.put("s2")
        assert request.answer is None
        (message_id,) = await house.put("s1")
        assert [one["id"] for one in request.answer.json["messages"]] == [message_id]

    async def test_that_stays_empty_is_answered_at_the_end_of_the_wait(self, house):
        await house.put("s1")
        request = await house.start("GET", "/api/sessions/s1/inbox?wait=60&after=1")
        await house.server.advance(60_000)
        await house.rest()
        assert (request.answer.status, request.answer.json) == (200, {"messages": [], "next": 1})

    async def test_is_not_waited_for_with_a_revoked_token(self, house):
        request = await house.start("GET", "/api/sessions/s1/inbox?wait=60")
        await house.server.call("change", kind="token", id="host", set={})
        await house.rest()
        assert request.answer.status == 401

    async def test_of_a_room_that_was_closed_to_the_host_tells_nothing_more(self, house):
        socket = await house.host(takes="s1")
        await house.server.call("restrict", members=["bob"])
        known = len(socket.frames)
        await house.put("s1")
        assert [frame["event"] for frame in new(socket, since=known)] == ["session.gone"]
        await house.put("s1")
        assert len(new(socket, since=known)) == 1


def said(text, *, seq, **source):
    message = {"id": f"m-{seq}", "role": "user", "content": [{"type": "text", "text": text}]}
    data = {**message, "source": {"kind": "user", **source}}
    return {"type": "user/message", "seq": seq, "time": NOW, "data": data, "surfaceOp": "append"}


class TestAppending:
    async def append(self, house, socket, *events, at=0):
        return await house.say(socket, event="events.append", session_id="s1", expected_seq=at, events=list(events))

    async def test_writes_and_tells_everybody_else_who_follows(self, house):
        socket, other = await house.host(takes="s1"), await house.host("other")
        await house.say(other, event="session.follow", session_id="s1")
        (answer,) = await self.append(house, socket, said("One", seq=0), said("Two", seq=1))
        assert (answer["event"], answer["first"], answer["next_seq"], answer["repeated"]) == (
            "events.appended", 0, 2, False,
        )  # fmt: skip
        assert other.frames[-1] == {"event": "log.appended", "session_id": "s1", "from": 0, "to": 1}
        await self.append(house, other, said("Three", seq=2), at=2)
        assert socket.frames[-1] == {"event": "log.appended", "session_id": "s1", "from": 2, "to": 2}
        assert other.frames[-1]["event"] == "events.appended"

    async def test_again_is_success_and_tells_nobody(self, house):
        socket, other = await house.host(takes="s1"), await house.host("other")
        await house.say(other, event="session.follow", session_id="s1")
        await self.append(house, socket, said("One", seq=0))
        known = len(other.frames)
        (answer,) = await self.append(house, socket, said("One", seq=0))
        assert (answer["repeated"], new(other, since=known)) == (True, [])

    async def test_that_is_stale_carries_what_was_missed(self, house):
        socket, other = await house.host(takes="s1"), await house.host("other")
        await self.append(house, other, said("One", seq=0))
        (refused,) = await self.append(house, socket, said("Mine", seq=0))
        assert (refused["code"], refused["next_seq"], refused["events"]) == ("stale_append", 1, [said("One", seq=0)])

    async def test_that_breaks_a_rule_names_it_and_writes_nothing(self, house):
        socket = await house.host(takes="s1")
        end = {"type": "turn/end", "seq": 1, "time": NOW, "data": {"turn": 1, "reason": {"kind": "completed"}}}
        (refused,) = await self.append(house, socket, said("One", seq=0), end)
        assert (refused["code"], refused["seq"]) == ("turn.bad_end", 1)
        (answer,) = await self.append(house, socket, said("One", seq=0))
        assert answer["next_seq"] == 1

    async def test_keeps_texts_that_no_database_keeps(self, house):
        socket, other = await house.host(takes="s1"), await house.host("other")
        odd = said("a\x00b \ud800 \u2028", seq=0)
        (answer,) = await self.append(house, socket, odd)
        assert answer["event"] == "events.appended"
        (refused,) = await self.append(house, other, said("Mine", seq=0))
        assert refused["events"] == [odd]

    async def test_of_minus_zero_is_refused(self, house):
        socket = await house.host(takes="s1")
        known = len(socket.frames)
        frame = json.dumps(
            {"event": "events.append", "session_id": "s1", "expected_seq": 0, "events": [said("", seq=0)]}
        )
        await socket.connection.send(frame.replace('"time": 17', '"more": -0, "time": 17'))
        socket.sent += 1
        await house.rest()
        assert [one["event"] for one in new(socket, since=known)] == ["error"]

    async def test_takes_an_inbox_message_in(self, house):
        socket = await house.host(takes="s1")
        (message_id,) = await house.put("s1")
        event = said("Water", seq=0, kind="schedule")
        event["data"]["id"] = message_id
        await self.append(house, socket, event)
        (message,) = (await house.call("GET", "/api/sessions/s1/inbox?state=all")).json["messages"]
        assert (message["acknowledged_ms"], message["acknowledged_seq"]) == (NOW, 0)

    async def test_needs_the_right_at_that_moment(self, house):
        socket = await house.host("bobs", takes="s1")
        await house.server.call("restrict", members=["alice"])
        (refused,) = await self.append(house, socket, said("One", seq=0))
        assert refused["code"] == "session_not_found"


class TestStopping:
    async def run(self, house, socket, session="s1"):
        (started,) = await house.say(socket, event="run.start", session_id=session)
        return started["run_id"]

    async def test_asks_the_host_and_is_done_when_the_agent_rests(self, house):
        socket, other = await house.host(takes="s1"), await house.host("other")
        await self.run(house, socket)
        known = len(socket.frames)
        await house.server.call("stop", session="s1")
        await house.rest()
        asked = {"event": "agent.cancel", "session_id": "s1", "cause": "user"}
        assert new(socket, since=known) == [asked]
        assert asked not in other.frames
        assert await house.server.call("stopped", session="s1") is None
        (said,) = await house.say(socket, event="agent.idle", session_id="s1")
        assert (said["ended"], said["running"]) == (1, 0)
        assert await house.server.call("stopped", session="s1") == "stopped"

    async def test_is_done_when_the_last_run_ends(self, house):
        socket = await house.host()
        runs = [await self.run(house, socket), await self.run(house, socket)]
        await house.server.call("stop", session="s1")
        await house.rest()
        assert socket.frames[-1]["event"] == "agent.cancel"
        await house.call("POST", f"/api/sessions/s1/runs/{runs[0]}/end")
        assert await house.server.call("stopped", session="s1") is None
        await house.say(socket, event="run.end", session_id="s1", run_id=runs[1], aborted=True)
        assert await house.server.call("stopped", session="s1") == "stopped"

    async def test_gives_up_after_fifteen_seconds(self, house):
        socket = await house.host(takes="s1")
        await self.run(house, socket)
        await house.server.call("stop", session="s1")
        await house.rest()
        await house.server.advance(14_999)
        await house.rest()
        assert await house.server.call("stopped", session="s1") is None
        await house.server.advance(1)
        assert await house.server.call("stopped", session="s1") == "busy"

    async def test_leaves_an_idle_agent_alone(self, house):
        socket = await house.host(takes="s1")
        await house.server.call("stop", session="s1")
        await house.rest()
        assert await house.server.call("stopped", session="s1") == "idle"
        assert "agent.cancel" not in [frame["event"] for frame in socket.frames]

    async def test_of_an_agent_is_not_claimed_by_another_host(self, house):
        socket, other = await house.host(), await house.host("other")
        await self.run(house, socket)
        (said,) = await house.say(other, event="agent.idle", session_id="s1")
        assert said["code"] == "lease_not_held"

    async def test_is_answered_when_the_server_stops(self, house):
        socket = await house.host(takes="s1")
        await self.run(house, socket)
        await house.server.call("stop", session="s1")
        await house.rest()
        await house.server.end("stop")
        house.server.start(now_ms=NOW + 1000)


class TestRequests:
    async def test_that_end_are_told_to_their_own_requester_alone(self, house):
        socket, other = await house.host(), await house.host("other")
        alices = await house.host("script")
        page = await house.people["alice"].open_page(house.origin)
        house.sockets.append(page)
        await house.server.call("world", world={"workspaces": [{"profile": "default", "id": "w1"}]})
        asked = {"secret": house.secrets["host"], "contract": "accounts.erase_workspace", "arguments": {"slug": "w1"}}
        confirmation = await house.server.call("ask", **asked)
        await house.rest()
        withdrawn = await house.call("DELETE", f"/api/confirmations/{confirmation}")
        assert withdrawn.status == 200
        (said,) = [frame for frame in socket.frames if frame["event"] == "confirmation.ended"]
        assert (said["confirmation_id"], said["state"]) == (confirmation, "withdrawn")
        for stranger in (other, alices):
            assert [frame["event"] for frame in stranger.frames] == ["host.accepted"]


class TestClosingSessions:
    async def test_is_asked_of_the_host_and_waited_for(self, house):
        socket = await house.host(takes="s1")
        waiting = await house.start("POST", "/api/sessions/s1/close?wait=30", by="other")
        assert socket.frames[-1] == {"event": "session.close", "session_id": "s1"}
        assert waiting.answer is None
        await house.say(socket, event="lease.release", session_id="s1")
        assert waiting.answer.json == {"session_id": "s1", "live": False}

    async def test_that_the_host_does_not_heed_is_still_live(self, house):
        await house.host(takes="s1")
        waiting = await house.start("POST", "/api/sessions/s1/close?wait=30", by="other")
        await house.server.advance(30_000)
        await house.rest()
        assert waiting.answer.json["live"] is True
