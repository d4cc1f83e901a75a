"""What agents add stands on open pages without a reload, and what is due rings there, once."""

from playwright.async_api import expect

from tests.browser.conftest import NOW_MS

REQUEST = "/api/studio/mobile-calendar/request"
MINUTE_MS = 60_000


async def created(stage, capability, **item):
    body = {"session_id": "s1", "capability": capability, "action": "create", "purpose": "Asked for", "item": item}
    answer = await stage.call("POST", REQUEST, body)
    assert answer["ok"], answer


async def test_a_reminder_and_the_alarm_of_an_event_ring_on_open_pages(stage):
    alice = await stage.open("alice", "/schedules/")
    notices = alice.locator(".notice")
    await created(stage, "reminder", title="Buy <b>milk</b>", due_ms=NOW_MS + 10 * MINUTE_MS)
    start_ms = NOW_MS + 60 * MINUTE_MS
    await created(stage, "calendar", title="Choir", start_ms=start_ms, end_ms=start_ms + MINUTE_MS, reminder_minutes=40)
    await stage.server.advance(9 * MINUTE_MS)
    await expect(notices).to_have_count(0)
    await stage.server.advance(MINUTE_MS)
    milk = notices.filter(has_text="Buy <b>milk</b>")
    await expect(milk).to_contain_text("Reminder, due")
    await expect(milk.get_by_role("link", name="Look")).to_have_attribute("href", "/reminders/")
    await stage.server.advance(10 * MINUTE_MS)
    choir = notices.filter(has_text="Choir")
    await expect(choir).to_contain_text("Alarm of an event")
    await expect(choir.get_by_role("link", name="Look")).to_have_attribute("href", "/calendar/")
    # Neither rings again, on a page that is opened later either.
    other = await stage.open("alice", "/calendar/")
    await stage.server.advance(MINUTE_MS)
    await expect(other.locator(".notice")).to_have_count(0)


async def test_what_an_agent_adds_appears_and_leaves_the_view_where_it_was(stage):
    week = await stage.open("alice", "/calendar/?view=week")
    await expect(week.locator("[data-cal-view]")).to_have_attribute("aria-busy", "false")
    hours = week.locator(".hours-scroll")
    await hours.evaluate("node => { node.scrollTop = 7 }")
    reminders = await week.context.new_page()
    await reminders.goto(f"{week.url.split('/calendar/')[0]}/reminders/")
    await expect(reminders.locator("[data-connection]")).to_have_attribute("data-connection", "open")
    start_ms = NOW_MS + 60 * MINUTE_MS
    await created(stage, "calendar", title="Choir", start_ms=start_ms, end_ms=start_ms + 60 * MINUTE_MS)
    await expect(week.locator(".block", has_text="Choir")).to_have_count(1)
    assert await hours.evaluate("node => node.scrollTop") == 7
    await created(stage, "reminder", title="Buy milk", due_ms=start_ms)
    await expect(reminders.get_by_text("Buy milk")).to_be_visible()
