"""Killed with -9 in the middle of appends: each is there as a whole or not at all, and what was answered is there."""

import asyncio
import json
import signal

import pytest

from apps.sessions.rules.surface import fold_surface
from apps.sessions.rules.validator import load
from tests.conformance.gate.wire import Request
from tests.conformance.process import ServerProcess
from tests.sessions import logs
from tests.sessions.hosts import JSON, NOW, WORLD

SESSIONS = [f"log-{number}" for number in range(8)]
POINTS = ["append.before_head", "append.before_commit", "announce.before"]


@pytest.fixture(scope="module")
def stopped():
    """A stopped server with a profile, a host's token and a session for each appender."""
    server = ServerProcess().start(now_ms=NOW)
    sessions = [{"id": name, "profile": "default"} for name in SESSIONS]

    async def go():
        secrets = (await server.call("world", world={**WORLD, "sessions": sessions}))["secrets"]
        await server.end("stop")
        return secrets["host"]

    try:
        with asyncio.Runner() as runner:
            secret = runner.run(go())
        yield server, secret
    finally:
        server.destroy()


class Host:
    """Appends turn after turn to one log until the server is gone."""

    def __init__(self, server, secret, name):
        self.server, self.name = server, name
        self.headers = {"authorization": f"Bearer {secret}", **JSON}
        self.answered = 0

    async def call(self, method, path, body=None):
        """Send a request; None when the server is gone."""
        data = b"" if body is None else json.dumps(body).encode()
        request = Request(method=method, path=f"/api/sessions/{self.name}/{path}", headers=self.headers, body=data)
        try:
            await request.send(self.server.origin)
        except OSError:
            return None
        return await request.done()

    async def append(self, turn):
        first = (turn - 1) * 6
        events = logs.numbered(logs.a_turn(turn, words=f"{self.name} asks"), first=first)
        return await self.call("POST", "events", {"expectedSeq": first, "events": events})

    async def go_on(self):
        """Append until the server is gone, each turn as soon as the one before is answered."""
        while answer := await self.append(self.answered + 1):
            first = self.answered * 6
            assert answer.json == {"first": first, "next_seq": first + 6, "repeated": False}
            self.answered += 1

    async def log(self):
        found = []
        while True:
            page = (await self.call("GET", f"events?limit=1000&after={len(found) - 1}" if found else "events")).json
            found += page["events"]
            if not page["more"]:
                assert page["next_seq"] == len(found)
                return found


@pytest.mark.parametrize("point", POINTS)
async def test_an_append_is_whole_or_not_at_all(stopped, point):
    before, secret = stopped
    server = before.copy()
    try:
        server.start(now_ms=NOW, fail_at=f"{point}:12")
        hosts = [Host(server, secret, name) for name in SESSIONS]
        await asyncio.gather(*(host.go_on() for host in hosts))
        assert await server.gone() == -signal.SIGKILL
        assert sum(host.answered for host in hosts) > 0
        server.start(now_ms=NOW)
        for host in hosts:
            await check(host)
    finally:
        server.destroy()


async def check(host):
    """The log opens, holds what was answered and at most the one turn that was not, and goes on."""
    events = await host.log()
    turns, rest = divmod(len(events), 6)
    assert rest == 0
    assert turns in (host.answered, host.answered + 1)
    rows = [row for turn in range(1, turns + 1) for row in logs.a_turn(turn, words=f"{host.name} asks")]
    assert events == logs.numbered(rows)
    state, _ = load(events, header={**logs.HEADER, "id": host.name})
    surface = (await host.call("GET", "surface")).json
    assert (surface["nodes"], surface["next_seq"]) == (fold_surface(events), state.next_seq)
    repeated = await host.append(turns) if turns else None
    assert repeated is None or repeated.json == {"first": turns * 6 - 6, "next_seq": turns * 6, "repeated": True}
    assert (await host.append(turns + 1)).json["next_seq"] == turns * 6 + 6
