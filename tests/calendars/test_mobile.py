"""The mobile-calendar door."""

import pytest

from tests.factories.calendars import DAY_MS, NINE_MS


def test_created_listed_and_deleted(world):
    answer = world.mobile("create", item={"title": "Dentist", "start_ms": NINE_MS})
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert body["status"] == "success", body
    item = body["result"]["item"]
    assert item["start"] == "2026-12-01T09:00:00+01:00"
    [listed] = world.events()
    assert listed == item
    asked = world.mobile("delete", item={"id": item["id"], "title": "Dentist", "start_ms": NINE_MS})
    assert asked.status_code == 202, asked.content
    row = world.decide(asked.json()["confirmation_id"])
    assert row.state == "executed", (row.code, row.outcome)
    assert world.events() == []


SERIES = {"title": "Stand-up", "start_ms": NINE_MS + 1_800_000, "end_ms": NINE_MS + 2_700_000}


def series(world, rrule="FREQ=DAILY;COUNT=5"):
    answer = world.post("/api/calendars/events", {**SERIES, "rrule": rrule})
    assert answer.status_code == 201, answer.content
    return answer.json()["item"]


def ask(world, action="delete", **members):
    answer = world.mobile(action, **members)
    assert answer.status_code == 202, answer.content
    return answer.json()["confirmation_id"]


def test_one_of_a_series_goes_alone(world):
    series(world)
    items = world.events()
    assert [item["start"][:16] for item in items] == [f"2026-12-0{day}T09:30" for day in range(1, 6)]
    third = items[2]
    confirmation = ask(world, item={"id": third["id"], "title": "Stand-up", "start_ms": third["start_ms"]})
    assert world.facts(confirmation)["goes"] == 1
    assert world.facts(confirmation)["remain"] == 4
    fourth = ask(world, item={"id": items[3]["id"], "title": "Stand-up", "start_ms": items[3]["start_ms"]})
    assert world.decide(confirmation).state == "executed"
    assert world.decide(fourth).state == "executed"
    assert world.starts() == ["2026-12-01T09:30", "2026-12-02T09:30", "2026-12-05T09:30"]


def test_a_series_goes_with_its_first_start_only(world):
    item = series(world)
    second = world.events()[1]
    wrong = world.mobile("delete", item={"id": item["id"], "title": "Stand-up", "start_ms": second["start_ms"]})
    assert wrong.json()["error"] == {"code": "calendar_item_not_found"}
    confirmation = ask(world, item={"id": second["series_id"], "title": "Stand-up", "start_ms": item["start_ms"]})
    assert world.facts(confirmation)["goes"] == 5
    assert world.card(confirmation).contract == "calendars.delete_series"
    assert world.decide(confirmation).state == "executed"
    assert world.events() == []


@pytest.mark.parametrize(
    "change", [{"id": "nothing"}, {"title": "Dentists"}, {"start_ms": NINE_MS + 1}, {"start_ms": NINE_MS + 0.5}]
)
def test_identity_is_exact(world, change):
    item = world.add()
    answer = world.mobile("delete", item={"id": item["id"], "title": "Dentist", "start_ms": NINE_MS, **change})
    assert answer.status_code == 200
    assert answer.json()["error"] == {"code": "calendar_item_not_found"}
    assert "confirmation_id" not in answer.json()


def test_update_is_a_patch_and_keeps_a_revision(world):
    item = world.add(location="Mill Lane 4", notes="Bring the card")
    answer = world.mobile("update", item={"id": item["id"], "location": "Room 2"}).json()
    assert answer["status"] == "success"
    assert answer["result"]["item"]["location"] == "Room 2"
    assert answer["result"]["item"]["notes"] == "Bring the card"
    revisions = world.call("GET", f"/api/calendars/events/{item['id']}/revisions").json()["revisions"]
    assert [row["number"] for row in revisions] == [1]


def test_clearing_text_asks_with_before_and_after(world):
    item = world.add(location="Mill Lane 4", notes="Bring the card")
    confirmation = ask(world, "update", item={"id": item["id"], "notes": None, "location": "Room 2"})
    facts = world.facts(confirmation)
    assert facts["before"] == {"notes": "Bring the card", "location": "Mill Lane 4"}
    assert facts["after"] == {"notes": None, "location": "Room 2"}
    assert world.decide(confirmation).state == "executed"
    [shown] = world.events()
    assert shown["location"] == "Room 2"
    assert "notes" not in shown


def test_the_twenty_first_write_of_a_minute_asks(world, clock):
    for number in range(20):
        assert world.mobile("create", item={"title": f"e{number}", "start_ms": NINE_MS}).status_code == 200
    assert world.mobile("create", item={"title": "one more", "start_ms": NINE_MS}).status_code == 202
    clock.ms += 60_001
    assert world.mobile("create", item={"title": "later", "start_ms": NINE_MS}).status_code == 200


@pytest.mark.parametrize("rule", ["FREQ=DAILY;COUNT=5", "FREQ=DAILY"])
def test_an_exdate_by_update_is_the_deletion_of_that_occurrence(world, rule):
    item = series(world, rule)
    third = world.events()[2]
    direct = ask(world, item={"id": third["id"], "title": "Stand-up", "start_ms": third["start_ms"]})
    joined = world.call("PATCH", f"/api/calendars/events/{item['id']}", {"exdates": [third["start_ms"]]})
    assert joined.status_code == 202, joined.content
    assert joined.json()["confirmation_id"] == direct


def test_an_exdate_long_after_the_start_of_a_series_asks_too(world):
    text = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:old\r\nDTSTAMP:20150101T000000Z\r\n"
        "DTSTART:20150101T090000Z\r\nSUMMARY:Old\r\nRRULE:FREQ=DAILY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    [item] = world.post(f"/api/calendars/{world.calendar.pk}/import", {"ics": text}).json()["items"]
    before = world.starts()
    path = f"/api/calendars/events/{item['id']}"
    answer = world.call("PATCH", path, {"exdates": [world.events()[1]["start_ms"]]}, Prefer="wait=0")
    assert answer.status_code == 202, answer.content
    assert world.card(answer.json()["confirmation_id"]).contract == "calendars.delete_occurrence"
    assert world.starts() == before


def test_a_shorter_rule_is_this_and_following(world):
    item = series(world, "FREQ=DAILY;UNTIL=20261205T083000Z")
    asked = world.call("PATCH", f"/api/calendars/events/{item['id']}", {"rrule": "FREQ=DAILY;UNTIL=20261202T083000Z"})
    assert asked.status_code == 202, asked.content
    confirmation = asked.json()["confirmation_id"]
    assert world.card(confirmation).contract == "calendars.delete_following"
    facts = world.facts(confirmation)
    assert (facts["goes"], facts["remain"]) == (3, 2)
    assert len(world.events()) == 5
    assert world.decide(confirmation).state == "executed"
    assert world.starts() == ["2026-12-01T09:30", "2026-12-02T09:30"]


def test_a_longer_rule_asks_nobody(world):
    item = series(world)
    answer = world.call("PATCH", f"/api/calendars/events/{item['id']}", {"rrule": "FREQ=DAILY;COUNT=6"})
    assert answer.status_code == 200, answer.content
    assert len(world.events()) == 6


def test_this_and_following_by_rest(world):
    series(world)
    third = world.events()[2]
    asked = world.call("DELETE", f"/api/calendars/events/{third['id']}?scope=following", Prefer="respond-async")
    assert asked.status_code == 202, asked.content
    facts = world.facts(asked.json()["confirmation_id"])
    assert (facts["goes"], facts["remain"], facts["start"]) == (3, 2, "2026-12-03T09:30")
    assert world.decide(asked.json()["confirmation_id"]).state == "executed"
    assert len(world.events()) == 2


def test_moving_to_another_calendar_asks(world):
    item = world.add()
    other = world.post("/api/calendars", {"name": "private"}).json()
    confirmation = ask(world, "update", item={"id": item["id"], "calendar": "private"})
    assert world.card(confirmation).contract == "calendars.move_event"
    assert world.facts(confirmation)["after"]["calendar"] == "private"
    assert world.decide(confirmation).state == "executed"
    [shown] = world.events()
    assert shown["calendar"] == other["name"]


def test_a_change_meanwhile_ends_as_changed(world):
    item = world.add()
    confirmation = ask(world, item={"id": item["id"], "title": "Dentist", "start_ms": NINE_MS})
    assert world.mobile("update", item={"id": item["id"], "title": "Dentist, upper jaw"}).status_code == 200
    assert world.decide(confirmation).state == "changed"
    assert world.titles() == ["Dentist, upper jaw"]


def test_reminders_by_due_time(world):
    dated = world.remind(due_ms=NINE_MS)
    undated = world.remind(title="Sort the tax papers")
    overdue = world.remind(title="Late", due_ms=NINE_MS - 30 * DAY_MS)
    listed = world.events(capability="reminder")
    assert [item["id"] for item in listed] == [overdue["id"], dated["id"], undated["id"]]
    without = world.mobile("delete", capability="reminder", item={"id": dated["id"], "title": "Buy milk"})
    assert without.json()["error"] == {"code": "calendar_item_not_found"}
    confirmation = ask(world, capability="reminder", item={"id": dated["id"], "title": "Buy milk", "due_ms": NINE_MS})
    assert world.facts(confirmation)["start"] == "2026-12-01T09:00"
    assert world.decide(confirmation).state == "executed"
    done = world.mobile("complete", capability="reminder", item={"id": undated["id"]}).json()
    assert done["result"]["item"]["completed"] is True
    assert [item["id"] for item in world.events(capability="reminder")] == [overdue["id"]]
    everything = world.events(capability="reminder", include_completed=True)
    assert [item["id"] for item in everything] == [overdue["id"], undated["id"]]


def test_an_occurrence_can_be_changed_alone(world):
    series(world)
    second = world.events()[1]
    moved = world.mobile("update", item={"id": second["id"], "start_ms": second["start_ms"] + 3_600_000}).json()
    assert moved["status"] == "success", moved
    assert moved["result"]["item"]["start"] == "2026-12-02T10:30:00+01:00"
    assert moved["result"]["item"]["id"] == second["id"]
    assert world.starts()[:3] == ["2026-12-01T09:30", "2026-12-02T10:30", "2026-12-03T09:30"]


def test_idempotent_writes_answer_alike(world):
    answers = [
        world.mobile("create", item={"title": "Once", "start_ms": NINE_MS}, headers={"Idempotency-Key": "k"})
        for _ in range(2)
    ]
    assert answers[0].json() == answers[1].json()
    assert len(world.events()) == 1
    other = world.mobile("create", item={"title": "Twice", "start_ms": NINE_MS}, headers={"Idempotency-Key": "k"})
    assert other.status_code == 422


def test_an_old_event_far_from_the_horizon_is_found(world):
    item = series(world, "FREQ=DAILY")
    far = NINE_MS + 1_800_000 + 1400 * DAY_MS
    [listed] = world.events(start_ms=far - 7_200_000, end_ms=far + 7_200_000)
    assert listed["series_id"] == item["id"]
    confirmation = ask(world, item={"id": listed["id"], "title": "Stand-up", "start_ms": listed["start_ms"]})
    assert world.decide(confirmation).state == "executed"
    assert world.events(start_ms=far - 7_200_000, end_ms=far + 7_200_000) == []
