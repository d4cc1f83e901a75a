"""Fifty decide one confirmation at the same moment, by socket and by POST: one wins, the others are told by whom."""

import asyncio
import json
from collections import Counter

import pytest

from tests.conformance.gate.browser import Attempt, Page
from tests.conformance.gate.story import Story
from tests.conformance.gate.wire import Request, fetch

REPETITIONS = 20
EACH = 25
WORLD = {
    "now": "2026-11-30T08:00:00Z",
    "profiles": {"default": {"zone": "Europe/Berlin"}},
    "people": {"alice": {"default": "owner"}, "bob": {"default": "decider"}},
    "tokens": {"agent": {"person": "alice", "profile": "default", "scopes": "all"}},
    "workspaces": [{"profile": "default", "id": f"w{number}"} for number in range(REPETITIONS)],
}


@pytest.fixture
async def crowd(server):
    """A story with 25 open pages of two people."""
    story = Story(server, {"input": {"world": WORLD, "steps": []}})
    await story.begin()
    pages = [(person, Page()) for person in list(story.people.values()) * EACH][:EACH]
    for person, page in pages:
        await page.open(server.origin, "/ws/confirmations/", headers=person.browser_headers(), page=server.origin)
    yield story, pages
    for _, page in pages:
        await page.close()
    await story.leave()


async def test_one_of_fifty_wins_every_time(crowd):
    story, pages = crowd
    for number in range(REPETITIONS):
        ask = {"do": "ask", "as": f"r{number}", "by": "agent", "door": "test.erase", "id": f"w{number}"}
        await story.do(ask | {"prefer": "wait=120"})
        for _, page in pages:
            await page.catch_up()
        await decide_at_once(story, pages, story.confirmation(f"r{number}"))
        await story.rest()
        answer = story.named[f"r{number}"].answer
        assert answer is not None
        assert answer.status == 200, answer.text
    book = await story.server.call("book")
    assert Counter(state for _, state in book["ends"]) == {"executed": REPETITIONS}
    assert len({ids for ids, _ in book["ends"]}) == REPETITIONS
    assert (book["ran"], book["faults"]) == (REPETITIONS, [])
    assert (await story.server.call("holdings"))["receipts"] == REPETITIONS
    assert story.server.complaints() == ""


async def decide_at_once(story, pages, confirmation):
    """Let everybody press at once, and check what each is told."""
    attempts = [attempt(page, confirmation) for _, page in pages]
    people = (list(story.people.values()) * EACH)[:EACH]
    posts = await asyncio.gather(*(post(story, person, confirmation, pages[0][1]) for person in people))
    moves = [page.decide(one) for (_, page), one in zip(pages, attempts, strict=True)]
    moves += [request.send(story.server.origin) for request in posts]
    # Sockets and posts alternate.
    await asyncio.gather(*(move for pair in zip(moves[:EACH], moves[EACH:], strict=True) for move in pair))
    answers = [await request.done() for request in posts]
    for (_, page), one in zip(pages, attempts, strict=True):
        while one.reply is None:
            await page.catch_up()
    told = [one.reply for one in attempts] + [answer.json for answer in answers]
    assert {answer.status for answer in answers} <= {200, 409}
    taken = [body for body in told if body["type"] == "decision.taken"]
    refused = [body for body in told if body["type"] == "decision.refused"]
    assert (len(taken), len(refused)) == (1, 2 * EACH - 1)
    assert taken[0]["by"] in story.people
    whole = {"code": "already_ended", "state": "executed", "by": taken[0]["by"], "at": taken[0]["at"]}
    assert [body for body in refused if not whole.items() <= body.items()] == []


def attempt(page, confirmation):
    card = page.known[confirmation]
    frame = {"type": "decide", "id": confirmation, "decision": "approve", "acknowledged": True}
    return Attempt(
        confirmation=confirmation, frame=frame | {"digest": card["digest"], "nonce": page.nonces[confirmation][-1]}
    )


async def post(story, person, confirmation, page):
    """Prepare a decision without a socket, with a nonce of its own."""
    headers = person.headers(story.server.origin)
    card = (await fetch(story.server.origin, "GET", f"/api/inbox/{confirmation}", headers=headers)).json
    body = {"decision": "approve", "acknowledged": True, "digest": card["card"]["digest"], "nonce": card["nonce"]}
    return Request(
        method="POST",
        path=f"/api/confirmations/{confirmation}/decision",
        headers=headers | {"content-type": "application/json"},
        body=json.dumps(body).encode(),
    )
