"""Schedules in real browsers: made with the next runs in sight, changed by two at once, deleted after a tick."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import NOW_MS

DIALOG = "dialog#ask"
DAILY = {
    "title": "Water",
    "prompt": "Water the plants.",
    "daily": {"time": "09:00:00", "time_zone": "Europe/Berlin"},
}
SCHEDULES = "/api/sessions/s1/schedules"


@pytest.fixture
async def watered(stage):
    """A session with one daily schedule."""
    record = await stage.call("POST", SCHEDULES, DAILY)
    return stage, f"{SCHEDULES}/{record['id']}"


async def listed(page):
    await expect(page.locator("[data-list]")).to_have_attribute("aria-busy", "false")
    return page.locator("[data-schedule]")


async def test_a_schedule_is_made_with_the_next_runs_in_sight(stage):
    alice = await stage.open("alice", "/schedules/")
    rows = await listed(alice)
    await expect(alice.get_by_text("No schedule yet")).to_be_visible()
    await alice.get_by_role("button", name="New schedule").click()
    form = alice.locator("#schedule-form")
    runs, note = form.locator("[data-preview] > li"), form.locator("[data-preview-note]")
    await form.get_by_label("Title").fill("Night check")
    await form.get_by_label("Reminder").fill("Is the heating off?")
    await form.get_by_label("When").select_option("cron")
    await form.get_by_label("Cron rule").fill("0 25 * * *")
    await expect(note).to_contain_text("hour")
    await form.get_by_label("Cron rule").fill("00 9 * * 5-7")
    await expect(note).to_have_text("Kept as 0 9 * * 0,5-6")
    await expect(runs.first).to_have_text("Fri, 4 Dec 2026, 09:00 UTC+01:00")
    await form.get_by_label("When").select_option("daily")
    await form.locator("#sc-time").fill("02:30")
    await form.get_by_label("Time zone").fill("Mars/Base")
    await expect(note).to_contain_text("time zone")
    await form.get_by_label("Time zone").fill("Europe/Berlin")
    await expect(runs.first).to_have_text("Tue, 1 Dec 2026, 02:30 UTC+01:00")
    # What the next changes of the clock do to it is said before it is saved.
    await expect(form.locator(".sch-note", has_text="02:30 is left out: the clock jumps over it.")).to_be_visible()
    await expect(form.locator(".sch-note", has_text="02:30 comes twice that day")).to_be_visible()
    await form.get_by_role("button", name="Save").click()
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("every day at 02:30")
    await expect(rows).to_contain_text("Tue, 1 Dec 2026, 02:30")
    (stored,) = (await stage.call("GET", SCHEDULES))["schedules"]
    assert (stored["time"], stored["timeZone"], stored["prompt"]) == (
        "02:30:00.000",
        "Europe/Berlin",
        "Is the heating off?",
    )


async def test_a_schedule_is_paused_run_and_passed_over(watered):
    stage, path = watered
    alice = await stage.open("alice", "/schedules/")
    rows = await listed(alice)
    await rows.get_by_role("button").press("Enter")
    panel = alice.locator("#schedule-panel")
    await panel.get_by_role("button", name="Pause").press("Enter")
    await expect(panel.locator(".sch-tags")).to_have_text("paused")
    await expect(rows).to_contain_text("paused")
    await panel.get_by_role("button", name="Resume").press("Enter")
    await expect(panel.locator(".sch-tags")).to_have_text("")
    await panel.get_by_role("button", name="Run now").click()
    deliveries = panel.locator(".sch-delivery")
    await expect(deliveries.first).to_contain_text("by hand")
    await stage.server.advance(1000)
    await panel.get_by_role("button", name="Skip the next run").click()
    await expect(deliveries.first).to_contain_text("Left out by somebody")
    await expect(panel.locator("[data-facts]")).to_contain_text("Wed, 2 Dec 2026, 09:00")
    # What fires by itself is there by itself.
    await stage.server.advance(3 * 86_400_000)
    await expect(deliveries.first).to_contain_text("for Thu, 3 Dec 2026, 09:00")
    await expect(panel.locator("[data-facts]")).to_contain_text("Fri, 4 Dec 2026, 09:00")
    sent = alice.locator(".notice", has_text="Reminder sent to the session “s1”")
    await expect(sent).to_have_count(1)
    await expect(sent).to_contain_text("Water")
    found = await stage.call("GET", f"{path}/deliveries?limit=10")
    assert [record["origin"] for record in found["records"]] == ["scheduled", "scheduled", "manual"]


async def test_an_edit_that_somebody_overtook_is_shown_and_not_lost(watered):
    stage, path = watered
    alice = await stage.open("alice", "/schedules/")
    await (await listed(alice)).get_by_role("button").click()
    await alice.locator("#schedule-panel").get_by_role("button", name="Change").click()
    form = alice.locator("#schedule-form")
    await form.get_by_label("Reminder").fill("Water the plants, not the cat.")
    record = (await stage.call("GET", path))["record"]
    await stage.call("PATCH", path, {"expected": record, "title": "Water twice"})
    await form.get_by_role("button", name="Save", exact=True).click()
    conflict = form.locator("[data-conflict]")
    await expect(conflict).to_contain_text("It was changed meanwhile. Nothing of yours is saved yet.")
    await expect(conflict.get_by_role("listitem")).to_have_text(
        [
            "Title: now “Water twice”, yours “Water”",
            "Reminder: now “Water the plants.”, yours “Water the plants, not the cat.”",
        ]
    )
    assert (await stage.call("GET", path))["record"]["prompt"] == "Water the plants."
    await conflict.get_by_role("button", name="Save mine over it").click()
    await expect(form).not_to_have_attribute("open", "")
    record = (await stage.call("GET", path))["record"]
    assert (record["title"], record["prompt"]) == ("Water", "Water the plants, not the cat.")


async def test_what_others_change_takes_no_focus(watered):
    stage, path = watered
    alice = await stage.open("alice", "/schedules/")
    rows = await listed(alice)
    water = rows.filter(has_text="Water")
    await water.get_by_role("button").focus()
    await stage.call("POST", SCHEDULES, {"title": "Feed", "prompt": "Feed the cat.", "after_seconds": 60})
    await expect(rows).to_have_count(2)
    await expect(water.get_by_role("button")).to_be_focused()
    record = (await stage.call("GET", path))["record"]
    await stage.call("PATCH", path, {"expected": record, "title": "Water twice"})
    await expect(water).to_contain_text("Water twice")
    await expect(water.get_by_role("button")).to_be_focused()
    # The same within an open one.
    await alice.keyboard.press("Enter")
    facts = alice.locator("#schedule-panel [data-facts]")
    await facts.get_by_role("link", name="s1").focus()
    await stage.call("PATCH", path, {"expected": {**record, "title": "Water twice"}, "prompt": "Not the cat."})
    await expect(facts).to_contain_text("Not the cat.")
    await expect(facts.get_by_role("link", name="s1")).to_be_focused()


async def test_a_schedule_is_deleted_after_a_tick(watered):
    stage, path = watered
    alice = await stage.open("alice", "/schedules/")
    rows = await listed(alice)
    await rows.get_by_role("button").click()
    await alice.locator("#schedule-panel").get_by_role("button", name="Delete…").click()
    dialog = alice.locator(DIALOG)
    await expect(dialog).to_have_accessible_name("Delete the schedule 'Water'?")
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Delete the schedule 'Water'").click()
    await expect(rows).to_have_count(0)
    await expect(alice.get_by_text("No schedule yet")).to_be_visible()
    assert (await (await stage.send("GET", path)).answer())["status"] == 404
    assert await stage.ends() == ["executed"]


async def test_what_is_due_is_told_on_whatever_page_is_open(stage):
    start_ms = NOW_MS + 1_200_000
    event = {"title": "Choir", "start_ms": start_ms, "end_ms": start_ms + 3_600_000, "reminder_minutes": 10}
    await stage.call("POST", "/api/calendars/events", event)
    await stage.call("POST", "/api/calendars/reminders", {"title": "Buy milk", "due_ms": start_ms})
    alice = await stage.open("alice", "/sessions/")
    await stage.server.advance(600_000)
    rung = alice.locator(".notice", has_text="Choir")
    await expect(rung).to_contain_text("Alarm of an event, 09:10")
    await expect(rung.get_by_role("link", name="Look")).to_have_attribute("href", "/calendar/")
    await expect(alice.locator(".notice", has_text="Buy milk")).to_have_count(0)
    await stage.server.advance(600_000)
    await expect(alice.locator(".notice", has_text="Buy milk")).to_contain_text("Reminder, due 09:20")
