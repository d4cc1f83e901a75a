"""Importing and exporting files."""

from apps.calendars.models import Occurrence
from apps.core import threads
from tests.factories.calendars import DAY_MS, NINE_MS


def ics(*components, method=""):
    head = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//tests//EN", *([f"METHOD:{method}"] if method else [])]
    return "\r\n".join([*head, *(line for each in components for line in each), "END:VCALENDAR", ""])


def event(uid, *lines, start="20261201T090000", end="20261201T093000", title="Dentist", sequence=0):
    return [
        "BEGIN:VEVENT",
        f"UID:{uid}",
        "DTSTAMP:20261130T080000Z",
        f"SEQUENCE:{sequence}",
        f"DTSTART;TZID=Europe/Berlin:{start}",
        f"DTEND;TZID=Europe/Berlin:{end}",
        f"SUMMARY:{title}",
        *lines,
        "END:VEVENT",
    ]


def imported(world, text, **members):
    answer = world.post(f"/api/calendars/{world.calendar.pk}/import", {"ics": text, **members})
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_file_comes_in_and_again_changes_nothing(world):
    text = ics(event("dentist"), event("lunch", title="Lunch"))
    report = imported(world, text)
    assert (report["added"], report["confirmations"]) == (2, [])
    again = imported(world, text)
    assert (again["added"], again["unchanged"]) == (0, 2)
    assert sorted(world.titles()) == ["Dentist", "Lunch"]


def test_a_newer_one_updates(world):
    imported(world, ics(event("dentist")))
    report = imported(world, ics(event("dentist", title="Dentist, upper jaw", sequence=1)))
    assert report["updated"] == 1
    assert world.titles() == ["Dentist, upper jaw"]


def test_a_turn_of_the_lane_that_ends_at_once_leaves_nothing_out(world, monkeypatch):
    monkeypatch.setattr(threads, "TURN_S", 0)
    names = ("a", "b", "c", "d")
    imported(world, ics(*(event(name, title=name) for name in names)))
    report = imported(world, ics(*(event(name, title=f"{name}2", sequence=1) for name in names)))
    assert [entry["uid"] for entry in report["items"]] == list(names)
    assert report["updated"] == 4
    report = imported(world, ics(event("e", title="e")), replace=True)
    assert sorted(each["title"] for each in report["confirmations"]) == ["a2", "b2", "c2", "d2"]


def test_a_change_keeps_the_rows_of_occurrences_that_stay_as_they_are(world):
    rule = "RRULE:FREQ=DAILY;COUNT=5"
    imported(world, ics(event("standup", rule, title="Stand-up")))
    before = set(Occurrence.objects.values_list("pk", flat=True))
    imported(world, ics(event("standup", rule, title="Meeting", sequence=1)))
    assert set(Occurrence.objects.values_list("pk", flat=True)) == before
    later = event(
        "standup",
        "RECURRENCE-ID;TZID=Europe/Berlin:20261203T090000",
        title="Later",
        start="20261203T100000",
        end="20261203T103000",
        sequence=1,
    )
    imported(world, ics(later))
    assert len(before - set(Occurrence.objects.values_list("pk", flat=True))) == 1
    assert sorted(each["title"] for each in world.events()) == ["Later", *["Meeting"] * 4]


def test_replacing_asks_for_each_that_the_file_lacks(world):
    imported(world, ics(event("dentist"), event("lunch", title="Lunch")))
    report = imported(world, ics(event("lunch", title="Lunch", sequence=1)), replace=True)
    [asked] = report["confirmations"]
    assert asked["title"] == "Dentist"
    assert len(world.events()) == 2
    assert world.card(asked["confirmation_id"]).contract == "calendars.delete_event"
    assert world.decide(asked["confirmation_id"]).state == "executed"
    assert world.titles() == ["Lunch"]


def test_a_file_that_shortens_a_series_asks(world):
    imported(world, ics(event("standup", "RRULE:FREQ=DAILY;COUNT=5", title="Stand-up")))
    shorter = ics(event("standup", "RRULE:FREQ=DAILY;COUNT=2", title="Stand-up", sequence=1))
    [asked] = imported(world, shorter)["confirmations"]
    assert len(world.events()) == 5
    facts = world.facts(asked["confirmation_id"])
    assert (facts["goes"], facts["remain"]) == (3, 2)
    assert world.decide(asked["confirmation_id"]).state == "executed"
    assert len(world.events()) == 2


def test_a_cancelled_occurrence_asks_for_that_one_alone(world):
    imported(world, ics(event("standup", "RRULE:FREQ=DAILY;COUNT=5", title="Stand-up")))
    gone = [
        "BEGIN:VEVENT",
        "UID:standup",
        "DTSTAMP:20261130T090000Z",
        "RECURRENCE-ID;TZID=Europe/Berlin:20261203T090000",
        "END:VEVENT",
    ]
    report = imported(world, ics(gone, method="CANCEL"))
    [asked] = report["confirmations"]
    assert report["items"][0]["code"] == "cancel_pending_approval"
    assert world.card(asked["confirmation_id"]).contract == "calendars.delete_occurrence"
    assert world.decide(asked["confirmation_id"]).state == "executed"
    assert len(world.events()) == 4


def test_a_cancelled_item_asks_for_the_whole(world):
    imported(world, ics(event("dentist")))
    gone = ["BEGIN:VEVENT", "UID:dentist", "DTSTAMP:20261130T090000Z", "END:VEVENT"]
    [asked] = imported(world, ics(gone, method="CANCEL"))["confirmations"]
    assert world.decide(asked["confirmation_id"]).state == "executed"
    assert world.events() == []


def test_a_truncated_file_is_refused_as_a_whole(world):
    text = ics(event("dentist")).replace("END:VCALENDAR\r\n", "")
    answer = world.post(f"/api/calendars/{world.calendar.pk}/import", {"ics": text})
    assert (answer.status_code, answer.json()["code"]) == (400, "truncated")
    assert world.events() == []


def test_bad_components_are_named_and_the_others_come_in(world):
    report = imported(
        world,
        ics(
            event("bomb", "RRULE:FREQ=SECONDLY"), event("good"), ["BEGIN:VEVENT", "UID:none", "SUMMARY:x", "END:VEVENT"]
        ),
    )
    assert report["added"] == 1
    assert {note["code"] for note in report["skipped"]} == {"rrule_too_frequent", "no_dtstart"}


def test_a_raw_body_and_an_upload_are_taken(world):
    text = ics(event("dentist"))
    path = f"/api/calendars/{world.calendar.pk}/import"
    answer = world.post(path, text, content_type="text/calendar")
    assert answer.json()["added"] == 1
    from django.core.files.uploadedfile import SimpleUploadedFile

    upload = SimpleUploadedFile("a.ics", ics(event("two", title="Two")).encode())
    headers = {"Authorization": f"Bearer {world.secret}"}
    answer = world.client.post(path, data={"file": upload}, headers=headers)
    assert answer.json()["added"] == 1, answer.content


def test_export_gives_back_what_came_in(world):
    imported(world, ics(event("dentist", "X-UNKNOWN:kept")))
    answer = world.call("GET", f"/api/calendars/{world.calendar.pk}/export.ics")
    assert answer["Content-Type"] == "text/calendar; charset=utf-8"
    assert b"X-UNKNOWN:kept\r\n" in answer.content
    assert b"BEGIN:VTIMEZONE\r\n" in answer.content


def test_an_import_repeats_by_its_key(world):
    path = f"/api/calendars/{world.calendar.pk}/import"
    body = {"ics": ics(event("dentist"))}
    first, second = (world.call("POST", path, body, **{"Idempotency-Key": "k"}).json() for _ in range(2))
    assert first == second
    assert first["added"] == 1


def test_events_of_a_file_can_be_deleted(world):
    imported(world, ics(event("dentist")))
    [item] = world.events()
    asked = world.mobile("delete", item={"id": item["id"], "title": "Dentist", "start_ms": NINE_MS})
    assert asked.status_code == 202


def test_an_occurrence_without_its_series_goes_wholly(world):
    lines = event("orphan", "RECURRENCE-ID;TZID=Europe/Berlin:20261201T090000", title="Left over")
    report = imported(world, ics(lines))
    assert [note["code"] for note in report["warnings"]] == ["override_without_master"]
    [item] = world.events()
    asked = world.mobile("delete", item={"id": item["id"], "title": "Left over", "start_ms": item["start_ms"]})
    assert world.facts(asked.json()["confirmation_id"])["leaves_nothing"] is True
    assert world.decide(asked.json()["confirmation_id"]).state == "executed"
    assert world.events() == []


def test_the_last_occurrence_leaves_an_empty_series(world):
    imported(world, ics(event("standup", "RRULE:FREQ=DAILY;COUNT=1", title="Stand-up")))
    [item] = world.events()
    asked = world.mobile("delete", item={"id": item["id"], "title": "Stand-up", "start_ms": item["start_ms"]})
    assert world.facts(asked.json()["confirmation_id"])["remain"] == 0
    assert world.decide(asked.json()["confirmation_id"]).state == "executed"
    assert world.events() == []
    shown = world.call("GET", f"/api/calendars/events/{item['series_id']}").json()["item"]
    assert shown["occurrences"] == 0


def test_an_empty_series_can_be_deleted(world):
    imported(world, ics(event("standup", "RRULE:FREQ=DAILY;COUNT=1", "EXDATE;TZID=Europe/Berlin:20261201T090000")))
    assert world.events() == []
    from apps.calendars.models import CalendarObject

    stored = CalendarObject.objects.get()
    asked = world.call("DELETE", f"/api/calendars/events/{stored.pk}", Prefer="wait=0")
    assert asked.status_code == 202, asked.content
    assert world.decide(asked.json()["confirmation_id"]).state == "executed"
    assert not CalendarObject.objects.exists()


def todo(uid, *lines):
    return ["BEGIN:VTODO", f"UID:{uid}", "DTSTAMP:20261130T080000Z", f"SUMMARY:{uid}", *lines, "END:VTODO"]


def reminders_between(world, start_ms, end_ms):
    return [item["title"] for item in world.events(capability="reminder", start_ms=start_ms, end_ms=end_ms)]


def test_a_reminder_is_in_each_window_between_its_start_and_the_end_of_its_day(world):
    days = todo("report", "DTSTART;VALUE=DATE:20261201", "DUE;VALUE=DATE:20261205")
    imported(world, ics(days, todo("bins", "DUE;VALUE=DATE:20261201")))
    # From nine o'clock on 1 December.
    assert reminders_between(world, NINE_MS, NINE_MS + 3_600_000) == ["bins", "report"]
    assert reminders_between(world, NINE_MS + 2 * DAY_MS, NINE_MS + 3 * DAY_MS) == ["report"]
    assert reminders_between(world, NINE_MS + 5 * DAY_MS, NINE_MS + 6 * DAY_MS) == []


def test_a_cancellation_that_may_not_be_asked_for_says_why(world):
    imported(world, ics(event("dentist")))
    cancelled = ics(event("dentist", sequence=1), method="CANCEL")
    [asked] = imported(world, cancelled)["confirmations"]
    world.decide(asked["confirmation_id"], "deny")
    [entry] = imported(world, cancelled)["items"]
    assert (entry["outcome"], entry["code"]) == ("refused", "denied_recently")
