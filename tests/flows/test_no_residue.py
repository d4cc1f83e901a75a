"""After a session with subagents is deleted, nothing in the database file and the data folder tells of it."""

import json
import random
import sqlite3

import psycopg
import pytest

from tests.conformance.gate.story import Story
from tests.conformance.gate.wire import fetch
from tests.conformance.process import ServerProcess
from tests.conftest import database_vendor
from tests.sessions.logs import (
    a_turn,
    call,
    call_block,
    numbered,
    reply,
    result,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)

RARE = ("vexillology", "umbra", "kestrel", "ogham", "tarn", "filigree", "wold", "isinglass", "gnomon", "selvage")
WORDS = [f"qz{number}{word}" for number, word in enumerate(RARE)]
SESSION, KID = "qzsession-7f3a", "qzkid-91c2"
WORLD = {
    "now": "2026-11-30T08:00:00Z",
    "settings": {"denied_recently_s": 600, "max_open": 10},
    "profiles": {"default": {"zone": "Europe/Berlin"}},
    "people": {"alice": {"default": "owner"}},
    "tokens": {
        "agent": {"person": "alice", "profile": "default", "scopes": "all"},
        "bound": {"person": "alice", "profile": "default", "scopes": "all", "session": SESSION},
    },
    "sessions": [{"id": "s1", "profile": "default", "turns": 1}],
    "calendars": {
        "work": {
            "profile": "default",
            "events": [{"uid": "dentist", "title": "Dentist", "start": "2026-12-01T09:00", "minutes": 30}],
        }
    },
}
TURNS, OTHERS = 60, 8


@pytest.fixture
async def story():
    server = ServerProcess().start(now_ms=0)
    story = Story(server, {"input": {"world": WORLD, "steps": []}})
    try:
        await story.begin()
        yield story
        await story.leave()
    finally:
        server.destroy()


async def post(story, path, body, *, by="agent", **headers):
    headers = {"content-type": "application/json", **story.credential(by), **headers}
    answer = await fetch(story.server.origin, "POST", path, headers=headers, body=json.dumps(body).encode())
    assert answer.status in (200, 201), answer.text
    return answer.json


def a_long_turn(turn, words):
    """Give a turn that says the words in a question, a tool's call and result, and two replies."""
    arguments = json.dumps({"path": words[0]})
    return [
        turn_start(turn),
        step_start(turn, 1),
        user(f"u{turn}", f"{words[1]} and {words[2]} " + "filler " * random.Random(turn).randint(1, 400)),
        reply(turn, 1, f"a{turn}-1", text(words[3]), call_block(f"c{turn}", arguments=arguments)),
        call(turn, 1, f"c{turn}", arguments=arguments),
        result(turn, 1, f"c{turn}", f"{words[4]} {words[5]}"),
        step_end(turn, 1),
        step_start(turn, 2),
        reply(turn, 2, f"a{turn}", text(f"{words[6]} {words[7]}")),
        step_end(turn, 2),
        turn_end(turn),
        {"type": "todo/write", "data": {"items": [words[8]]}},
        {
            "type": "session/title",
            "data": {"title": f"About {words[9]}", "messageSeqs": [], "source": {"kind": "user"}},
        },
    ]


class Host:
    """Appends to sessions over HTTP, as an agent's host does."""

    def __init__(self, story):
        self.story = story
        self.next_seq = {}

    async def make(self, ref, **members):
        await post(
            self.story, "/api/sessions", {"id": ref, **members}, **{"idempotency-key": f"make {len(self.next_seq)}"}
        )
        self.next_seq[ref] = 0

    async def append(self, ref, events):
        first = self.next_seq[ref]
        body = {"expected_seq": first, "events": numbered(events, first=first)}
        found = await post(self.story, f"/api/sessions/{ref}/events", body)
        self.next_seq[ref] = found["next_seq"]


async def talk(story):
    """Fill the database: the session, its subagent, and many others whose rows lie between theirs."""
    host, shuffled = Host(story), random.Random(1)
    await host.make(SESSION, title=f"Of {WORDS[0]}")
    await host.make(KID, parentSession=SESSION, origin="subagent")
    for number in range(OTHERS):
        await host.make(f"other{number}")
    for turn in range(1, TURNS + 1):
        for ref in (SESSION, KID):
            await host.append(ref, a_long_turn(turn, WORDS))
        for number in range(OTHERS):
            for _ in range(shuffled.randint(0, 2)):
                ref = f"other{number}"
                done = host.next_seq[ref] // 6
                await host.append(ref, a_turn(done + 1, words="plain " * shuffled.randint(1, 300)))


async def decide(story, ask, *, decision):
    await story.do({"prefer": "respond-async", "do": "ask", **ask})
    name = f"d-{ask['as']}"
    await story.do({"do": "decide", "as": name, "by": "alice", "on": ask["as"], "decision": decision})
    return story.decided[name]


SESSION_DOOR, TURN_DOOR = "agent_control.session_delete", "agent_control.turn_delete"


async def leave_traces(story):
    """Let cards, receipts, a token, runs and lists speak of it, too."""
    await post(story, f"/api/sessions/{SESSION}/pin", {}, **{"idempotency-key": "pin"})
    run = await post(story, f"/api/sessions/{SESSION}/runs", {})
    await post(story, f"/api/sessions/{SESSION}/runs/{run['id']}/end", {})
    for number, message in enumerate(("a3", "a7")):
        ask = {"as": f"r{number}", "by": "agent", "door": TURN_DOOR}
        ask |= {"body": {"sessionId": SESSION, "assistantMessageId": message}}
        assert await decide(story, ask, decision="approve") == "executed"
    ask = {"as": "r2", "by": "bound", "door": SESSION_DOOR, "body": {"sessionId": SESSION}}
    assert await decide(story, ask, decision="deny") == "denied"
    item = {"id": "<event:dentist>", "title": "Dentist", "start_ms": 1796112000000}
    body = {"session_id": SESSION, "capability": "calendar", "action": "delete", "purpose": WORDS[5], "item": item}
    await story.look_up(body)
    await story.do(
        {"do": "ask", "as": "r3", "by": "bound", "door": "mobile_calendar", "body": body, "prefer": "respond-async"}
    )
    ask = {"as": "r4", "by": "agent", "door": TURN_DOOR, "body": {"sessionId": KID, "assistantMessageId": "a2"}}
    await story.do({"do": "ask", "prefer": "respond-async", **ask})


async def test_neither_its_id_nor_its_words_are_left(story):
    await talk(story)
    await leave_traces(story)
    before = tables(story.server)
    assert all(any(word in row for rows in before.values() for row in rows) for word in [*WORDS, SESSION, KID])
    ask = {"as": "r9", "by": "agent", "door": SESSION_DOOR, "body": {"sessionId": SESSION}}
    assert await decide(story, ask, decision="approve") == "executed"
    await story.rest()
    check_tables(tables(story.server))
    check_files(story.server, "while it runs")
    assert await story.server.end("stop") == 0
    check_files(story.server, "stopped")


def check_tables(found):
    """Only receipts name the ids, and nothing says the words."""
    for word in [*WORDS, SESSION, KID]:
        holders = {table for table, rows in found.items() if any(word in row for row in rows)}
        assert holders <= ({"ledger_receipt"} if word in (SESSION, KID) else set()), word
    assert any("other0" in row for row in found["agent_sessions_session"])


def check_files(server, when):
    """The raw bytes of every file: ids lie inside of receipts, words nowhere."""
    receipts = "\n".join(row for row in tables(server)["ledger_receipt"]).encode() if server.base_url == "" else b""
    for path in sorted(path for path in server.folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        for word in WORDS:
            assert data.count(word.encode()) == 0, f"{word} in {path.name}, {when}"
        for name in (SESSION, KID):
            at = data.find(name.encode())
            while at >= 0:
                around = data[at - 12 : at + len(name) + 2]
                assert around in receipts, f"{around!r} in {path.name}, {when}"
                at = data.find(name.encode(), at + 1)


def tables(server):
    """Return every row of every table as text."""
    if database_vendor() == "sqlite":
        with sqlite3.connect(f"file:{server.folder}/sayso.sqlite3?mode=ro", uri=True) as link:
            names = [name for (name,) in link.execute("select name from sqlite_master where type = 'table'")]
            return {name: [repr(row) for row in link.execute(f'select * from "{name}"')] for name in names}
    with psycopg.connect(server.environment["DATABASE_URL"]) as link:
        names = [name for (name,) in link.execute("select tablename from pg_tables where schemaname = 'public'")]
        return {name: [str(row[0]) for row in link.execute(f'select t::text from "{name}" t')] for name in names}
