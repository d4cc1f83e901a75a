"""The session vectors on a real server: an agent's token asks over HTTP, a signed-in person ticks each card at once."""

import json
from typing import Any
from urllib.parse import urlencode

from tests.conformance import sessions_ops
from tests.conformance.gate.browser import Socket
from tests.conformance.gate.story import Ask, Story
from tests.conformance.gate.wire import Answer, Request
from tests.conformance.process import ServerProcess
from tests.conformance.sessions_ops import filled

HOST_SCOPES = ["session.read", "session.append"]
WORLD = {
    "now": "2026-11-30T08:00:00Z",
    "settings": {"denied_recently_s": 600, "max_open": 10},
    "profiles": {"default": {"zone": "UTC"}},
    "people": {"alice": {"default": "owner"}},
    "tokens": {
        "agent": {
            "person": "alice",
            "profile": "default",
            "scopes": ["session.read", "session.append", "session.delete", "confirmation.read"],
        },
        "host": {"person": "alice", "profile": "default", "scopes": HOST_SCOPES},
    },
}
ROUTES = {
    "sessions.list": "/api/agent-control/sessions",
    "turns.list": "/api/agent-control/turns",
    "session.delete": "/api/agent-control/session/delete",
    "turn.delete": "/api/agent-control/turn/delete",
}
IDLE_WAIT_MS = 15_000
ORPHAN = "It is stored, but no workspace lists it."


class Host(Socket):
    """The host of the world's agents: asked to cancel, it stops those that stop and lets the others go on."""

    def __init__(self, agents: dict[str, str]) -> None:
        super().__init__()
        self.agents = agents
        self.cancelled: list[str] = []
        self.stopping: list[str] = []

    def heard(self, frame: dict[str, Any]) -> None:
        if frame["event"] != "agent.cancel":
            return
        named = [
            name
            for name in self.agents
            if name.removeprefix("session-") == frame["session_id"].removeprefix("session-")
        ]
        self.cancelled += named
        if self.agents[named[0]] == "running-stops":
            self.stopping.append(frame["session_id"])


class Case:
    """One vector on its way."""

    def __init__(self, server: ServerProcess, world: dict[str, Any], *, events: list[dict[str, Any]]) -> None:
        self.server, self.world, self.events = server, world, events
        self.story = Story(server, {"input": {"world": WORLD, "steps": []}})
        self.host = Host(world.get("agents", {}))

    async def __aenter__(self) -> "Case":
        self.server.complaints()  # of another vector that failed
        await self.story.begin()
        secret = self.story.secrets["host"]
        self.refused = await self.server.call("stock", world=self.world, events=self.events, secret=secret)
        if self.host.agents:
            headers = {"authorization": f"Bearer {secret}"}
            assert await self.host.open(self.server.origin, "/ws/agent/", headers=headers, page=None)
        await self.rest()
        self.before = await self.server.call("stored")
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.server.call("mend")
        await self.host.close()
        await self.story.leave()

    async def rest(self) -> None:
        await self.story.rest()
        await self.host.catch_up()
        while self.host.stopping:
            await self.host.say({"event": "agent.idle", "session_id": self.host.stopping.pop(0)})
            frames = {self.host.tag: self.host.sent}
            await self.server.call("rest", seen=[], gone=[], frames=frames)
            await self.story.rest()
            await self.host.catch_up()

    async def send(self, method: str, route: str, *, body: bytes = b"", query: dict[str, Any] | None = None) -> Answer:
        """Send a request as the agent and tick what appears; returns the answer that came in the end."""
        path = ROUTES[route] + (f"?{urlencode(query)}" if query else "")
        headers = self.story.credential("agent") | {"content-type": "application/json"}
        request = Request(method=method, path=path, headers=headers, body=body)
        ask = self.story.asks["r1"] = Ask(name="r1", by="agent", request=request)
        await self.story.launch("r1", request)
        await self.rest()
        [page] = self.story.pages()
        if request.answer is None:
            [ask.confirmation] = page.cards
            if self.world.get("inject", {}).get("lease") == "refused":
                await self.server.call("begin_turn", session=json.loads(body)["sessionId"])
            await self.story.do({"do": "decide", "as": "d1", "by": "alice", "on": "r1", "decision": "approve"})
            await self.rest()
            for _ in self.host.agents:
                if request.answer is None:
                    await self.server.advance(IDLE_WAIT_MS)
                    await self.rest()
        assert request.answer is not None, "no answer came"
        return request.answer

    async def check_book(self, answer: Answer) -> None:
        """Assert one row of the ledger for each success that a person agreed to, and a chain that holds."""
        body, book = answer.json, await self.server.call("book")
        done = body.get("ok") is True and "receipt_id" in body
        ends = [state for _, state in book["ends"]]
        assert book["faults"] == []
        assert ends.count("executed") == done, ends
        assert len(ends) == len(self.story.pages()[0].known), "each card ends once"


async def delete_session(server: ServerProcess, given: dict[str, Any], expect: dict[str, Any]) -> None:
    async with Case(server, given["world"], events=[]) as case:
        body = json.dumps({"sessionId": given["request"]}).encode()
        answer = await case.send("POST", "session.delete", body=body)
        await case.check_book(answer)
        got = {**told(answer.json), **changed(case.before, await server.call("stored"))}
        got["cancelled"] = case.host.cancelled
    compare(expect, got)
    failed = got["code"] == "DELETE_FAILED"
    complaints = server.complaints()
    assert ("deletion failed" in complaints) == failed, complaints


def told(body: dict[str, Any]) -> dict[str, Any]:
    """Return what an answer says, in the words of the vectors."""
    if not body["ok"]:
        return {"ok": False, "code": body["error"]["code"], "detail": body["error"]}
    workspace, cache = body["workspace"], body["projectionCache"]
    assert body["detached"] == workspace["detached"]
    failures = [one["part"] for one in [*workspace["failures"], *cache["failures"]]]
    notes = [*workspace["warnings"], *cache["warnings"], *body["warnings"]]
    return {
        "ok": True,
        "code": None,
        "said_removed": body["removed"],
        "descendants": body["descendants"],
        "failures": failures,
        "warnings": [f"{one['code']}:{one['count']}" if "count" in one else one["code"] for one in notes],
        **{flag: workspace[flag] for flag in ("detached", "unarchived", "unpinned")},
    }


def changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return what went and what stayed, from what is really stored."""
    return {
        "removed_dirs": [one for one in before["dirs"] if one not in after["dirs"]],
        "kept_dirs": after["dirs"],
        "detach_calls": [one for one in before["entries"] if one not in after["entries"]],
        "cache_removed": [one for one in before["cache"] if one not in after["cache"]],
    }


def compare(expect: dict[str, Any], got: dict[str, Any]) -> None:
    """Compare all that is expected; of a detail what is named."""
    detail = expect.get("detail", {})
    assert {name: got["detail"].get(name) for name in detail} == detail if detail else True
    wanted = {name: value for name, value in expect.items() if name != "detail"}
    assert {name: got.get(name, "absent") for name in wanted} == wanted
    if got["ok"]:
        assert got["said_removed"] == got["removed_dirs"]


async def list_sessions(server: ServerProcess, given: dict[str, Any], expect: dict[str, Any]) -> None:
    async with Case(server, given["world"], events=[]) as case:
        answer = await case.send("GET", "sessions.list")
    names = ("sessionId", "workspaceTitle", "cwd", "live")
    rows = [
        {**{name: row[name] for name in names}, "orphan": ORPHAN in row["reasons"]} for row in answer.json["sessions"]
    ]
    assert (answer.status, rows) == (200, expect["rows"])
    assert all(row["removable"] is not row["live"] for row in answer.json["sessions"])


async def http(server: ServerProcess, given: dict[str, Any], expect: dict[str, Any]) -> None:
    world = given.get("world", {})
    events = filled(world.get("events", []))
    body = given["raw_body"].encode() if "raw_body" in given else b""
    if "body" in given:
        body = json.dumps(given["body"]).encode().ljust(given.get("body_bytes", 0))
    async with Case(server, world, events=events) as case:
        assert case.refused == ""
        answer = await case.send(given["method"], given["route"], body=body, query=given.get("query"))
        await case.check_book(answer)
    got = answer.json
    error = got.get("error", {})
    assert (answer.status, error.get("code")) == (expect["status"], expect["code"]), answer.text
    assert (got["ok"], answer.header("cache-control")) == (expect["code"] is None, "no-store")
    for name, value in expect.get("headers", {}).items():
        assert answer.header(name) == value
    if "sessions" in got:
        got["sessions"] = [row["sessionId"] for row in got["sessions"]]
    for where, members in ((got, expect.get("body", {})), (error, expect.get("detail", {}))):
        assert {name: where.get(name, "absent") for name in members} == members
    assert ("deletion failed" in server.complaints()) == (expect["code"] == "DELETE_FAILED")


async def delete_turn(server: ServerProcess, given: dict[str, Any], expect: dict[str, Any]) -> None:
    """A log that would not open is not stored here; what the rules say of it is enough."""
    events, inject = filled(given["events"]), given.get("inject", {})
    world = {"sessions": [{"slug": "--srv-desk--", "dir": "s1", "header": {}}], "inject": inject}
    async with Case(server, world, events=events) as case:
        if case.refused:
            sessions_ops.OPS["delete_turn"](given, expect)
            return
        body = json.dumps({"sessionId": "s1", "assistantMessageId": given["message_id"]}).encode()
        answer = await case.send("POST", "turn.delete", body=body)
        await case.check_book(answer)
        log = await server.call("log_of", session="s1")
    got = turn_told(answer.json, log=log, before=len(events))
    assert {name: got.get(name, "absent") for name in expect} == expect
    assert ("deletion failed" in server.complaints()) == (got.get("code") == "DELETE_FAILED")


def turn_told(body: dict[str, Any], *, log: dict[str, Any], before: int) -> dict[str, Any]:
    """Return what an answer says and what the log holds, in the words of the vectors."""
    events = [json.loads(text) for text in log["events"][before:]]
    facts = {"appended": [event["type"] for event in events], "nodes": log["nodes"]}
    if not body["ok"]:
        error = body["error"]
        return {**error, "ok": False, **facts}
    facts |= {"ok": True, "turn": body["turn"], "alreadyDeleted": body["alreadyDeleted"]}
    facts["flushed"] = body["turn"] in log["removed"]
    if events:
        summary, replacement = events[1]["data"], events[2]
        names = ("shadowedSeqs", "shadowedRange", "shadowedTokenCount")
        facts |= {"seqs": [event["seq"] for event in events], **{name: summary[name] for name in names}}
        facts |= {name: replacement[name] for name in ("surfaceOp", "sourceEventSeqs")}
        assert body["replacementSeq"] == replacement["seq"]
        assert body["compactionId"] == summary["compactionId"]
    return facts


OPS = sessions_ops.OPS
SERVER_OPS = {
    "delete_session": delete_session,
    "list_sessions": list_sessions,
    "delete_turn": delete_turn,
    "http": http,
}
