"""Making and changing objects, and what hangs on their occurrences: alarms, busy time, columns."""

from datetime import datetime

import pytest

from apps.calendars.rules.alarms import alarms_between
from apps.calendars.rules.columns import columns_of
from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.content_lines import unfold
from apps.calendars.rules.edit import complete_todo, new_event, new_todo, patch_master, patch_occurrence, set_exdates
from apps.calendars.rules.freebusy import busy
from apps.calendars.rules.ics_parse import parse_calendar
from apps.calendars.rules.limits import InvalidRecurrence, InvalidTime, NoSuchOccurrence, NotASeries
from apps.calendars.rules.occurrences import expand

BERLIN = "Europe/Berlin"
NOW_MS = 1_767_600_000_000
HOUR_MS = 3_600_000
ALWAYS = {"window_start_ms": 0, "window_end_ms": 10**13}


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def parsed(lines: str, kind: str = "VEVENT") -> StoredObject:
    data = f"BEGIN:VCALENDAR\nBEGIN:{kind}\nUID:u\n{lines}\nEND:{kind}\nEND:VCALENDAR\n".encode()
    return parse_calendar(data=data, owner_zone=BERLIN).objects[0]


def lines_of(stored: StoredObject) -> list[str]:
    return unfold(stored.ics).split("\r\n")


def made(**changes: object) -> StoredObject:
    fields: dict[str, object] = {
        "uid": "u", "title": "Tea; with\nmilk", "start_ms": at("2026-06-01T09:00:00+02:00"),
        "end_ms": at("2026-06-01T10:00:00+02:00"), "all_day": False, "zone": BERLIN, "owner_zone": BERLIN,
        "now_ms": NOW_MS,
    }  # fmt: skip
    return new_event(**{**fields, **changes})  # type: ignore[arg-type]


def test_a_new_event_is_read_as_it_was_made() -> None:
    stored = made(rrule="FREQ=DAILY;COUNT=2", location="Kitchen", notes="a,b", alarm_minutes=10)
    found = expand(stored=stored, **ALWAYS)
    assert [(o.title, o.location, o.notes, o.alarm_minutes, o.zone) for o in found] == [
        ("Tea; with\nmilk", "Kitchen", "a,b", 10, BERLIN)
    ] * 2
    assert "DTSTART;TZID=Europe/Berlin:20260601T090000" in lines_of(stored)
    assert parse_calendar(data=stored.ics.encode(), owner_zone=BERLIN).warnings == ()


@pytest.mark.parametrize(
    ("zone", "all_day", "line"),
    [("UTC", False, "DTSTART:20260601T070000Z"), ("", False, "DTSTART:20260601T090000"),
     ("America/New_York", False, "DTSTART;TZID=America/New_York:20260601T030000"),
     ("America/New_York", True, "DTSTART;VALUE=DATE:20260601")],
)  # fmt: skip
def test_the_start_is_written_in_the_wanted_form(zone: str, all_day: bool, line: str) -> None:
    stored = made(zone=zone, all_day=all_day)
    assert line in lines_of(stored)
    start = at("2026-06-01T00:00:00+02:00") if all_day else at("2026-06-01T09:00:00+02:00")
    assert [o.start_ms for o in expand(stored=stored, **ALWAYS)] == [start]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidTime):
        made(zone="Mars/Olympus")
    with pytest.raises(InvalidTime):
        made(end_ms=0)
    with pytest.raises(InvalidRecurrence):
        made(rrule="FREQ=OFTEN")
    with pytest.raises(ValueError, match="no such field: colour"):
        patch_master(stored=made(), changes={"colour": 1}, now_ms=NOW_MS)


def test_a_patch_changes_only_what_it_names() -> None:
    stored = parsed("X-A:1\nDTSTART:20260601T070000Z\nDTEND:20260601T080000Z\nDESCRIPTION:n\nX-B:2\nSEQUENCE:4")
    after = patch_master(stored=stored, changes={"title": "new", "notes": None}, now_ms=NOW_MS)
    lines = lines_of(after)
    assert [line for line in lines if line.startswith("X-")] == ["X-A:1", "X-B:2"]
    assert {"DTSTART:20260601T070000Z", "DTEND:20260601T080000Z", "SUMMARY:new", "SEQUENCE:5"} <= set(lines)
    assert "DESCRIPTION" not in after.ics


@pytest.mark.parametrize("end", ["DTEND;TZID=Europe/Berlin:20260601T103000", "DURATION:PT90M"])
def test_a_moved_start_keeps_the_length(end: str) -> None:
    stored = parsed(f"DTSTART;TZID=Europe/Berlin:20260601T090000\n{end}")
    start = at("2026-07-01T12:00:00+02:00")
    found = expand(stored=patch_master(stored=stored, changes={"start_ms": start}, now_ms=NOW_MS), **ALWAYS)
    assert [(o.start_ms, o.end_ms) for o in found] == [(start, start + HOUR_MS * 3 // 2)]


def test_all_day_moves_by_days_and_can_become_timed() -> None:
    stored = parsed("DTSTART;VALUE=DATE:20261024\nDTEND;VALUE=DATE:20261026")
    moved = patch_master(stored=stored, changes={"start_ms": at("2026-11-01T00:00:00+01:00")}, now_ms=NOW_MS)
    assert [(o.start_date, o.end_date) for o in expand(stored=moved, **ALWAYS)] == [("2026-11-01", "2026-11-03")]
    start = at("2026-11-01T08:00:00+01:00")
    changes = {"all_day": False, "start_ms": start, "end_ms": start + HOUR_MS}
    timed = patch_master(stored=stored, changes=changes, now_ms=NOW_MS)
    assert [(o.start_ms, o.end_ms, o.all_day) for o in expand(stored=timed, **ALWAYS)] == [
        (start, start + HOUR_MS, False)
    ]
    with pytest.raises(InvalidTime):
        patch_master(stored=stored, changes={"all_day": False}, now_ms=NOW_MS)


def test_one_changed_occurrence_is_an_override_of_its_slot() -> None:
    stored = made(rrule="FREQ=DAILY;COUNT=3", alarm_minutes=5)
    slot = "2026-06-02T09:00:00 Europe/Berlin"
    start = at("2026-06-02T15:00:00+02:00")
    after = patch_occurrence(stored=stored, slot=slot, changes={"start_ms": start, "title": "later"}, now_ms=NOW_MS)
    again = patch_occurrence(stored=after, slot=slot, changes={"alarm_minutes": None}, now_ms=NOW_MS)
    found = expand(stored=again, **ALWAYS)
    assert [(o.slot, o.title, o.is_override, o.alarm_minutes) for o in found] == [
        ("2026-06-01T09:00:00 Europe/Berlin", "Tea; with\nmilk", False, 5),
        (slot, "later", True, None),
        ("2026-06-03T09:00:00 Europe/Berlin", "Tea; with\nmilk", False, 5),
    ]
    assert (found[1].start_ms, found[1].end_ms) == (start, start + HOUR_MS)
    with pytest.raises(NoSuchOccurrence):
        patch_occurrence(stored=stored, slot="2026-06-09T07:00:00Z", changes={}, now_ms=NOW_MS)
    with pytest.raises(NotASeries):
        patch_occurrence(stored=made(), slot="2026-06-01T07:00:00Z", changes={}, now_ms=NOW_MS)


def test_a_to_do_is_completed_and_opened_again() -> None:
    stored = new_todo(uid="t", title="Call", owner_zone=BERLIN, now_ms=NOW_MS, due_ms=at("2026-06-01T09:00:00Z"),
                      zone="UTC", priority=3, alarm_minutes=0)  # fmt: skip
    done = complete_todo(stored=stored, completed=True, now_ms=NOW_MS)
    columns = columns_of(stored=done)
    assert (columns.completed, columns.completed_ms, columns.status, columns.due_ms) == (
        True, NOW_MS, "COMPLETED", at("2026-06-01T09:00:00Z"),
    )  # fmt: skip
    opened = columns_of(stored=complete_todo(stored=done, completed=False, now_ms=NOW_MS))
    assert (opened.completed, opened.completed_ms, opened.status, opened.priority) == (False, None, "NEEDS-ACTION", 3)
    cleared = columns_of(stored=patch_master(stored=stored, changes={"due_ms": None}, now_ms=NOW_MS))
    assert (cleared.due_ms, cleared.first_ms) == (None, None)
    moved = patch_master(stored=stored, changes={"due_ms": at("2026-06-03T09:00:00Z")}, now_ms=NOW_MS)
    assert "DUE:20260603T090000Z" in lines_of(moved)


def test_one_of_a_repeating_to_do_is_completed_alone() -> None:
    stored = parsed("DTSTART:20260601T070000Z\nDUE:20260601T080000Z\nRRULE:FREQ=DAILY;COUNT=3", "VTODO")
    after = complete_todo(stored=stored, completed=True, now_ms=NOW_MS, slot="2026-06-02T07:00:00Z")
    assert [o.completed for o in expand(stored=after, **ALWAYS)] == [False, True, False]


def test_a_due_without_a_start_repeats_by_its_due() -> None:
    stored = parsed("DUE;TZID=Europe/Berlin:20260601T070000\nRRULE:FREQ=WEEKLY;COUNT=2", "VTODO")
    found = expand(stored=stored, **ALWAYS)
    assert [(o.start_ms, o.end_ms) for o in found] == [
        (None, at("2026-06-01T05:00:00Z")), (None, at("2026-06-08T05:00:00Z")),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "fires"),
    [
        ("TRIGGER:-PT15M", ["2026-03-28T11:45:00+01:00", "2026-03-29T11:45:00+02:00"]),
        ("TRIGGER:-P1D", ["2026-03-27T12:00:00+01:00", "2026-03-28T12:00:00+01:00"]),
        ("TRIGGER:-PT24H", ["2026-03-27T12:00:00+01:00", "2026-03-28T11:00:00+01:00"]),
        ("TRIGGER;RELATED=END:PT0S", ["2026-03-28T13:00:00+01:00", "2026-03-29T13:00:00+02:00"]),
        ("TRIGGER;VALUE=DATE-TIME:20260101T000000Z", ["2026-01-01T00:00:00+00:00"]),
        ("TRIGGER:PT0S\nREPEAT:1\nDURATION:PT5M",
         ["2026-03-28T12:00:00+01:00", "2026-03-28T12:05:00+01:00", "2026-03-29T12:00:00+02:00",
          "2026-03-29T12:05:00+02:00"]),
    ],
)  # fmt: skip
def test_alarms_fire_when_they_should(lines: str, fires: list[str]) -> None:
    stored = parsed(
        "DTSTART;TZID=Europe/Berlin:20260328T120000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2\n"
        f"BEGIN:VALARM\nACTION:DISPLAY\n{lines}\nEND:VALARM"
    )
    assert [alarm.at_ms for alarm in alarms_between(stored=stored, **ALWAYS)] == [at(each) for each in fires]
    last = at(fires[-1])
    only = alarms_between(stored=stored, window_start_ms=last, window_end_ms=last + 1)
    assert [alarm.at_ms for alarm in only] == [last]
    cancelled = patch_master(stored=stored, changes={"status": "CANCELLED"}, now_ms=NOW_MS)
    assert alarms_between(stored=cancelled, **ALWAYS) == []


def test_busy_time_is_merged_and_cut_to_the_window() -> None:
    objects = [
        parsed("DTSTART:20260601T080000Z\nDTEND:20260601T100000Z"),
        parsed("DTSTART:20260601T100000Z\nDTEND:20260601T120000Z"),
        parsed("DTSTART:20260601T110000Z\nDTEND:20260601T130000Z\nSTATUS:TENTATIVE"),
        parsed("DTSTART:20260601T150000Z"),
        parsed("DTSTART:20260601T160000Z\nDTEND:20260601T170000Z\nTRANSP:TRANSPARENT"),
    ]
    window = {"window_start_ms": at("2026-06-01T09:00:00Z"), "window_end_ms": at("2026-06-01T20:00:00Z")}
    assert [tuple(period) for period in busy(objects=objects, **window)] == [
        (at("2026-06-01T09:00:00Z"), at("2026-06-01T12:00:00Z"), "BUSY"),
        (at("2026-06-01T11:00:00Z"), at("2026-06-01T13:00:00Z"), "BUSY-TENTATIVE"),
    ]


def test_excluded_slots_are_written_in_one_line() -> None:
    stored = made(rrule="FREQ=DAILY;COUNT=3")
    slots = ["2026-06-01T07:00:00Z", "2026-06-03T07:00:00Z"]
    after = set_exdates(stored=stored, slots=slots, now_ms=NOW_MS)
    assert "EXDATE;TZID=Europe/Berlin:20260601T090000,20260603T090000" in lines_of(after)
    assert len(expand(stored=after, **ALWAYS)) == 1


def test_the_limit_counts_inside_the_window() -> None:
    stored = parsed("DTSTART:19900101T070000Z\nRRULE:FREQ=DAILY")
    found = expand(stored=stored, window_start_ms=at("2026-06-01T00:00:00Z"), window_end_ms=10**14, limit=2)
    assert [o.slot for o in found] == ["2026-06-01T07:00:00Z", "2026-06-02T07:00:00Z"]
