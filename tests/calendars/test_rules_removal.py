"""Taking occurrences out: exactly one, this and following, by an update, by a merge."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.calendars.rules.columns import columns_of
from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.content_lines import unfold
from apps.calendars.rules.edit import patch_master, patch_occurrence, set_exdates, set_rrule
from apps.calendars.rules.ics_parse import parse_calendar
from apps.calendars.rules.ics_write import export_calendar
from apps.calendars.rules.limits import NoSuchOccurrence, NotASeries
from apps.calendars.rules.merge import merge_object
from apps.calendars.rules.occurrences import count_occurrences, expand, find_slot, first_occurrence, last_end_ms
from apps.calendars.rules.placements import read_slot
from apps.calendars.rules.removal import (
    cancelled_slot,
    cut_following,
    removal_effect,
    remove_occurrence,
)
from apps.calendars.rules.removal_by_update import removed_by_update
from apps.calendars.rules.series import read_object

NOW_MS = 1_767_600_000_000
ALWAYS = {"window_start_ms": -(10**15), "window_end_ms": 10**15}


def objects(*components: str, zone: str = "Europe/Berlin", method: str = "") -> list[StoredObject]:
    text = "BEGIN:VCALENDAR\nVERSION:2.0\n" + method + "\n".join(components) + "\nEND:VCALENDAR\n"
    return list(parse_calendar(data=text.encode(), owner_zone=zone).objects)


def series(lines: str, *more: str, kind: str = "VEVENT") -> StoredObject:
    parts = [f"BEGIN:{kind}\nUID:u\nDTSTAMP:20260101T000000Z\n{each}\nSUMMARY:x\nEND:{kind}" for each in (lines, *more)]
    return objects(*parts)[0]


def slots(stored: StoredObject, limit: int = 200) -> list[str]:
    return [o.slot for o in expand(stored=stored, limit=limit, **ALWAYS)]


def text(stored: StoredObject) -> str:
    return unfold(stored.ics)


def removed(stored: StoredObject, slot: str) -> StoredObject:
    after = remove_occurrence(stored=stored, slot=slot, now_ms=NOW_MS)
    assert after is not None
    return after


ZONED = "DTSTART;TZID=Europe/Berlin:20260601T090000\nDTEND;TZID=Europe/Berlin:20260601T100000\n"
DAILY = ZONED + "RRULE:FREQ=DAILY;COUNT=4"
FORMS = [
    (DAILY, "2026-06-02T09:00:00 Europe/Berlin", "EXDATE;TZID=Europe/Berlin:20260602T090000"),
    ("DTSTART:20260601T070000Z\nRRULE:FREQ=DAILY;COUNT=4", "2026-06-02T07:00:00Z", "EXDATE:20260602T070000Z"),
    ("DTSTART:20260601T070000\nRRULE:FREQ=DAILY;COUNT=4", "2026-06-02T07:00:00", "EXDATE:20260602T070000"),
    ("DTSTART;VALUE=DATE:20260601\nRRULE:FREQ=DAILY;COUNT=4", "2026-06-02", "EXDATE;VALUE=DATE:20260602"),
    ("DTSTART:20260601\nRRULE:FREQ=DAILY;COUNT=4", "2026-06-02", "EXDATE;VALUE=DATE:20260602"),
    (DAILY + "\nRDATE;TZID=America/New_York:20260610T090000", "2026-06-10T15:00:00 Europe/Berlin",
     "EXDATE;TZID=Europe/Berlin:20260610T150000"),
    ("DTSTART;TZID=Europe/Berlin:20260328T023000\nRRULE:FREQ=DAILY;COUNT=3", "2026-03-29T02:30:00 Europe/Berlin",
     "EXDATE;TZID=Europe/Berlin:20260329T023000"),
    ("DTSTART;TZID=Europe/Berlin:20261024T023000\nRRULE:FREQ=DAILY;COUNT=3", "2026-10-25T02:30:00 Europe/Berlin",
     "EXDATE;TZID=Europe/Berlin:20261025T023000"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "slot", "exdate"), FORMS)
def test_one_occurrence_goes_in_the_form_of_dtstart(lines: str, slot: str, exdate: str) -> None:
    before = series(lines)
    after = removed(before, slot)
    assert slots(after) == [each for each in slots(before) if each != slot]
    assert exdate in text(after).split("\r\n")
    assert columns_of(stored=after).sequence == 1
    again = parse_calendar(data=export_calendar(objects=[after], name=""), owner_zone="Europe/Berlin")
    assert slots(again.objects[0]) == slots(after)
    with pytest.raises(NoSuchOccurrence):
        remove_occurrence(stored=after, slot=slot, now_ms=NOW_MS)


@pytest.mark.parametrize(
    "slot",
    ["2026-06-02T09:00:01 Europe/Berlin", "2026-06-02", "2026-06-02T09:00:00", "2026-06-05T09:00:00 Europe/Berlin",
     "", "soon", "2026-06-02T09:00:00 Nowhere/Land"],
)  # fmt: skip
def test_a_slot_the_series_does_not_have_is_refused(slot: str) -> None:
    stored = series(DAILY)
    if "Nowhere" in slot:
        # An unknown zone means the owner's, which is the same one here.
        assert find_slot(stored=stored, slot=slot) is not None
        return
    with pytest.raises(NoSuchOccurrence):
        remove_occurrence(stored=stored, slot=slot, now_ms=NOW_MS)


def test_another_spelling_of_the_same_instant_is_the_same_slot() -> None:
    stored = series(DAILY)
    assert removed(stored, "2026-06-02T07:00:00Z") == removed(stored, "2026-06-02T09:00:00 Europe/Berlin")


def test_the_last_one_leaves_an_empty_series() -> None:
    stored = series(ZONED + "RRULE:FREQ=DAILY;COUNT=1")
    slot = slots(stored)[0]
    assert removal_effect(stored=stored, slot=slot).leaves_empty
    after = removed(stored, slot)
    assert (slots(after), count_occurrences(stored=after), columns_of(stored=after).empty) == ([], 0, True)
    assert first_occurrence(stored=after) is None


def test_a_single_event_is_no_series() -> None:
    with pytest.raises(NotASeries):
        remove_occurrence(stored=series(ZONED), slot="2026-06-01T09:00:00 Europe/Berlin", now_ms=NOW_MS)


def test_an_override_without_a_master_goes_alone() -> None:
    override = "RECURRENCE-ID:2026060{0}T070000Z\nDTSTART:2026060{0}T110000Z"
    stored = series(override.format(2), override.format(3))
    after = removed(stored, "2026-06-02T07:00:00Z")
    assert slots(after) == ["2026-06-03T07:00:00Z"]
    assert "EXDATE" not in text(after)
    assert remove_occurrence(stored=after, slot="2026-06-03T07:00:00Z", now_ms=NOW_MS) is None


def test_removing_the_slot_of_a_this_and_future_override_keeps_what_follows_moved() -> None:
    override = "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260602T090000\n"
    override += ZONED.replace("20260601T09", "20260602T11").replace("20260601T10", "20260602T12")
    stored = series(DAILY, override)
    before = expand(stored=stored, **ALWAYS)
    after = expand(stored=removed(stored, before[1].slot), **ALWAYS)
    assert [o.start_ms for o in after] == [o.start_ms for o in (before[0], *before[2:])]


@pytest.mark.parametrize(
    ("rule", "bound"),
    [("RRULE:FREQ=DAILY;COUNT=4", "COUNT=2"), ("RRULE:FREQ=DAILY", "UNTIL=20260603T065959Z"),
     ("RRULE:FREQ=DAILY;UNTIL=20260801T000000Z;BYHOUR=9", "UNTIL=20260603T065959Z")],
)  # fmt: skip
def test_this_and_following_are_cut(rule: str, bound: str) -> None:
    override = "RECURRENCE-ID;TZID=Europe/Berlin:20260604T090000\n" + ZONED.replace("20260601", "20260101")
    stored = series(ZONED + rule, override)
    after = cut_following(stored=stored, slot="2026-06-03T09:00:00 Europe/Berlin", now_ms=NOW_MS)
    assert slots(after) == ["2026-06-01T09:00:00 Europe/Berlin", "2026-06-02T09:00:00 Europe/Berlin"]
    assert bound in text(after)
    assert "RECURRENCE-ID" not in text(after)


@pytest.mark.parametrize("start", ["DTSTART;VALUE=DATE:20260601", "DTSTART:20260601T090000"])
def test_a_cut_keeps_the_form_of_dtstart(start: str) -> None:
    stored = series(start + "\nRRULE:FREQ=DAILY\nRDATE;VALUE=DATE:20270101")
    cut = slots(stored, limit=3)[2]
    after = cut_following(stored=stored, slot=cut, now_ms=NOW_MS)
    assert slots(after) == slots(stored, limit=2)
    assert parse_calendar(data=after.ics.encode(), owner_zone="Europe/Berlin").warnings == ()


def test_a_cut_at_the_first_leaves_an_empty_series() -> None:
    stored = series(DAILY)
    assert slots(cut_following(stored=stored, slot=slots(stored)[0], now_ms=NOW_MS)) == []


def test_an_update_that_takes_slots_away_is_seen() -> None:
    stored = series(ZONED + "RRULE:FREQ=DAILY")
    later = {"now_ms": NOW_MS}
    assert removed_by_update(before=stored, after=set_rrule(stored=stored, rrule="FREQ=DAILY;COUNT=9000", **later))[
        :1
    ] == ["2051-01-21T09:00:00 Europe/Berlin"]
    shorter = set_rrule(stored=series(DAILY), rrule="FREQ=DAILY;UNTIL=20260602T220000Z", **later)
    assert removed_by_update(before=series(DAILY), after=shorter) == [
        "2026-06-03T09:00:00 Europe/Berlin",
        "2026-06-04T09:00:00 Europe/Berlin",
    ]
    excluded = set_exdates(stored=series(DAILY), slots=["2026-06-04T09:00:00 Europe/Berlin"], **later)
    assert removed_by_update(before=series(DAILY), after=excluded) == ["2026-06-04T09:00:00 Europe/Berlin"]


OLD = "DTSTART;TZID=Europe/Berlin:20060601T090000\nDURATION:PT1H\n"
HOURS, SIXTY = ",".join(map(str, range(24))), ",".join(map(str, range(60)))
MINUTES = f"BYMINUTE={SIXTY};BYSECOND={SIXTY}"
DENSE = f"BYHOUR={HOURS};{MINUTES}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Twenty years after its start, past everything that is compared one by one.
        (OLD + "RRULE:FREQ=DAILY", OLD + "RRULE:FREQ=DAILY\nEXDATE;TZID=Europe/Berlin:20260601T090000"),
        (OLD + "RRULE:FREQ=DAILY", OLD + "RRULE:FREQ=DAILY\nEXDATE;VALUE=DATE:20260601"),
        (OLD + "RRULE:FREQ=DAILY\nRDATE:20260601T010000Z", OLD + "RRULE:FREQ=DAILY"),
        (OLD + "RRULE:FREQ=DAILY;COUNT=9000", OLD + "RRULE:FREQ=DAILY;COUNT=8999"),
        (OLD + "RRULE:FREQ=DAILY;UNTIL=20600101T000000Z", OLD + "RRULE:FREQ=DAILY;UNTIL=20350101T000000Z"),
        (OLD + "RRULE:FREQ=DAILY;UNTIL=20600101T000000Z", OLD + "RRULE:FREQ=DAILY;COUNT=9000"),
        (OLD + "RRULE:FREQ=DAILY;BYMONTH=1,6;COUNT=9000", OLD + "RRULE:FREQ=DAILY;BYMONTH=1,6;COUNT=8999"),
        (OLD + "RRULE:FREQ=HOURLY", OLD + "RRULE:FREQ=HOURLY;UNTIL=20900101T000000Z"),
        (OLD + "RRULE:FREQ=HOURLY;COUNT=900000", OLD + "RRULE:FREQ=HOURLY;COUNT=899999"),
        (OLD + "RRULE:FREQ=HOURLY", OLD + "RRULE:FREQ=HOURLY;BYYEARDAY=" + ",".join(map(str, range(1, 366)))),
        (OLD + "RRULE:FREQ=DAILY", OLD + "RRULE:FREQ=DAILY;BYYEARDAY=" + ",".join(map(str, range(1, 366)))),
        (OLD + "RRULE:FREQ=DAILY;BYHOUR=9,15;COUNT=4", "DTSTART;VALUE=DATE:20060601\nRRULE:FREQ=DAILY;COUNT=4"),
        (OLD + f"RRULE:FREQ=DAILY;{DENSE}", OLD + f"RRULE:FREQ=DAILY;INTERVAL=2;{DENSE}"),
        (OLD + f"RRULE:FREQ=HOURLY;{MINUTES}", OLD + f"RRULE:FREQ=HOURLY;INTERVAL=2;{MINUTES}"),
        (OLD + f"RRULE:FREQ=YEARLY;BYMONTH=6;{DENSE}", OLD + f"RRULE:FREQ=YEARLY;BYMONTH=6;INTERVAL=2;{DENSE}"),
    ],
)
def test_what_goes_long_after_the_start_is_seen(before: str, after: str) -> None:
    assert removed_by_update(before=series(before), after=series(after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (OLD + "RRULE:FREQ=DAILY;COUNT=9000", OLD + "RRULE:FREQ=DAILY;COUNT=9001"),
        (OLD + "RRULE:FREQ=DAILY;UNTIL=20600101T000000Z", OLD + "RRULE:FREQ=DAILY"),
        (OLD + "RRULE:FREQ=WEEKLY;BYDAY=TH", OLD + "RRULE:FREQ=WEEKLY;BYDAY=TH,FR"),
        (OLD + "RRULE:FREQ=HOURLY\nEXDATE:20260601T070000Z", OLD + "RRULE:FREQ=HOURLY"),
        (OLD + "RRULE:FREQ=YEARLY", OLD + "RRULE:FREQ=YEARLY\nEXDATE;TZID=Europe/Berlin:20260602T090000"),
        (OLD + "RRULE:FREQ=DAILY", OLD + "RRULE:FREQ=DAILY\nEXDATE;TZID=Europe/Berlin:20260601T093000"),
    ],
)
def test_what_only_grows_loses_nothing(before: str, after: str) -> None:
    assert removed_by_update(before=series(before), after=series(after)) == []


def test_a_moved_series_loses_nothing_and_gets_nothing_back() -> None:
    stored = removed(series(ZONED + "RRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20260629T070000Z"), "2026-06-08T07:00:00Z")
    moved = patch_occurrence(stored=stored, slot="2026-06-15T07:00:00Z", changes={"title": "other"}, now_ms=NOW_MS)
    first = expand(stored=moved, **ALWAYS)[0].start_ms or 0
    after = patch_master(stored=moved, changes={"start_ms": first + 25 * 3_600_000}, now_ms=NOW_MS)
    assert removed_by_update(before=moved, after=after) == []
    assert [slot[5:16] for slot in slots(after)] == ["06-02T10:00", "06-16T10:00", "06-23T10:00", "06-30T10:00"]
    assert [o.title for o in expand(stored=after, **ALWAYS)] == ["x", "other", "x", "x"]


def test_a_merge_takes_the_newer_and_says_what_would_go() -> None:
    stored = series(DAILY + "\nSEQUENCE:2")
    assert merge_object(existing=None, incoming=stored).outcome == "new"
    assert merge_object(existing=stored, incoming=series(DAILY + "\nSEQUENCE:1")).outcome == "keep"
    assert merge_object(existing=stored, incoming=stored).outcome == "keep"
    shorter = merge_object(existing=stored, incoming=series(ZONED + "RRULE:FREQ=DAILY;COUNT=3\nSEQUENCE:3"))
    assert (shorter.outcome, shorter.removed_slots) == ("update", ("2026-06-04T09:00:00 Europe/Berlin",))


def test_an_override_alone_goes_into_the_stored_series() -> None:
    stored = removed(series(DAILY), "2026-06-04T07:00:00Z")
    coming = series("RECURRENCE-ID:20260602T070000Z\nDTSTART:20260602T110000Z")
    merge = merge_object(existing=stored, incoming=coming)
    assert (merge.outcome, merge.has_master, merge.removed_slots) == ("update", True, ())
    found = expand(stored=merge.merged, **ALWAYS)
    assert [o.is_override for o in found] == [False, True, False]
    stale = series("RECURRENCE-ID:20260604T070000Z\nDTSTART:20260604T110000Z")
    again = merge_object(existing=stored, incoming=stale)
    assert (again.outcome, len(again.excluded)) == ("keep", 1)


def test_a_cancelled_slot_is_found_by_its_instant() -> None:
    body = "BEGIN:VEVENT\nUID:u\nRECURRENCE-ID:20260602T070000Z\nEND:VEVENT"
    data = f"BEGIN:VCALENDAR\nMETHOD:CANCEL\n{body}\nEND:VCALENDAR\n".encode()
    cancellation = parse_calendar(data=data, owner_zone="UTC").cancellations[0]
    assert cancelled_slot(stored=series(DAILY), cancellation=cancellation) == "2026-06-02T09:00:00 Europe/Berlin"


def test_bounds_of_a_series_are_known_where_they_can_be() -> None:
    assert last_end_ms(stored=series(DAILY)) == 1_780_560_000_000
    assert columns_of(stored=series(ZONED + "RRULE:FREQ=DAILY")).last_ms is None
    assert count_occurrences(stored=series(ZONED + "RRULE:FREQ=DAILY")) is None
    assert count_occurrences(stored=series(ZONED + "RRULE:FREQ=DAILY;COUNT=1000000000")) is None


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_occurrence_of_any_series_can_go_alone(data: st.DataObject) -> None:
    zone = data.draw(st.sampled_from(("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata")))
    hour, month = data.draw(st.integers(0, 23)), data.draw(st.integers(1, 12))
    freq = data.draw(st.sampled_from(("HOURLY;INTERVAL=5", "DAILY", "WEEKLY;BYDAY=MO,TH", "MONTHLY", "YEARLY")))
    clock = f"2026{month:02}15T{hour:02}3000"
    form = data.draw(st.sampled_from((f";TZID={zone}:{clock}", f":{clock}Z")))
    stored = series(f"DTSTART{form}\nDURATION:PT1H\nRRULE:FREQ={freq};COUNT={data.draw(st.integers(2, 30))}")
    present = slots(stored)
    for _ in range(3):
        if len(present) < 2:
            return
        gone = data.draw(st.sampled_from(present))
        effect = removal_effect(stored=stored, slot=gone)
        assert not effect.leaves_empty
        stored = removed(stored, gone)
        present.remove(gone)
        assert slots(stored) == present
        assert read_slot(series=read_object(stored=stored), text=gone) is None
