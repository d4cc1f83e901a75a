"""Killed while a turn is removed or a session is deleted: all or nothing, and it can be decided again."""

import asyncio
import contextlib
import signal

import pytest

from apps.core.failpoints import POINTS
from tests.conformance.gate.browser import Person
from tests.conformance.gate.story import Story
from tests.conformance.process import ServerFailed, ServerProcess
from tests.flows.test_kill_points import restart

WORLD = {
    "now": "2026-11-30T08:00:00Z",
    "profiles": {"default": {"zone": "Europe/Berlin"}},
    "people": {"alice": {"default": "owner"}},
    "tokens": {"agent": {"person": "alice", "profile": "default", "scopes": "all"}},
    "sessions": [
        {"id": "s2", "profile": "default", "turns": 3},
        {"id": "kid", "profile": "default", "turns": 1, "parent": "s2", "origin": "subagent"},
        {"id": "fork", "profile": "default", "fork_of": "s2"},
    ],
}
SESSION = {"do": "ask", "as": "r1", "by": "agent", "prefer": "respond-async", "door": "agent_control.session_delete"}
SESSION |= {"body": {"sessionId": "s2"}}
TURN = SESSION | {
    "door": "agent_control.turn_delete",
    "body": {"sessionId": "s2", "assistantMessageId": "a2"},
}
YES = {"do": "decide", "as": "d1", "by": "alice", "on": "r1", "decision": "approve"}
HERE = {"s2": "here", "kid": "here", "fork": "here"}
GONE = {"s2": "gone", "kid": "gone", "fork": "here"}
WHOLE, CUT = {"shown": [1, 2, 3], "removed": []}, {"shown": [1, 3], "removed": [2]}

CASES = [
    *((SESSION, point, False) for point in POINTS if point.startswith("delete_session.")),
    *((TURN, point, False) for point in POINTS if point.startswith("remove_turn.")),
    (TURN, "append.before_commit", False),
    *((ask, "decide.after_commit", True) for ask in (SESSION, TURN)),
]


@pytest.fixture(scope="module")
def begun():
    """A stopped server with the world, to be copied: making the tables takes longest."""
    story = Story(ServerProcess().start(now_ms=0), {"input": {"world": WORLD, "steps": []}})

    async def go():
        await story.begin()
        await story.leave()
        await story.server.end("stop")

    with asyncio.Runner() as runner:
        runner.run(go())
    try:
        yield story
    finally:
        story.server.destroy()


@pytest.fixture
async def story(begun):
    """A copy of it on a server of its own, on which a test kills."""
    story = Story(begun.server.copy(), {"input": {"world": WORLD, "steps": []}})
    story.server.now_ms, story.secrets = begun.server.now_ms, begun.secrets
    for person in begun.people.values():
        story.people[person.name] = Person(name=person.name, cookie=person.cookie, csrf=person.csrf)
    try:
        yield story
        await story.leave()
    finally:
        story.server.destroy()


@pytest.mark.parametrize(
    ("ask", "point", "done"),
    [pytest.param(*case, id=f"{case[0]['door'].partition('.')[2]} at {case[1]}") for case in CASES],
)
async def test_killed_at(story, ask, point, done):
    await restart(story, fail_at=point)
    await story.do(ask)
    with contextlib.suppress(ServerFailed, ConnectionError):
        await story.do(YES)
        pytest.fail("the point was never reached")
    assert await story.server.gone() == -signal.SIGKILL
    await restart(story)
    await check(story, ask, done=done)
    await story.do(YES | {"as": "later"})
    assert story.decided["later"] == ("told executed by alice" if done else "executed")
    await check(story, ask, done=True)


async def check(story, ask, *, done):
    """The rows, the confirmation, the ledger and the receipt say the same."""
    book, holdings = await story.server.call("book"), await story.server.call("holdings")
    assert book["faults"] == []
    assert [state for _, state in book["ends"]] == (["executed"] if done else [])
    assert (list(holdings["states"].values()), holdings["receipts"]) == (["executed" if done else "pending"], int(done))
    wanted = {"sessions": HERE} if ask is SESSION else {"sessions": HERE, "turns": {"s2": {}}}
    rows = await story.server.call("rows", wanted=wanted, world=WORLD)
    if ask is SESSION:
        assert rows["sessions"] == (GONE if done else HERE)
        return
    assert (rows["sessions"], rows["turns"]["s2"]) == (HERE, CUT if done else WHOLE)
    log = await story.server.call("log_of", session="s2")
    assert len(log["events"]) == 19 + (4 if done else 0)


async def test_a_claim_that_a_kill_leaves_open_deleted_nothing_and_says_so(story):
    """The agent was being stopped: nothing outside is uncertain, so the claim ends as failed and can be asked again."""
    await restart(story)
    await story.server.call("work", session="kid")
    await story.do(SESSION)
    await story.do(YES)
    assert "'state': 'executing'" in story.decided["d1"]
    await story.server.end("kill")
    await restart(story)
    holdings = await story.server.call("holdings")
    assert list(holdings["states"].values()) == ["failed"]
    rows = await story.server.call("rows", wanted={"sessions": HERE}, world=WORLD)
    assert rows["sessions"] == HERE
    await story.server.call("rested", session="kid")
    await story.do(SESSION | {"as": "r2"})
    await story.do(YES | {"as": "d2", "on": "r2"})
    assert story.decided["d2"] == "executed"
    rows = await story.server.call("rows", wanted={"sessions": GONE}, world=WORLD)
    assert rows["sessions"] == GONE
