"""The other pages in a real browser: the calendar and its one form, import, reminders, tokens, settings, every look."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import SWIMMING

FILE = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//tests//EN
BEGIN:VEVENT
UID:good
DTSTAMP:20261101T000000Z
DTSTART:20261204T100000Z
SUMMARY:Good
END:VEVENT
BEGIN:VEVENT
UID:bad
DTSTAMP:20261101T000000Z
SUMMARY:No start
END:VEVENT
BEGIN:VJOURNAL
UID:diary
SUMMARY:Diary
END:VJOURNAL
END:VCALENDAR
"""
IMPORTED = [
    "10No startThere is no start; left out.",
    "15DiarySayso keeps events and reminders only; left out.",
]
VIEWS = [f"/calendar/?view={view}&day=2026-12-02" for view in ("month", "week", "agenda")]
OWN = ["/reminders/", "/sessions/", "/sessions/s1", "/schedules/"]
CAPTURES = {
    "/captures/": "captures",
    "/captures/?scope=travel": "captures-scope",
    "/captures/source?scope=travel&id=hermes-compression:77": "captures-source",
    "/captures/conflicts?scope=travel&id=hermes-turn:0191": "captures-conflicts",
}
PAGES = ["/inbox/", *VIEWS, *OWN, *CAPTURES, "/tokens/", "/settings/"]
WEEK = "/calendar/?view=agenda&day=2026-12-01"


async def open_event(page, title):
    await page.locator(".agenda-main", has_text=title).first.click()
    panel = page.locator("#event-panel")
    await expect(panel).to_have_attribute("open", "")
    return panel


async def test_one_form_makes_changes_copies_and_bins_events(stage):
    alice = await stage.open("alice")
    await alice.goto(stage.server.origin + WEEK)
    await alice.get_by_role("button", name="New event", exact=True).click()
    panel = alice.locator("#event-panel")
    await panel.get_by_label("Title").fill("Choir")
    await panel.get_by_label("Starts").fill("2026-12-03")
    await panel.get_by_label("Start time").fill("20:00")
    await expect(panel.get_by_label("End time")).to_have_value("21:00")
    await panel.get_by_label("Repeats", exact=True).last.select_option("WEEKLY")
    await panel.get_by_label("Ends").nth(1).select_option("count")
    await panel.get_by_label("Dates").fill("3")
    await panel.get_by_role("button", name="Save").click()
    rows = alice.locator(".agenda-row", has_text="Choir")
    await expect(rows).to_have_count(3)
    await expect(rows.first).to_contain_text("20:00–21:00")
    # One date of the series moves, the others stay.
    panel = await open_event(alice, "Choir")
    await panel.get_by_label("Start time").fill("19:00")
    await panel.get_by_role("button", name="Save").click()
    await expect(rows.nth(0)).to_contain_text("19:00–20:00")
    await expect(rows.nth(1)).to_contain_text("20:00–21:00")
    panel = await open_event(alice, "Choir")
    await panel.get_by_role("button", name="Versions").click()
    await alice.locator("#history-panel").get_by_role("button", name="Restore").first.click()
    await expect(rows.nth(0)).to_contain_text("20:00–21:00")
    # A copy is a new event.
    panel = await open_event(alice, "Dentist")
    await panel.get_by_role("button", name="Duplicate").click()
    await panel.get_by_label("Title").fill("Dentist again")
    await panel.get_by_role("button", name="Save").click()
    await expect(alice.locator(".agenda-row", has_text="Dentist")).to_have_count(2)
    # The bin asks like an agent does, and the same dialog opens.
    panel = await open_event(alice, "Swimming")
    await panel.get_by_role("button", name="Delete…").click()
    await panel.get_by_role("button", name="This date", exact=True).click()
    dialog = alice.locator("dialog#ask")
    await expect(dialog).to_have_accessible_name("Delete 'Swimming' on Wednesday, 2 December 2026?")
    await expect(dialog.locator("[data-part=requester]")).to_contain_text("alice (in the browser)")
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Delete 'Swimming'").click()
    await expect(alice.locator(".agenda-row", has_text="Swimming")).to_have_count(3)
    assert await stage.stored("swim") == SWIMMING[1:]


async def test_days_are_reached_with_the_keyboard(stage):
    alice = await stage.open("alice")
    await alice.goto(f"{stage.server.origin}/calendar/?view=month&day=2026-12-02")
    await alice.locator('[data-day="2026-12-02"]').press("ArrowRight")
    await expect(alice.locator('[data-day="2026-12-03"]')).to_be_focused()
    await alice.keyboard.press("PageDown")
    await expect(alice.locator('[data-day="2027-01-03"]')).to_be_focused()
    await expect(alice.get_by_role("heading", level=1)).to_have_text("January 2027")
    await alice.keyboard.press("Enter")
    await expect(alice.locator("#ev-from")).to_have_value("2027-01-03")


async def test_an_import_tells_of_every_component(stage):
    alice = await stage.open("alice")
    await alice.goto(stage.server.origin + WEEK)
    await alice.get_by_role("button", name="Import", exact=True).click()
    panel = alice.locator("#import-panel")
    file = {"name": "some.ics", "mimeType": "text/calendar", "buffer": FILE.encode()}
    await panel.locator("#im-file").set_input_files(file)
    await panel.get_by_role("button", name="Import", exact=True).click()
    summary = "1 imported, 0 unchanged, 2 left out, 0 waiting for your tick."
    await expect(panel.locator("[data-summary]")).to_have_text(summary)
    await expect(panel.locator("tbody tr")).to_have_text(IMPORTED)
    await panel.get_by_role("button", name="Close").click()
    await expect(alice.locator(".agenda-row", has_text="Good")).to_have_count(1)
    await alice.get_by_label("Search events").fill("goo")
    await expect(alice.get_by_role("heading", level=1)).to_have_text("Found for “goo”")
    await expect(alice.locator(".agenda-row")).to_have_count(1)


async def test_reminders_are_made_ticked_off_and_deleted_after_a_tick(stage):
    alice = await stage.open("alice", "/reminders/")
    await alice.get_by_label("Add a reminder").fill("Buy milk")
    await alice.keyboard.press("Enter")
    row = alice.locator(".rem", has_text="Buy milk")
    await row.locator(".rem-main").click()
    panel = alice.locator("#reminder-panel")
    await panel.get_by_label("Due").fill("2030-05-04")
    await panel.get_by_label("Priority").select_option("1")
    await panel.get_by_role("button", name="Save").click()
    await expect(row).to_contain_text("due Sat, 4 May 2030")
    await expect(row).to_contain_text("high")
    await row.get_by_role("button", name="Ask to delete").click()
    dialog = alice.locator("dialog#ask")
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Delete 'Buy milk'").click()
    await expect(row).to_have_count(0)
    await expect(dialog).not_to_have_attribute("open", "")
    await alice.get_by_label("Add a reminder").fill("Water the plants")
    await alice.keyboard.press("Enter")
    await alice.get_by_role("checkbox", name="Tick off “Water the plants”").check()
    await expect(alice.get_by_text("Nothing is open. Well done.")).to_be_visible()


async def test_reminders_keep_the_focus_while_others_decide(stage):
    for title in ("Buy milk", "Water the plants"):
        await stage.call("POST", "/api/calendars/reminders", {"title": title})
    alice, bob = await stage.open("alice", "/reminders/"), await stage.open("bob")
    tick = alice.get_by_role("checkbox", name="Tick off “Water the plants”")
    # Whoever stands in a field gets a notice, not the dialog.
    await tick.focus()
    (milk,) = [
        row for row in (await stage.call("GET", "/api/calendars/reminders"))["items"] if row["title"] == "Buy milk"
    ]
    await stage.send("DELETE", f"/api/calendars/reminders/{milk['id']}")
    dialog = bob.locator("dialog#ask")
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Delete 'Buy milk'").click()
    await expect(alice.locator(".rem")).to_have_count(1)
    await expect(tick).to_be_focused()


async def test_a_calendar_keeps_the_focus_when_it_is_drawn_anew(stage):
    alice, bob = await stage.open("alice"), await stage.open("bob")
    await alice.goto(stage.server.origin + WEEK)
    await expect(alice.locator("[data-connection]")).to_have_attribute("data-connection", "open")
    home = alice.get_by_role("checkbox", name="Show “Home”")
    await home.press(" ")
    await expect(alice.locator(".agenda-row")).to_have_count(0)
    await expect(home).to_be_focused()
    await home.press(" ")
    await expect(alice.locator(".agenda-row")).to_have_count(5)
    last = alice.locator(".agenda-row", has_text="Swimming").last.locator(".agenda-main")
    await last.focus()
    await stage.ask(item=await stage.dentist())
    await expect(alice.locator("dialog#ask")).to_have_attribute("open", "")
    await alice.keyboard.press("Escape")
    await expect(last).to_be_focused()
    dialog = bob.locator("dialog#ask")
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Delete 'Dentist'").click()
    await expect(alice.locator(".agenda-row")).to_have_count(4)
    await expect(last).to_be_focused()


async def test_a_token_is_shown_once_and_ended(stage):
    alice = await stage.open("alice", "/tokens/")
    await alice.get_by_label("Label").fill("Script")
    await alice.get_by_role("button", name="Make the token").click()
    secret = await alice.locator("#secret-value").text_content()
    stage.story.secrets["agent"] = secret
    listed = await (await stage.send("GET", "/api/calendars")).answer()
    assert listed["status"] == 200
    await alice.reload()
    await expect(alice.locator("#secret-value")).to_have_count(0)
    token = alice.locator(".token", has_text="Script")
    await expect(token).to_contain_text("last used")
    await token.get_by_text("End", exact=True).click()
    await token.get_by_role("button", name="End this token").click()
    await expect(alice.get_by_text("The token “Script” has ended.")).to_be_visible()
    assert (await (await stage.send("GET", "/api/calendars")).answer())["status"] == 401
    await alice.get_by_role("button", name="Pair a phone").click()
    await expect(alice.get_by_role("img", name="QR code")).to_be_visible()


async def test_signing_out_everywhere_ends_the_other_window(stage):
    alice, second = await stage.open("alice", "/settings/"), await stage.open("alice")
    await alice.get_by_role("button", name="Sign out everywhere").click()
    await expect(alice.get_by_role("heading", level=1)).to_have_text("Sign in to Sayso")
    await expect(second.locator(".notice")).to_contain_text("You are signed out.")


async def test_the_api_is_described_on_a_page_of_its_own(stage):
    alice = await stage.open("alice")
    await alice.goto(stage.server.origin + "/api/docs/")
    await expect(alice.locator("#operations-studio-mobile_calendar_request")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
async def test_every_page_fits_its_window(stage, pictures, scheme, width, locale):
    size = {"width": width, "height": 844 if width == 390 else 900}
    await stage.furnish()
    alice = await stage.open("alice", "/settings/", viewport=size, color_scheme=scheme, locale=locale)
    if locale == "zh-CN":
        await alice.locator("#language").select_option("zh-hans")
        await alice.locator("#set-person + form button").click()
        await expect(alice.locator("html")).to_have_attribute("lang", "zh-hans")
    for path in PAGES:
        await alice.goto(stage.server.origin + path)
        await expect(alice.locator("[aria-busy=true]")).to_have_count(0)
        assert not await alice.evaluate("document.documentElement.scrollWidth > innerWidth"), path
        if pictures and locale == "en-GB":
            name = path.strip("/").partition("&")[0].replace("/?view=", "-").replace("sessions/s1", "session")
            name = CAPTURES.get(path, name)
            await alice.screenshot(path=pictures / f"{name}-{width}-{scheme}.png")
    await alice.goto(stage.server.origin + "/inbox/")
    await expect(alice.locator("[data-connection]")).to_have_attribute("data-connection", "open")
    await stage.ask(item=await stage.swimming())
    dialog = alice.locator("dialog#ask")
    await expect(dialog).to_have_attribute("open", "")
    await expect(dialog).not_to_have_attribute("data-arming", "")
    keep = "Keep it" if locale == "en-GB" else "保留"
    await expect(dialog.get_by_role("button", name=keep)).to_be_focused()
    # A card of usual length is read without scrolling.
    await expect(dialog.get_by_role("checkbox")).to_be_enabled()
    box = await dialog.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= size["width"]
    assert box["y"] + box["height"] <= size["height"]
    if pictures:
        if (width, scheme, locale) == (1440, "light", "en-GB"):
            await dialog.get_by_role("checkbox").check()
            await alice.screenshot(path=pictures.parent / "dialog.png", animations="disabled")
        await alice.screenshot(path=pictures / f"dialog-{width}-{scheme}{'-zh' if locale == 'zh-CN' else ''}.png")
