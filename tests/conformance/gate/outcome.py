"""What a story expects, compared with what came."""

import json
from collections import Counter
from typing import Any

from tests.conformance.gate import values
from tests.conformance.gate.decisions import word_fits
from tests.conformance.gate.story import Story
from tests.conformance.gate.wire import Answer, fetch

READABLE = ("question", "consequence", "confirm_label", "keep_label", "undo", "lines", "purpose", "requester")
FACTS = ("start", "goes", "remain", "before", "after")


async def faults(story: Story, expect: dict[str, Any]) -> list[str]:
    """List everything that is not as it is expected."""
    await story.look_up(expect) if story.server.running else None
    await story.finish()
    found = [line for name, wanted in expect.get("answers", {}).items() for line in of_answer(story, name, wanted)]
    found += of_decided(story, expect.get("decided", {}))
    for name, wanted in expect.get("seen", {}).items():
        found += of_cards(story, f"seen {name}", story.seen[name], wanted)
    for person, wanted in expect.get("cards", {}).items():
        page = await story.people[person].open_page(story.server.origin)
        await story.rest()
        found += of_cards(story, f"cards of {person}", list(page.cards.values()), wanted)
    found += values.differences(expect.get("state", {}), story.states, "state")
    if expect.get("rows"):
        found += values.differences(
            expect["rows"], await story.server.call("rows", wanted=expect["rows"], world=story.world), "rows"
        )
    found += await of_book(story, expect)
    for names in expect.get("receipts", ()):
        found += await of_receipts(story, names)
    for names in expect.get("alike", ()):
        found += of_alike(story, names)
    return found


def of_answer(story: Story, name: str, wanted: dict[str, Any] | None) -> list[str]:
    answer = story.named[name].answer
    if wanted is None or answer is None:
        shown = answer and f"{answer.status} {answer.text[:500]}"
        return [] if wanted is answer else [f"answer {name}: expected {wanted}, got {shown}"]
    wanted = values.filled(wanted, story.value)
    found = []
    if "status" in wanted and not values.status_fits(wanted["status"], answer.status):
        found.append(f"answer {name}: expected status {wanted['status']}, got {answer.status} {answer.text[:500]}")
    for header, end in wanted.get("headers", {}).items():
        real = answer.header(header)
        if end == "<absent>":
            found += [] if real is None else [f"answer {name}: header {header} is there"]
        elif real is None or (end != "*" and not real.endswith(str(end))):
            found.append(f"answer {name}: expected header {header} {end!r}, got {real!r}")
    if "body" in wanted:
        body = structured(answer) if story.named[name].path == "/mcp" else answer.json
        found += values.differences(wanted["body"], body, f"answer {name}")
    found += [
        f"answer {name}: does not say {text!r}" for text in wanted.get("says", ()) if str(text) not in spoken(answer)
    ]
    return found


def structured(answer: Answer) -> Any:
    """Return the structured content of an MCP answer, which may come as one event."""
    body = answer.json
    if body is None:
        data = [line[5:] for line in answer.text.splitlines() if line.startswith("data:")]
        body = json.loads(data[-1]) if data else None
    return values.find(body, "structuredContent")


def spoken(answer: Answer) -> str:
    """Return the body with its JSON escapes resolved."""
    return "\n".join([answer.text, *values.texts(answer.json)])


def of_decided(story: Story, wanted: dict[str, Any]) -> list[str]:
    found = []
    for name, words in wanted.items():
        names = name.split("|")
        expected = words if isinstance(words, list) else [words]
        got = [story.decided[one] for one in names]
        orders = [expected, expected[::-1]] if len(names) == 2 else [expected]
        if not any(all(word_fits(e, g) for e, g in zip(order, got, strict=True)) for order in orders):
            found.append(f"decided {name}: expected {expected}, got {got}")
    return found


def of_cards(story: Story, where: str, cards: list[dict[str, Any]], wanted: list[Any]) -> list[str]:
    names = [one if isinstance(one, str) else one["of"] for one in wanted]
    known = {ask.confirmation: name for name, ask in reversed(story.asks.items()) if ask.confirmation}
    got = [known.get(card["id"], card["id"]) for card in cards]
    same = {name: known.get(story.asks[name].confirmation, name) for name in names}
    if [same[name] for name in names] != got:
        return [f"{where}: expected {names}, got {got}"]
    return [
        line
        for one, card in zip(wanted, cards, strict=True)
        if isinstance(one, dict)
        for line in of_card(where, one, card)
    ]


def of_card(where: str, wanted: dict[str, Any], card: dict[str, Any]) -> list[str]:
    readable = list(values.texts([card[name] for name in READABLE]))
    found = [
        f"{where}: no one reads {text!r}" for text in wanted.get("says", ()) if not any(text in r for r in readable)
    ]
    for name in ("contract", "purpose"):
        if name in wanted:
            found += values.differences(wanted[name], card[name], f"{where} {name}")
    facts = {name: wanted[name] for name in FACTS if name in wanted}
    return found + values.differences(facts, card["facts"], where)


async def of_book(story: Story, expect: dict[str, Any]) -> list[str]:
    book = await story.server.call("book")
    found = [f"ledger: {fault}" for fault in book["faults"]]
    if "ledger" in expect:
        names = {ask.confirmation: name for name, ask in reversed(story.asks.items()) if ask.confirmation}
        ends = [f"{names.get(json.loads(ids)['confirmation'], '?')} {state}" for ids, state in book["ends"]]
        found += values.differences(expect["ledger"], ends, "ledger")
    if "executions" in expect:
        found += values.differences(expect["executions"], story.ran + book["ran"], "executions")
    twice = [ids for ids, count in Counter(ids for ids, _ in book["ends"]).items() if count > 1]
    return found + [f"ledger: {ids} ended twice" for ids in twice]


async def of_receipts(story: Story, names: list[str]) -> list[str]:
    """Follow each answer to its receipt, as the one who asked would."""
    bodies = {}
    for name in names:
        request = story.named[name]
        headers = {k: v for k, v in request.headers.items() if k in ("authorization", "cookie")}
        receipt = values.find(request.answer and request.answer.json, "receipt_id")
        if receipt is None:
            path = f"/api/confirmations/{story.confirmation(name)}"
            answer = await fetch(story.server.origin, "GET", path, headers=headers)
            receipt = (answer.json or {}).get("receipt_id")
        shown = await fetch(story.server.origin, "GET", f"/api/receipts/{receipt}", headers=headers)
        bodies[name] = (shown.status, shown.body)
    first = bodies[names[0]]
    same = first[0] == 200 and all(body == first for body in bodies.values())
    return [] if same else [f"receipts {names}: {bodies}"]


def of_alike(story: Story, names: list[str]) -> list[str]:
    shapes = []
    for name in names:
        answer, ask = story.named[name].answer, story.asks[name]
        assert answer is not None
        # Times of the same clock and lengths of bodies with the ids in them are no difference.
        headers = sorted(header.lower() for header, _ in answer.headers)
        shapes.append((answer.status, headers, values.without(answer.text, ask.sent_ids)))
    return [] if all(shape == shapes[0] for shape in shapes) else [f"alike {names}: {shapes}"]
