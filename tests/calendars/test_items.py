"""Events and reminders over REST, revisions, calendars, policies, the horizon."""

import io
import json

import pytest
from django.core.management import call_command

from apps.confirmations.models import Confirmation
from tests.factories.calendars import DAY_MS, NINE_MS, NOW_MS


@pytest.fixture
def page(world):
    """The person's own calls, as the page makes them."""
    from dataclasses import replace

    from apps.accounts import api as accounts_api

    def by_person(self, request):
        return world.owner, None

    before = accounts_api.CallerAuthentication.authenticate
    accounts_api.CallerAuthentication.authenticate = by_person
    yield replace(world)
    accounts_api.CallerAuthentication.authenticate = before


def test_an_event_is_shown_with_all_that_is_needed(world):
    item = world.add(location="Room", notes="n", alarm=15, rrule="FREQ=WEEKLY;COUNT=3")
    shown = world.call("GET", f"/api/calendars/events/{item['id']}").json()["item"]
    assert shown["rrule"] == "FREQ=WEEKLY;COUNT=3"
    assert (shown["occurrences"], shown["reminder_minutes"], shown["weekday"]) == (3, 15, "Tuesday")
    listed = world.call("GET", f"/api/calendars/events?start_ms={NINE_MS}&end_ms={NINE_MS + DAY_MS}").json()
    assert [one["series_id"] for one in listed["items"]] == [item["id"]]
    assert listed["items"][0]["calendar_id"] == world.calendar.pk


def test_all_day_events_have_dates(world):
    answer = world.post(
        "/api/calendars/events",
        {"title": "Trip", "all_day": True, "start_date": "2026-12-24", "last_day": "2026-12-26"},
    )
    item = answer.json()["item"]
    assert (item["start_date"], item["last_day"], item["start"]) == (
        "2026-12-24",
        "2026-12-26",
        "2026-12-24T00:00:00+01:00",
    )
    asked = world.mobile("delete", item={"id": item["id"], "title": "Trip", "start_ms": item["start_ms"]})
    facts = world.facts(asked.json()["confirmation_id"])
    assert (facts["start"], facts["last_day"]) == ("2026-12-24T00:00", "2026-12-26")


def test_untitled_items_can_be_deleted_by_what_is_listed(world):
    item = world.add("x")
    world.mobile("update", item={"id": item["id"], "title": "y" * 600})
    [listed] = world.events()
    assert len(listed["title"]) == 500
    asked = world.mobile("delete", item={"id": item["id"], "title": listed["title"], "start_ms": NINE_MS})
    assert asked.status_code == 202


def test_a_title_of_blanks_is_untitled(world):
    text = "\r\n".join(
        [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "BEGIN:VEVENT",
            "UID:none",
            "DTSTAMP:20261130T080000Z",
            "DTSTART:20261201T080000Z",
            "END:VEVENT",
            "END:VCALENDAR",
            "",
        ]
    )
    world.post(f"/api/calendars/{world.calendar.pk}/import", {"ics": text})
    [listed] = world.events()
    assert (listed["title"], listed["title_missing"]) == ("(untitled)", True)
    asked = world.mobile("delete", item={"id": listed["id"], "title": "(untitled)", "start_ms": NINE_MS})
    assert asked.status_code == 202


def test_a_stated_time_must_be_the_listed_one(world):
    item = world.add()
    for method in ("GET", "PATCH", "DELETE"):
        answer = world.call(method, f"/api/calendars/events/{item['id']}?start_ms={NINE_MS + 1}", {"title": "t"})
        assert (answer.status_code, answer.json()["code"]) == (404, "calendar_item_not_found")


def test_a_person_writes_without_a_card_and_restores(page, policies):
    policies(update="ask", create="ask")
    item = page.add(notes="Bring the card")
    path = f"/api/calendars/events/{item['id']}"
    assert page.call("PATCH", path, {"notes": None}).status_code == 200
    restored = page.post(f"{path}/revisions/1/restore", {})
    assert restored.json()["item"]["notes"] == "Bring the card"
    revisions = page.call("GET", f"{path}/revisions").json()["revisions"]
    assert [row["action"] for row in revisions] == ["restored", "updated"]
    copy = page.post(f"{path}/duplicate", {})
    assert copy.status_code == 201
    assert copy.json()["item"]["id"] != item["id"]


def test_a_persons_delete_is_an_ask(page):
    item = page.add()
    asked = page.call("DELETE", f"/api/calendars/events/{item['id']}", Prefer="respond-async")
    assert asked.status_code == 202
    assert page.decide(asked.json()["confirmation_id"]).state == "executed"


def test_an_agent_restores_nothing(world):
    item = world.add()
    world.mobile("update", item={"id": item["id"], "title": "Other"})
    answer = world.post(f"/api/calendars/events/{item['id']}/revisions/1/restore", {})
    assert answer.status_code == 403


def test_policies_ask(world, policies):
    policies(create="ask", list="ask")
    created = world.mobile("create", item={"title": "Flight", "start_ms": NINE_MS})
    assert created.status_code == 202
    assert world.decide(created.json()["confirmation_id"]).state == "executed"
    listed = world.mobile("list")
    assert listed.status_code == 202
    row = world.decide(listed.json()["confirmation_id"])
    assert [item["title"] for item in json.loads(row.outcome)["items"]] == ["Flight"]


def test_a_policy_that_changes_meanwhile_ends_the_ask(world, policies):
    item = world.add()
    policies(update="ask")
    asked = world.mobile("update", item={"id": item["id"], "location": "Room 2"})
    policies(update="allow")
    assert world.decide(asked.json()["confirmation_id"]).state == "changed"


def test_read_only_calendars_refuse(page):
    item = page.add()
    page.call("PATCH", f"/api/calendars/{page.calendar.pk}", {"read_only": True})
    answer = page.mobile("delete", item={"id": item["id"], "title": "Dentist", "start_ms": NINE_MS})
    assert answer.json()["error"] == {"code": "calendar_permission_denied"}
    assert page.mobile("create", item={"title": "t"}).json()["error"] == {"code": "calendar_permission_denied"}


def test_a_calendar_goes_with_everything_in_it(world):
    other = world.post("/api/calendars", {"name": "private", "colour": "#abc"}).json()
    world.add(calendar="private")
    assert world.post("/api/calendars", {"name": "private"}).status_code == 409
    asked = world.call("DELETE", f"/api/calendars/{other['id']}", Prefer="wait=0")
    facts = world.facts(asked.json()["confirmation_id"])
    assert (facts["events"], facts["reminders"], facts["goes"]) == (1, 0, 1)
    assert world.decide(asked.json()["confirmation_id"]).state == "executed"
    assert [row["name"] for row in world.call("GET", "/api/calendars").json()["calendars"]] == ["work"]


def test_all_day_follows_the_owners_zone(world):
    from apps.accounts.actions import set_policies

    world.post("/api/calendars/events", {"title": "Trip", "all_day": True, "start_date": "2026-12-24"})
    set_policies(by=world.owner, policies={}, time_zone="America/New_York")
    [item] = world.events(start_ms=NOW_MS + 20 * DAY_MS, end_ms=NOW_MS + 30 * DAY_MS)
    assert item["start"] == "2026-12-24T00:00:00-05:00"


def test_the_horizon_moves_on(world, clock):
    from apps.calendars.actions.storing import extend_rows
    from apps.calendars.models import CalendarObject
    from apps.calendars.queries.items import next_extension_ms

    world.add(rrule="FREQ=WEEKLY")
    due = next_extension_ms()
    assert due is not None
    assert extend_rows(now_ms=due - 1) == 0
    assert extend_rows(now_ms=due) == 1
    assert CalendarObject.objects.get().rows_to_ms > due


def test_a_meeting_asks_before_it_is_changed(world):
    text = "\r\n".join(
        [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "BEGIN:VEVENT",
            "UID:meeting",
            "DTSTAMP:20261130T080000Z",
            "DTSTART:20261201T080000Z",
            "SUMMARY:Meeting",
            "ATTENDEE:mailto:ana@example.com",
            "END:VEVENT",
            "END:VCALENDAR",
            "",
        ]
    )
    world.post(f"/api/calendars/{world.calendar.pk}/import", {"ics": text})
    [item] = world.events()
    assert world.mobile("update", item={"id": item["id"], "location": "Room 2"}).status_code == 202


def test_what_the_old_event_loses_is_shown(world):
    item = world.add("Old", start_ms=1_000_000_000_000)
    world.mobile("update", item={"id": item["id"], "title": "Very old"})
    [listed] = world.events(start_ms=1_000_000_000_000 - 1000, end_ms=1_000_000_000_000 + DAY_MS)
    assert "deletable" not in listed


@pytest.mark.django_db(transaction=True)
def test_the_command_imports(world, tmp_path):
    path = tmp_path / "a.ics"
    path.write_text(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20261130T080000Z\r\n"
        "DTSTART:20261201T080000Z\r\nSUMMARY:From a file\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    out = io.StringIO()
    call_command("import_ics", path, calendar="work", dry_run=True, stdout=out)
    assert world.titles() == []
    call_command("import_ics", path, calendar="work", stdout=out)
    assert world.titles() == ["From a file"]
    assert "1 added" in out.getvalue()


def test_words_are_about_the_object(world):
    from zoneinfo import ZoneInfo

    from django.utils import translation

    from apps.core.contracts import contract_named

    item = world.add()
    asked = world.mobile("delete", item={"id": item["id"], "title": "Dentist", "start_ms": NINE_MS})
    facts = world.facts(asked.json()["confirmation_id"])
    with translation.override("en"):
        words = contract_named("calendars.delete_event").words(facts, ZoneInfo("Europe/Berlin"))
    assert words.question == "Delete 'Dentist' on Tuesday, 1 December 2026?"
    assert words.confirm == "Delete 'Dentist' on 1 December"
    assert words.keep == "Keep it"
    assert "09:00–09:30 (Europe/Berlin)" in words.consequence


def test_only_a_person_closes_a_calendar_or_opens_it_again(world):
    path = f"/api/calendars/{world.calendar.pk}"
    assert world.call("PATCH", path, {"read_only": True}).status_code == 403
    assert world.call("PATCH", path, {"read_only": False, "colour": "#123456"}).status_code == 200
    world.calendar.refresh_from_db()
    assert (world.calendar.read_only, world.calendar.colour) == (False, "#123456")


def test_a_version_names_who_made_it(page):
    item = page.add()
    page.call("PATCH", f"/api/calendars/events/{item['id']}", {"location": "Room 2"})
    [version] = page.call("GET", f"/api/calendars/events/{item['id']}/revisions").json()["revisions"]
    assert (version["by"], version["by_label"]) == (f"user:{page.owner.user_id}", "alice")


def test_nobody_is_asked_to_delete_the_default_calendar(world):
    world.post("/api/calendars", {"name": "private"})
    answer = world.call("DELETE", f"/api/calendars/{world.calendar.pk}", Prefer="wait=0")
    assert (answer.status_code, answer.json()["code"]) == (409, "calendar_is_default")
    assert not Confirmation.objects.exists()


def test_nobody_is_asked_to_move_an_item_to_where_its_uid_is(world):
    other = world.post("/api/calendars", {"name": "private"}).json()
    text = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20261130T080000Z\r\n"
        "DTSTART:20261201T080000Z\r\nSUMMARY:Twice\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    for calendar in (world.calendar.pk, other["id"]):
        assert world.post(f"/api/calendars/{calendar}/import", {"ics": text}).status_code == 200
    item = next(each for each in world.events() if each["calendar"] == "work")
    answer = world.call("PATCH", f"/api/calendars/events/{item['id']}", {"calendar": "private"}, Prefer="wait=0")
    assert (answer.status_code, answer.json()["code"]) == (409, "uid_taken")
    assert not Confirmation.objects.exists()


def test_the_timer_of_the_horizon_hears_of_a_new_series(world, django_capture_on_commit_callbacks, monkeypatch):
    from apps.calendars.queries.items import next_extension_ms
    from apps.core import announce

    told = []
    monkeypatch.setattr(announce, "_relay", told.append)
    with django_capture_on_commit_callbacks(execute=True):
        world.add(rrule="FREQ=WEEKLY")
    [due] = [message["deadline"] for message in told if message["event"] == "calendar.horizon"]
    assert due == next_extension_ms()


def test_what_was_made_after_a_tick_is_answered_like_what_is_made_at_once(world, policies):
    policies(create="ask")
    body = {"title": "Flight", "start_ms": NINE_MS}
    headers = {"Prefer": "wait=0", "Idempotency-Key": "k1"}
    asked = world.post("/api/calendars/events", body, **headers)
    assert asked.status_code == 202
    world.decide(asked.json()["confirmation_id"])
    again = world.post("/api/calendars/events", body, **headers)
    assert (again.status_code, again.json()["item"]["title"]) == (201, "Flight")
    assert again.json()["receipt_id"]
