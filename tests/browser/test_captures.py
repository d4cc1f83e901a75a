"""Captures in real browsers: three badges, what was refused beside what is stored, a purge after a tick."""

import pytest
from playwright.async_api import expect

DIALOG = "dialog#ask"
JOURNAL = "/captures/?scope=travel"
TURN = "/captures/source?scope=travel&id=hermes-turn:0191"
HOSTILE = "<img src=x onerror=alert(1)>\u202e txt.exe"


@pytest.fixture
async def journal(stage):
    """A scope with something under each badge."""
    await stage.fill_journal()
    return stage


async def open_turn(stage):
    page = await stage.open("alice", "/captures/")
    await page.goto(stage.server.origin + TURN)
    await expect(page.locator("[data-connection]")).to_have_attribute("data-connection", "open")
    return page


def at(page, position):
    return page.locator(f"[data-position='{position}']")


async def test_a_journal_shows_three_states_with_their_reasons(journal):
    alice = await journal.open("alice", "/captures/")
    await expect(alice.get_by_role("navigation", name="Pages").get_by_text("Captures")).to_be_visible()
    await alice.get_by_role("link", name="travel").click()
    badges = alice.locator(".cap-badge")
    await expect(badges).to_have_text(["Unknown", "Partial", "Complete", "Unknown"])
    await expect(at(alice, 1)).to_contain_text("Not declared: the capturer said nothing about what it kept.")
    await expect(at(alice, 4)).to_contain_text("Declared unknown: the capturer could not see all of it.")
    counts = alice.locator(".cap-counts > div")
    await expect(counts).to_have_text(["Complete1", "Partial1", "Unknown2", "Purged0"])
    # What an agent captures now is there without any reload, shown as the text that it is.
    body = {"scope_id": "travel", "source_id": "a/b ?#", "content": HOSTILE}
    await journal.call("POST", "/api/captures/sources", body)
    await expect(counts).to_have_text(["Complete1", "Partial1", "Unknown3", "Purged0"])
    await at(alice, 5).get_by_role("link", name="a/b ?#").click()
    await expect(alice.locator(".cap-text")).to_have_text("<img src=x onerror=alert(1)>[U+202E] txt.exe")
    await expect(alice.locator("main img")).to_have_count(0)


async def test_a_source_shows_its_text_its_declaration_and_its_place(journal):
    alice = await journal.open("alice", JOURNAL)
    await alice.get_by_role("link", name="hermes-compression:77").click()
    page = alice.locator("[data-page=captures]")
    await expect(page.locator(".cap-text")).to_have_text("[user] What is open?\n[assistant] The electricity bill.")
    await expect(page).to_contain_text("Position 3")
    await expect(page).to_contain_text("The text was longer than may be captured; its end was cut.")
    await expect(page).to_contain_text("What was cut of this window is not offered again")
    declared = page.locator(".cap-members").first
    for part in ("hermes-precompress-text.v1", "new_user_assistant_window", "partial", "character_limit"):
        await expect(declared).to_contain_text(part)
    # A scope of another profile, and one that never was.
    for path in ("/captures/?scope=theirs", "/captures/source?scope=theirs&id=hermes-turn:0191"):
        assert (await alice.goto(journal.server.origin + path)).status == 404


async def test_what_was_refused_stands_beside_what_is_stored(journal):
    alice = await open_turn(journal)
    await expect(alice.get_by_text("Compare")).to_have_count(0)
    await journal.refused(source_id="hermes-turn:0191", content="Another text.", metadata={"kind": "hermes-turn"})
    await alice.get_by_role("link", name="Compare").click()
    stored, refused = alice.get_by_role("region", name="Stored"), alice.get_by_role("region", name="Refused")
    await expect(stored).to_contain_text("Plan the trip to Lisbon.")
    await expect(stored.locator(".cap-badge")).to_have_text("Complete")
    await expect(refused).to_contain_text("Another text.")
    await expect(refused).to_contain_text("Not declared")
    told = ["the text", "powercontext_capture_coverage", "session_id"]
    await expect(alice.locator(".cap-differs .tag")).to_have_text(told)
    left, right = await stored.bounding_box(), await refused.bounding_box()
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] < right["x"]


async def test_a_purge_asks_with_what_rests_on_it_and_leaves_the_position(journal):
    await journal.refused(source_id="hermes-turn:0191", content="Another text.")
    alice, bob = await open_turn(journal), await journal.open("bob", JOURNAL)
    await alice.get_by_role("button", name="Purge…").click()
    dialog = alice.locator(DIALOG)
    await expect(dialog).to_have_accessible_name("Purge the capture 'hermes-turn:0191'?")
    await expect(dialog).to_contain_text("1 other payload that was refused under its name goes too.")
    await expect(dialog.get_by_role("checkbox")).not_to_be_checked()
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Purge 'hermes-turn:0191'").click()
    await expect(dialog).not_to_have_attribute("open", "")
    for page in (alice, bob):
        await expect(page.get_by_text("Its text went by a person's decision")).to_be_visible()
        await expect(page.locator("main").get_by_text("Lisbon")).to_have_count(0)
    await expect(at(bob, 2).locator(".cap-badge")).to_have_text("Purged")
    await expect(alice.get_by_role("button", name="Purge…")).to_have_count(0)
    assert (await alice.reload()).status == 410
    listed = await journal.call("GET", "/api/captures/sources?scope_id=travel")
    assert [source["position"] for source in listed["sources"]] == [1, 2, 3, 4]
    assert await journal.ends() == ["executed"]
