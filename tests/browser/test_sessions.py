"""Sessions in real browsers: a turn leaves the model's view, a session goes with its subagents, a live one stays."""

import re

import pytest
from playwright.async_api import expect

from tests.sessions.logs import (
    a_turn,
    call,
    call_block,
    reply,
    result,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)

DIALOG = "dialog#ask"
TITLE = {"type": "session/title", "data": {"title": "Trip", "messageSeqs": [], "source": {"kind": "user"}}}
SECRET = "My number is X1234567"
SECOND_TURN = [
    turn_start(2),
    step_start(2, 1),
    user("u2", SECRET),
    reply(2, 1, "a2x", text("I will note it."), call_block("c2", name="note", arguments='{"number": "X1234567"}')),
    call(2, 1, "c2", name="note", arguments='{"number": "X1234567"}'),
    result(2, 1, "c2", "Noted X1234567"),
    step_end(2, 1),
    step_start(2, 2),
    reply(2, 2, "a2", text("It is noted: X1234567.")),
    step_end(2, 2),
    turn_end(2),
]


@pytest.fixture
async def trip(stage):
    """A session of three turns, the second with a tool call."""
    await stage.tell("s1", [TITLE, *a_turn(1), *SECOND_TURN, *a_turn(3)])
    return stage


def rows(page, turn):
    return page.locator(f"[data-rows] > [data-turn='{turn}']")


def shown(page, turn):
    return page.locator(f"[data-rows] > [data-turn='{turn}']:not([hidden])")


async def read(page):
    await expect(page.locator("[data-rows]")).to_have_attribute("aria-busy", "false")


async def test_a_removed_turn_vanishes_and_nothing_else_does(trip):
    alice, bob = await trip.open("alice", "/sessions/s1"), await trip.open("bob", "/sessions/s1")
    for page in (alice, bob):
        await read(page)
        await expect(shown(page, 2)).to_have_count(await rows(page, 2).count())
    others = {turn: await rows(alice, turn).count() for turn in (1, 3)}
    # What the tool was told is folded away until somebody looks.
    await expect(alice.get_by_text('{"number": "X1234567"}').last).to_be_hidden()
    await alice.get_by_role("button", name="Ask to remove turn 2 from what the model sees").click()
    dialog = alice.locator(DIALOG)
    await expect(dialog).to_have_accessible_name("Remove turn 2 of 'Trip' from what the model sees?")
    await expect(dialog).to_contain_text("This is not a secure erase.")
    await expect(dialog.get_by_role("checkbox")).not_to_be_checked()
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Remove turn 2").click()
    await expect(dialog).not_to_have_attribute("open", "")
    note = "Turn 2 was removed from what the model sees"
    for page in (alice, bob):
        await expect(page.locator("[data-removed='2']")).to_contain_text(note)
        await expect(shown(page, 2)).to_have_count(0)
        for turn, count in others.items():
            await expect(shown(page, turn)).to_have_count(count)
    await trip.restart("kill")
    for page in (alice, bob):
        await page.reload()
        await read(page)
        await expect(page.get_by_text(SECRET)).to_be_hidden()
        await expect(page.locator("[data-removed='2']")).to_contain_text(note)
        for turn, count in others.items():
            await expect(shown(page, turn)).to_have_count(count)
    # It is stored all the same, and the page says so; the model sees a line in its place.
    await alice.get_by_role("button", name="Show what is stored").click()
    await expect(alice.get_by_text(SECRET)).to_be_visible()
    await alice.get_by_role("button", name="Hide it again").click()
    await expect(alice.get_by_text(SECRET)).to_be_hidden()
    await alice.get_by_role("button", name="What the model sees", exact=True).click()
    await read(alice)
    order = await alice.locator("[data-rows] > .msg, [data-rows] > [data-removed]").evaluate_all(
        "nodes => nodes.map(node => node.dataset.turn ?? `removed ${node.dataset.removed}`)"
    )
    assert order == ["1", "1", "removed 2", "3", "3"]
    surface = await trip.call("GET", "/api/sessions/s1/surface")
    assert "X1234567" not in str(surface)
    assert await trip.ends() == ["executed"]


async def test_a_turn_is_removed_with_the_keyboard_alone(trip):
    alice = await trip.open("alice", "/sessions/s1")
    await read(alice)
    await alice.get_by_role("button", name="Ask to remove turn 3 from what the model sees").press("Enter")
    dialog = alice.locator(DIALOG)
    await expect(dialog).to_have_attribute("open", "")
    await expect(dialog).not_to_have_attribute("data-arming", "")
    await expect(dialog.get_by_role("button", name="Keep it")).to_be_focused()
    await dialog.get_by_role("checkbox").press(" ")
    await dialog.get_by_role("button", name="Remove turn 3").press("Enter")
    await expect(alice.locator("[data-removed='3']")).to_be_visible()
    await expect(shown(alice, 3)).to_have_count(0)
    # While the dialog settles, the page behind it takes no key.
    await expect(dialog).not_to_have_attribute("open", "")
    # The menu and the list as well: open, go to the last entry, leave again, and archive.
    menu = alice.get_by_role("button", name="Menu of “Trip”")
    await menu.press("Enter")
    await alice.keyboard.press("End")
    await expect(alice.get_by_role("menuitem", name="Delete…")).to_be_focused()
    await alice.keyboard.press("Escape")
    await expect(menu).to_be_focused()
    await menu.press("Enter")
    await alice.keyboard.press("ArrowDown")
    await alice.keyboard.press("Enter")
    await expect(alice.locator("[data-facts]")).to_contain_text("archived")
    await alice.goto(f"{trip.server.origin}/sessions/")
    await expect(alice.locator("[data-session='s1']")).to_have_count(0)
    await alice.get_by_role("button", name="Archived").press("Enter")
    await expect(alice.locator("[data-session='s1'] .ses-name")).to_have_text("Trip")


async def test_what_others_change_closes_no_menu_and_takes_no_focus(trip):
    alice = await trip.open("alice", "/sessions/s1")
    await read(alice)
    await alice.get_by_role("button", name="Menu of “Trip”").press("Enter")
    await alice.keyboard.press("End")
    last = alice.get_by_role("menuitem", name="Delete…")
    await expect(last).to_be_focused()
    await trip.tell("s1", [{**TITLE, "data": {**TITLE["data"], "title": "Journey"}}])
    await expect(alice.get_by_role("heading", level=1)).to_have_text("Journey")
    await expect(last).to_be_focused()
    await alice.keyboard.press("Escape")
    await expect(alice.get_by_role("button", name="Menu of “Journey”")).to_be_focused()
    # A fold that is open stays open, and keeps the focus, while the row that it is in grows.
    folded = alice.locator(".role-entry")
    before = await folded.count()
    await trip.tell("s1", [{"type": "todo/write", "data": {"items": ["one"]}}])
    await expect(folded).to_have_count(before + 1)
    await folded.last.locator("summary").press("Enter")
    entries = folded.last.locator(".entries > li")
    await expect(entries).to_have_count(1)
    await trip.tell("s1", [{"type": "todo/write", "data": {"items": ["two"]}}])
    await expect(entries).to_have_count(2)
    await expect(folded.last.locator("summary")).to_be_focused()
    # In the list, what came meanwhile is there when the menu closes.
    await alice.goto(f"{trip.server.origin}/sessions/")
    listed = alice.locator("[data-groups] [data-session]")
    await expect(listed).to_have_count(1)
    await alice.get_by_role("button", name="Menu of “Journey”").press("Enter")
    await alice.keyboard.press("End")
    async with alice.expect_response(lambda answer: "/api/sessions?" in answer.url):
        await trip.call("POST", "/api/sessions", {"id": "fresh"})
    await expect(last).to_be_focused()
    await alice.keyboard.press("Escape")
    await expect(listed).to_have_count(2)
    menu = alice.get_by_role("button", name="Menu of “Journey”")
    await expect(menu).to_be_focused()
    await trip.call("POST", "/api/sessions/s1/pin")
    await expect(alice.get_by_role("region", name="Pinned").locator("[data-session]")).to_have_count(1)
    await expect(menu).to_be_focused()


async def test_nothing_is_asked_while_the_session_is_at_work(trip):
    alice = await trip.open("alice", "/sessions/s1")
    await read(alice)
    bin_of_turn = alice.get_by_role("button", name="Ask to remove turn 1 from what the model sees")
    await expect(bin_of_turn).to_be_enabled()
    await trip.tell("s1", [turn_start(4), step_start(4, 1), user("u4", "And now?")])
    # The page grows by itself, and its bins rest.
    await expect(alice.get_by_text("And now?")).to_be_visible()
    await expect(alice.locator("[data-state]")).to_have_text("The agent is at work.")
    await expect(bin_of_turn).to_be_disabled()
    await trip.tell("s1", [reply(4, 1, "a4", text("Later.")), step_end(4, 1), turn_end(4)])
    await expect(bin_of_turn).to_be_enabled()
    assert await trip.ends() == []


async def test_a_session_goes_with_its_subagents_and_leaves_its_fork(trip):
    for name, parent, depth in (("helper", "s1", 1), ("second", "helper", 2)):
        told = {"id": name, "parentSession": parent, "origin": "subagent", "delegationDepth": depth}
        await trip.call("POST", "/api/sessions", told)
        await trip.tell(name, a_turn(1))
    await trip.call("POST", "/api/sessions/s1/lease")
    await trip.call("POST", "/api/sessions/s1/fork", {"id": "branch"})
    await trip.call("DELETE", "/api/sessions/s1/lease")
    alice = await trip.open("alice", "/sessions/")
    listed = alice.locator("[data-groups] [data-session]")
    await expect(listed).to_have_count(4)
    # A session that an agent makes now is there without any reload.
    await trip.call("POST", "/api/sessions", {"id": "fresh"})
    await expect(listed).to_have_count(5)
    # The fork bears the same title; the ids tell them apart.
    await alice.locator("[data-session='s1']").get_by_role("button", name="Menu of “Trip”").click()
    entries = alice.get_by_role("menuitem")
    await expect(entries.last).to_have_text("Delete…")
    await entries.last.click()
    dialog = alice.locator(DIALOG)
    await expect(dialog).to_have_accessible_name("Delete the session 'Trip' for good?")
    await expect(dialog).to_contain_text("2 subagent sessions go too.")
    await expect(dialog).to_contain_text("1 fork of it stays.")
    await expect(dialog.get_by_role("button", name="Archive it instead")).to_be_visible()
    async with alice.expect_download() as download:
        await dialog.get_by_role("link", name="Save the transcript (Markdown)").click()
    assert "X1234567" in (await (await download.value).path()).read_text()
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Delete the session 'Trip'").click()
    await expect(listed).to_have_count(2)
    assert await listed.evaluate_all("nodes => nodes.map(node => node.dataset.session).sort()") == ["branch", "fresh"]
    await expect(dialog).not_to_have_attribute("open", "")
    answer = await alice.goto(f"{trip.server.origin}/sessions/s1")
    assert answer.status == 404
    assert await trip.ends() == ["executed"]


async def test_archiving_instead_turns_the_deletion_down(trip):
    alice = await trip.open("alice", "/sessions/s1")
    await read(alice)
    await alice.get_by_role("button", name="Menu of “Trip”").click()
    await alice.get_by_role("menuitem", name="Delete…").click()
    await alice.locator(DIALOG).get_by_role("button", name="Archive it instead").click()
    await expect(alice.locator("[data-facts]")).to_contain_text("archived")
    await expect(alice.locator(DIALOG)).not_to_have_attribute("open", "")
    await expect(alice.get_by_text(SECRET)).to_be_visible()
    assert await trip.ends() == ["denied"]


async def test_a_live_session_is_refused_with_the_words_that_help(trip):
    await trip.call("POST", "/api/sessions/s1/lease")
    alice = await trip.open("alice", "/sessions/s1")
    await read(alice)
    await expect(alice.locator("[data-state]")).to_have_text("Open in an agent host.")
    await alice.get_by_role("button", name="Menu of “Trip”").click()
    await alice.get_by_role("menuitem", name="Delete…").click()
    refused = alice.locator(".notice", has_text="is open in an agent host. Close it there or here first")
    await expect(refused).to_contain_text("agent holds this session.")
    await expect(alice.locator(DIALOG)).not_to_have_attribute("open", "")
    await refused.get_by_role("button", name="Close it, then ask to delete").click()
    await expect(alice.get_by_text("The host was asked to close it.")).to_be_visible()
    await trip.call("DELETE", "/api/sessions/s1/lease")
    dialog = alice.locator(DIALOG)
    await expect(dialog).to_have_attribute("open", "")
    # A host that takes it again before the yes is sent is found by the page's own last look.
    await trip.call("POST", "/api/sessions/s1/lease")
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Delete the session 'Trip'").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("is open in an agent host")
    await expect(dialog.get_by_role("checkbox")).not_to_be_checked()
    assert await trip.ends() == []


async def test_a_long_log_is_read_page_by_page(stage):
    await stage.tell("s1", [user(f"u{number}", f"Message {number}.") for number in range(250)])
    asked = []
    alice = await stage.open("alice", "/inbox/")
    alice.on("request", lambda request: asked.append(request.url) if "/transcript" in request.url else None)
    await alice.goto(f"{stage.server.origin}/sessions/s1")
    await read(alice)
    messages = alice.locator("[data-rows] > .msg")
    await expect(messages).to_have_count(100)
    await expect(messages.last).to_contain_text("Message 249.")
    await alice.get_by_role("button", name="Show earlier rows").click()
    await expect(messages).to_have_count(200)
    await alice.get_by_role("button", name="Show earlier rows").click()
    await expect(messages).to_have_count(250)
    await expect(messages.first).to_contain_text("Message 0.")
    await expect(alice.get_by_role("button", name="Show earlier rows")).to_be_hidden()
    paged = [url for url in asked if "after=" not in url]
    assert len(paged) == 3
    assert all(re.search(r"limit=100\b", url) for url in paged)
