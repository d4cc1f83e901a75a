"""The dispatcher of a real server: it wakes by itself, tells whoever listens, and catches up after a crash."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.process import ROOT, ServerProcess, free_port
from tests.sessions.hosts import NOW, HostHouse

WORLD = {
    "profiles": {name: {"zone": "UTC"} for name in ("default", "charlies")},
    "people": {"alice": {"default": "owner"}, "charlie": {"charlies": "owner"}},
    "tokens": {
        "host": {"person": "alice", "profile": "default", "scopes": "all"},
        "blind": {"person": "alice", "profile": "default", "scopes": ["session.read", "session.append"]},
        "charlies": {"person": "charlie", "profile": "charlies", "scopes": "all"},
    },
    "sessions": [{"id": "s1", "profile": "default"}, {"id": "s2", "profile": "default"}],
}
PATH = "/api/sessions/s1/schedules"


class House(HostHouse):
    """A house whose hosts have every right."""

    async def begin(self, *, now_ms=NOW):
        await self.server.reset(now_ms)
        self.secrets = (await self.server.call("world", world=WORLD))["secrets"]
        return self

    async def add(self, *, by="host", path=PATH, **members):
        body = {"title": "Tea", "prompt": "Make tea", **(members or {"after_seconds": 60})}
        answer = await self.call("POST", path, body, by=by)
        assert answer.status == 201, answer.text
        return answer.json


@pytest.fixture
async def house(server):
    house = House(server)
    try:
        yield await house.begin()
    finally:
        await house.leave()
    assert server.complaints() == ""


async def test_a_host_that_waits_gets_the_reminder_at_its_moment(house):
    record = await house.add()
    waiting = await house.start("GET", "/api/sessions/s1/inbox?after=0&wait=300")
    await house.server.advance(59_999)
    await house.rest()
    assert waiting.answer is None
    await house.server.advance(1)
    await house.rest()
    (message,) = waiting.answer.json["messages"]
    assert message["payload"]["reminders"][0]["schedule_id"] == record["id"]
    assert message["created_at_ms"] == NOW + 60_000


async def test_the_dispatcher_wakes_for_an_earlier_one_that_comes_later(house):
    await house.add(after_seconds=3600)
    soon = await house.add(after_seconds=5)
    await house.server.advance(5_000)
    found = (await house.call("GET", "/api/sessions/s1/inbox")).json["messages"]
    assert [one["payload"]["reminders"][0]["schedule_id"] for one in found] == [soon["id"]]


async def test_sockets_of_the_profile_hear_of_changes_and_of_the_message(house):
    sockets = {name: await house.host(name) for name in ("host", "blind", "charlies")}
    await house.say(sockets["host"], event="session.follow", session_id="s1")
    known = {name: len(socket.frames) for name, socket in sockets.items()}
    await house.add(after_seconds=5)
    await house.server.advance(5_000)
    await house.rest()
    heard = {name: [frame["event"] for frame in socket.frames[known[name] :]] for name, socket in sockets.items()}
    assert sorted(heard["host"]) == ["inbox.message", "schedule.changed", "schedule.changed"]
    assert heard["blind"] == heard["charlies"] == []


async def test_a_stream_of_events_says_that_something_changed_and_never_what(house):
    stream = EventStream(house, "host")
    other = EventStream(house, "charlies")
    await stream.open()
    await other.open()
    record = await house.add()
    await house.server.advance(60_000)
    await house.rest()
    text = await stream.read_until("event: schedule.changed", count=2)
    assert record["id"] not in text
    assert "Tea" not in text
    assert json.loads(text.partition("data: ")[2].partition("\n")[0]) == {}
    assert other.text.count("event:") == 0
    await stream.close()
    await other.close()


class EventStream:
    """Server-Sent Events, read as they come."""

    def __init__(self, house, name):
        self.house, self.text = house, ""
        self.credential = {"authorization": f"Bearer {house.secrets[name]}"}

    async def open(self):
        host, port = self.house.origin.removeprefix("http://").split(":")
        self.reader, self.writer = await asyncio.open_connection(host, int(port))
        head = f"GET /api/schedules/events HTTP/1.1\r\nHost: {host}:{port}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in self.credential.items())
        self.writer.write(f"{head}\r\n".encode())
        await self.writer.drain()
        await self.read_until("\r\n\r\n", count=1)

    async def read_until(self, text, *, count):
        async with asyncio.timeout(30):
            while self.text.count(text) < count:
                self.text += (await self.reader.read(2**14)).decode()
        return self.text

    async def close(self):
        self.writer.close()
        await self.writer.wait_closed()


async def test_what_became_due_while_nothing_ran_is_delivered_once_after_the_start():
    server = ServerProcess().start(now_ms=NOW)
    house = House(server)
    try:
        await house.begin()
        once = await house.add()
        daily = await house.add(every_seconds=3600)
        await house.leave()
        house.requests.clear()
        await server.end("kill")
        server.start(now_ms=NOW + 10 * 3_600_000)
        await house.rest()
        for _ in range(2):
            found = (await house.call("GET", "/api/sessions/s1/inbox")).json["messages"]
            told = [one["payload"]["reminders"][0] for one in found]
            assert [(one["schedule_id"], one["missed"]) for one in told] == [(once["id"], 0), (daily["id"], 9)]
        assert server.complaints() == ""
    finally:
        await house.leave()
        server.destroy()


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.only_on("sqlite")
def test_a_dispatcher_of_its_own_is_refused_on_sqlite(tmp_path):
    ended = command("dispatch", SAYSO_DATA_DIR=str(tmp_path))
    assert ended.returncode == 1
    assert "On SQLite the server itself delivers" in ended.stderr


@pytest.mark.only_on("sqlite")
def test_a_second_server_on_the_same_folder_is_refused(tmp_path):
    mine = {"SAYSO_DATA_DIR": str(tmp_path)}
    one = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--first-run"],
        cwd=ROOT,
        env={**os.environ, **mine, "SAYSO_PORT": str(free_port())},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert any("Sayso serves" in line for line in iter(one.stdout.readline, ""))
        ended = command("serve", **mine, SAYSO_PORT=str(free_port()))
        assert ended.returncode == 1
        assert "Another server uses" in ended.stderr
    finally:
        one.kill()
        one.wait()
        one.stdout.close()


@pytest.mark.only_on("postgresql")
async def test_dispatchers_of_their_own_deliver_what_the_server_leaves_to_them():
    server = ServerProcess()
    server.environment["SAYSO_DISPATCH"] = "0"
    server.start(now_ms=NOW)
    house = House(server)
    children = []
    try:
        # The server's clock stands in the year 2000; the dispatchers have the machine's, for which that is long ago.
        await house.begin(now_ms=946_684_800_000)
        children = [dispatcher(server) for _ in range(2)]
        for child in children:
            assert "dispatches" in await asyncio.to_thread(child.stdout.readline)
        waiting = await house.start("GET", "/api/sessions/s1/inbox?after=0&wait=300")
        record = await house.add(at="2000-01-01T00:00:01Z")
        answer = await waiting.done()
        assert answer.json["messages"][0]["payload"]["reminders"][0]["schedule_id"] == record["id"]
    finally:
        for child in children:
            child.terminate()
            assert child.wait(timeout=30) == 0
            child.stdout.close()
        await house.leave()
        server.destroy()


def dispatcher(server: ServerProcess):
    return subprocess.Popen(
        [sys.executable, "manage.py", "dispatch"],
        cwd=Path(ROOT),
        env=server.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
