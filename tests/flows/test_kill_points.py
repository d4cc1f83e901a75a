"""At every named point the process is killed; what is found after the restart is honest, and nothing is half done."""

import asyncio
import contextlib
import signal

import pytest

from apps.core.failpoints import POINTS
from tests.conformance.gate.browser import Person
from tests.conformance.gate.story import Story
from tests.conformance.process import ServerFailed, ServerProcess

WORLD = {
    "now": "2026-11-30T08:00:00Z",
    "profiles": {"default": {"zone": "Europe/Berlin"}},
    "people": {"alice": {"default": "owner"}},
    "tokens": {"agent": {"person": "alice", "profile": "default", "scopes": "all"}},
    "workspaces": [{"profile": "default", "id": "old"}],
}
ASK = {"do": "ask", "as": "r1", "by": "agent", "door": "test.erase", "id": "old", "prefer": "respond-async"}
ASK |= {"idempotency_key": "k1"}
SEND = ASK | {"contract": "send_workspace"}
YES = {"do": "decide", "as": "d1", "by": "alice", "on": "r1", "decision": "approve"}

# Which steps lead to each point: what happens before the point is armed, and the step that reaches it.
# What is found: "nothing" was asked, it is still "pending", or it ended.
WAYS = {
    "submit.before_insert": [([], ASK, "nothing")],
    "submit.before_commit": [([], ASK, "nothing")],
    "submit.after_commit": [([], ASK, "pending")],
    "announce.before": [([], ASK, "pending"), ([ASK], YES, "executed")],
    "announce.after": [([], ASK, "pending"), ([ASK], YES, "executed")],
    "decide.locked": [([ASK], YES, "pending")],
    "decide.digest_compared": [([ASK], YES, "pending"), ([SEND], YES, "pending")],
    "execute.acted": [([ASK], YES, "pending")],
    "decide.before_commit": [([ASK], YES, "pending"), ([SEND], YES, "pending")],
    "decide.after_commit": [([ASK], YES, "executed"), ([SEND], YES, "uncertain")],
    "execute.claimed": [([SEND], YES, "uncertain")],
    "execute.called": [([SEND], YES, "uncertain")],
}
CASES = [
    pytest.param(point, *way, id=f"{point} {number}" if number else point)
    for point, ways in WAYS.items()
    for number, way in enumerate(ways)
]


@pytest.fixture(scope="module")
def begun():
    """Stopped servers in which the world is made and the steps before are taken, each to be copied."""
    stories = {str(before): begin(before) for before in ([], [ASK], [SEND])}
    try:
        yield stories
    finally:
        for story in stories.values():
            story.server.destroy()


def begin(before):
    story = Story(ServerProcess().start(now_ms=0), {"input": {"world": WORLD, "steps": []}})

    async def go():
        await story.begin()
        for step in before:
            await story.do(step)
        await story.leave()
        await story.server.end("stop")

    with asyncio.Runner() as runner:
        runner.run(go())
    return story


@contextlib.asynccontextmanager
async def going_on(story, *, fail_at):
    """Go on with a copy of a story on a server of its own, with the point armed."""
    copy = Story(story.server.copy(), {"input": {"world": WORLD, "steps": []}})
    copy.server.now_ms = story.server.now_ms
    copy.secrets, copy.asks = story.secrets, dict(story.asks)
    for person in story.people.values():
        copy.people[person.name] = Person(name=person.name, cookie=person.cookie, csrf=person.csrf)
    try:
        await restart(copy, fail_at=fail_at)
        yield copy
        await copy.leave()
    finally:
        copy.server.destroy()


ELSEWHERE = ("append.", "deliver.", "delete_session.", "remove_turn.")
"""Points that their rooms' own tests kill at."""


def test_every_point_has_a_way_to_it():
    print("\n".join(f"{name}: {meaning}" for name, meaning in POINTS.items()))
    assert WAYS.keys() == {name for name in POINTS if not name.startswith(ELSEWHERE)}


@pytest.mark.parametrize(("point", "before", "step", "found"), CASES)
async def test_killed_at(begun, point, before, step, found):
    async with going_on(begun[str(before)], fail_at=point) as story:
        await dies(story, step)
        await restart(story)
        await check(story, found, external=before == [SEND])
        await go_on(story, before[-1] if before else ASK, found)


async def restart(story, *, fail_at=""):
    """Start the server again, on the same data, with or without the point armed."""
    for person in story.people.values():
        await person.page.close()
    story.server.start(now_ms=story.server.now_ms + 1000, fail_at=fail_at)
    for person in story.people.values():
        await person.open_page(story.server.origin)
    await story.rest()


async def dies(story, step):
    """Take the step; the process must be gone before it comes to rest."""
    with contextlib.suppress(ServerFailed, ConnectionError):
        await story.do(step)
        pytest.fail("the point was never reached")
    assert await story.server.gone() == -signal.SIGKILL
    for request in story.named.values():
        await request.done()


async def check(story, found, *, external):
    """Nothing is half done: the row, what it was about, the receipt, the ledger and the page say the same."""
    holdings = await story.server.call("holdings")
    book = await story.server.call("book")
    assert book["faults"] == []
    assert list(holdings["states"].values()) == ([] if found == "nothing" else [found])
    assert holdings["receipts"] == (1 if found == "executed" else 0)
    assert [state for _, state in book["ends"]] == ([found] if found in ("executed", "uncertain") else [])
    rows = await story.server.call("rows", wanted={"workspaces": {"old": ""}}, world=WORLD)
    assert rows["workspaces"]["old"] == ("gone" if found == "executed" and not external else "here")
    open_ids = [one for one, state in holdings["states"].items() if state == "pending"]
    assert list(story.people["alice"].page.cards) == open_ids


async def go_on(story, ask, found):
    """What was asked can be asked or decided now, once; what ended is told, and an outside call is never repeated."""
    sent = (await story.server.call("holdings"))["sent"]
    await story.do(ask | {"as": "again"})
    states = (await story.server.call("holdings"))["states"]
    assert len(states) == 1, "the same key asks once"
    (confirmation,) = states
    assert story.asks["again"].confirmation == confirmation
    story.asks["r1"] = story.asks["again"]
    await story.do(YES | {"as": "later"})
    if found in ("executed", "uncertain"):
        assert story.decided["later"].startswith(f"told {found} by alice")
        assert (await story.server.call("holdings"))["sent"] == sent
        return
    assert story.decided["later"].startswith("taken as") if ask is SEND else story.decided["later"] == "executed"


async def test_an_outside_call_before_the_kill_was_made_once(begun):
    """Killed after the call: it was made once, is shown as uncertain, and is not made again."""
    async with going_on(begun[str([SEND])], fail_at="execute.called") as story:
        await dies(story, YES)
        await restart(story)
        holdings = await story.server.call("holdings")
        assert (holdings["sent"], list(holdings["states"].values())) == (["old"], ["uncertain"])
