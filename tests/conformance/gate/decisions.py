"""The decide step: who sends what over which way, and what the answer means."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

from tests.conformance.gate.browser import FOREIGN, Attempt, Page
from tests.conformance.gate.wire import Answer, Request, fetch

if TYPE_CHECKING:
    from tests.conformance.gate.story import Step, Story

ENDED = ("executed", "denied", "changed", "failed", "expired", "withdrawn", "uncertain", "executing")
TAKEN = ("executed", "denied", "changed", "failed")


async def prepare(story: Story, step: Step) -> None:
    """Build the attempt before anything of the step is sent; remember where the confirmation stands."""
    confirmation = story.confirmation(step["on"])
    step["_before"] = (await story.server.call("states", ids=[confirmation]))[confirmation]["state"]
    step["_attempt"] = Attempt(confirmation=confirmation, frame={})
    if step["by"] not in story.phones:
        step["_attempt"].frame = await frame_of(story, step, confirmation)


async def frame_of(story: Story, step: Step, confirmation: str) -> dict[str, Any]:
    """Return what the dialog would send, or what somebody would make up by hand."""
    frame: dict[str, Any] = {
        "type": "decide",
        "id": confirmation,
        "decision": step["decision"],
        "digest": digest_of(story, step, confirmation),
        "nonce": await nonce_of(story, step, confirmation),
    }
    acknowledged = step.get("acknowledged", True)
    if acknowledged != "missing":
        frame["acknowledged"] = acknowledged
    if "reason" in step:
        frame["reason"] = step["reason"]
    return frame


def digest_of(story: Story, step: Step, confirmation: str) -> str:
    shown = next((page.known[confirmation]["digest"] for page in story.pages() if confirmation in page.known), None)
    return shown if shown and step.get("digest", "shown") == "shown" else secrets.token_hex(32)


async def nonce_of(story: Story, step: Step, confirmation: str) -> str:
    """Return a fresh nonce (this person's for this card, else another's, else an invented one) or the used one."""
    person = story.people.get(step["by"])
    if step.get("nonce") == "used" and person is not None:
        return person.last_nonce
    own = person.page.nonces.get(confirmation, []) if person else []
    others = (page.nonces[confirmation] for page in story.pages() if page.nonces.get(confirmation))
    unspent = own or next(others, [])
    nonce = unspent[-1] if unspent else secrets.token_hex(16)
    if person is None:
        # Somebody without a page shows what they saw over a shoulder; it stays good for the person it was given to.
        return nonce
    if step.get("via") == "http":
        nonce = await nonce_of_card(story, step, confirmation) or nonce
    elif own and "origin" not in step:
        own.pop()
    person.last_nonce = nonce
    return nonce


async def nonce_of_card(story: Story, step: Step, confirmation: str) -> str:
    """Return what the card's own page gives to somebody who decides without a socket."""
    headers = story.people[step["by"]].headers(story.server.origin)
    answer = await fetch(story.server.origin, "GET", f"/api/inbox/{confirmation}", headers=headers)
    return str((answer.json or {}).get("nonce") or "") if answer.status == 200 else ""


async def send(story: Story, step: Step) -> None:
    """Send the decision."""
    attempt: Attempt = step["_attempt"]
    if step["by"] in story.phones:
        phone = story.phones[step["by"]]
        step["_start"] = len(phone.frames)
        session = story.asks[step["on"]].session
        await phone.say(phone.response(attempt.confirmation, session=session, approve=step["decision"] == "approve"))
    elif step.get("via", "socket") == "http":
        attempt.request = await post(story, step, attempt.confirmation, attempt.frame)
    else:
        await over_socket(story, step, attempt)


async def post(story: Story, step: Step, confirmation: str, frame: dict[str, Any]) -> Request:
    request = Request(
        method="POST",
        path=f"/api/confirmations/{confirmation}/decision",
        headers=credential(story, step) | {"content-type": "application/json"},
        body=json.dumps({name: value for name, value in frame.items() if name not in ("type", "id")}).encode(),
    )
    story.named[f"{step['as']}/{request.tag}"] = request
    await request.send(story.server.origin)
    return request


def credential(story: Story, step: Step) -> dict[str, str]:
    person = story.people.get(step["by"])
    if person is None:
        return story.credential(step["by"])
    site = "cross-site" if step.get("origin") == "other" else "same-origin"
    return person.headers(story.server.origin, csrf=step.get("csrf", True), site=site)


async def over_socket(story: Story, step: Step, attempt: Attempt) -> None:
    """Send the frame over the open page; without one, or from elsewhere, over a connection made for it."""
    person = story.people.get(step["by"])
    if person is not None and "origin" not in step and await person.page.decide(attempt):
        attempt.socket = person.page
        return
    page = Page()
    attempt.socket = page
    headers = person.browser_headers() if person else story.credential(step["by"])
    where = FOREIGN if step.get("origin") == "other" else story.server.origin
    if await page.open(story.server.origin, "/ws/confirmations/", headers=headers, page=where):
        if await page.decide(attempt):
            await until_answered(page, attempt)
        await page.close()


async def until_answered(page: Page, attempt: Attempt) -> None:
    """Wait for the answer on a connection that the rest of the story does not know."""
    while attempt.reply is None and not page.closed:
        await page.catch_up()


async def result(story: Story, step: Step) -> str:
    """Say what became of the decision, in the words of the notation."""
    attempt: Attempt = step["_attempt"]
    if step["by"] in story.phones:
        word = story.phones[step["by"]].result(attempt.confirmation, step["_start"])
    elif attempt.request is not None:
        word = await word_of_answer(story, step, await attempt.request.done(), attempt)
    else:
        word = await word_of_reply(story, step, attempt)
    if word in ("refused", "hidden") or word.startswith("told"):
        after = (await story.server.call("states", ids=[attempt.confirmation]))[attempt.confirmation]["state"]
        if word in ("refused", "hidden") and after != step["_before"]:
            return f"{word}, but {step['_before']} became {after}"
    return word


async def word_of_answer(story: Story, step: Step, answer: Answer | None, attempt: Attempt) -> str:
    if answer is None:
        return "no answer"
    body = answer.json or {}
    if answer.status == 200:
        return word_of_end(body)
    if answer.status == 409 and body.get("state") in ENDED:
        return word_of_told(body)
    if not 400 <= answer.status < 500:
        return f"status {answer.status}"
    ghost_id = ghost(attempt.confirmation)
    other = await (await post(story, step, ghost_id, attempt.frame)).done()
    return "hidden" if other and alike(answer, attempt.confirmation, other, ghost_id) else "refused"


async def word_of_reply(story: Story, step: Step, attempt: Attempt) -> str:
    reply = attempt.reply
    if reply is None:
        closed = attempt.socket is None or attempt.socket.closed
        return "refused" if closed else "no answer"
    if reply["type"] == "decision.taken":
        return word_of_end(reply)
    if reply.get("state") in ENDED:
        return word_of_told(reply)
    if isinstance(attempt.socket, Page) and not attempt.socket.closed:
        ghost_id = ghost(attempt.confirmation)
        other = Attempt(confirmation=ghost_id, frame={**attempt.frame, "id": ghost_id})
        await attempt.socket.decide(other)
        await until_answered(attempt.socket, other)
        same = json.dumps(reply).replace(attempt.confirmation, "") == json.dumps(other.reply).replace(ghost_id, "")
        return "hidden" if same else "refused"
    return "refused"


def word_of_end(body: dict[str, Any]) -> str:
    complete = body.get("by") and isinstance(body.get("at"), int)
    return str(body.get("state")) if body.get("state") in TAKEN and complete else f"taken as {body}"


def word_of_told(body: dict[str, Any]) -> str:
    complete = isinstance(body.get("at"), int) and "by" in body
    by = f" by {body['by']}" if body.get("by") else ""
    return f"told {body['state']}{by}" if complete else f"told without by and at: {body}"


def word_fits(expected: str, word: str) -> bool:
    """Tell whether a result is what the story expects."""
    if expected == "refused":
        return word in ("refused", "hidden")
    return word == expected or (
        expected.startswith("told ") and " by " not in expected and word.startswith(f"{expected} by ")
    )


def ghost(confirmation: str) -> str:
    """Return an id that nothing has, made like a real one."""
    return confirmation[:12] + secrets.token_hex(10)


def alike(one: Answer, one_id: str, other: Answer, other_id: str) -> bool:
    return (
        one.status == other.status
        and [name.lower() for name, _ in one.headers] == [name.lower() for name, _ in other.headers]
        and one.text.replace(one_id, "") == other.text.replace(other_id, "")
    )
