"""What is due rings on the pages that are open, wherever they are, and once."""

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
