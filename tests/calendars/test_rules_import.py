"""Reading files: every import code, the limits, and what must never happen to the text."""

from datetime import UTC, datetime

import pytest

from apps.calendars.rules.components import Occurrence, ParsedCalendar
from apps.calendars.rules.content_lines import decode, fold, split_line, unfold
from apps.calendars.rules.ics_parse import parse_calendar
from apps.calendars.rules.ics_write import export_calendar
from apps.calendars.rules.occurrences import expand

BERLIN = "Europe/Berlin"
NEW_YORK_ZONE = """BEGIN:VTIMEZONE
TZID:{tzid}
BEGIN:DAYLIGHT
DTSTART:20070311T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU
TZOFFSETFROM:-0500
TZOFFSETTO:-0400
END:DAYLIGHT
BEGIN:STANDARD
DTSTART:20071104T020000
RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU
TZOFFSETFROM:-0400
TZOFFSETTO:-0500
END:STANDARD
END:VTIMEZONE
"""


def event(lines: str, *, uid: str = "a@sayso.test", kind: str = "VEVENT") -> str:
    head = f"UID:{uid}\n" if uid else ""
    return f"BEGIN:{kind}\n{head}DTSTAMP:20260105T080000Z\n{lines.strip()}\nEND:{kind}\n"


def calendar(*parts: str) -> bytes:
    text = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\n" + "".join(parts) + "END:VCALENDAR\n"
    return text.replace("\n", "\r\n").encode()


def parsed(*parts: str, owner_zone: str = BERLIN) -> ParsedCalendar:
    return parse_calendar(data=calendar(*parts), owner_zone=owner_zone)


def instant(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def shown(result: ParsedCalendar, start: str = "2026-01-01", end: str = "2027-01-01") -> list[Occurrence]:
    window = (instant(f"{start}T00:00:00Z"), instant(f"{end}T00:00:00Z"))
    found = [o for s in result.objects for o in expand(stored=s, window_start_ms=window[0], window_end_ms=window[1])]
    return sorted(found, key=lambda o: o.start_ms or o.end_ms or 0)


def starts(result: ParsedCalendar, start: str = "2026-01-01", end: str = "2027-01-01") -> list[str]:
    return [
        o.start_date or datetime.fromtimestamp((o.start_ms or 0) / 1000, tz=UTC).strftime("%m-%dT%H:%MZ")
        for o in shown(result, start, end)
    ]


def codes(result: ParsedCalendar) -> list[str]:
    return sorted({note.code for note in result.warnings})


DAILY = "DTSTART;TZID=Europe/Berlin:20260601T090000\nDTEND;TZID=Europe/Berlin:20260601T100000\nRRULE:FREQ=DAILY;COUNT=3"
ALLDAY = "DTSTART;VALUE=DATE:20260601\nRRULE:FREQ=DAILY;COUNT=3"
J1, J2, J3 = "06-01T07:00Z", "06-02T07:00Z", "06-03T07:00Z"

# Lines of one event, its codes, its starts in 2026.
ONE_EVENT = [
    (DAILY, [], [J1, J2, J3]),
    (f"{DAILY}\nEXDATE;VALUE=DATE:20260602", ["exdate_type_mismatch"], [J1, J3]),
    (f"{DAILY}\nEXDATE;TZID=Europe/Berlin:20260602T080000", ["exdate_no_match"], [J1, J2, J3]),
    (f"{DAILY}\nEXDATE:20260602T070000Z", [], [J1, J3]),
    (f"{ALLDAY}\nEXDATE:20260601T223000Z", ["exdate_type_mismatch"], ["2026-06-01", "2026-06-03"]),
    (f"{ALLDAY}\nEXDATE;TZID=America/New_York:20260602T230000", ["exdate_type_mismatch"],
     ["2026-06-01", "2026-06-03"]),
    (f"{ALLDAY}\nEXDATE:20260602", ["date_without_value_param"], ["2026-06-01", "2026-06-03"]),
    (f"{ALLDAY}\nEXDATE;VALUE=DATE:20260601,20260602,20260603", ["series_empty"], []),
    ("DTSTART;TZID=Europe/Berlin:20260601T090000\nRRULE:FREQ=DAILY;UNTIL=20260602", ["until_type_mismatch"], [J1, J2]),
    ("DTSTART;VALUE=DATE:20260601\nRRULE:FREQ=DAILY;UNTIL=20260601T230000Z", ["until_type_mismatch"],
     ["2026-06-01", "2026-06-02"]),
    ("DTSTART:20260602T070000Z\nRRULE:FREQ=WEEKLY;BYDAY=WE;COUNT=2", ["dtstart_not_in_rrule"], [J2, J3]),
    ("DTSTART:20260602T070000Z\nRRULE:FREQ=DAILY;UNTIL=20260101T000000Z", ["dtstart_not_in_rrule"], [J2]),
    ("DTSTART;VALUE=DATE:20260601T120000", ["value_type_mismatch"], ["2026-06-01"]),
    ("DTSTART:20260601T070000Z\nDTEND;VALUE=DATE:20260602", ["value_type_mismatch"], [J1]),
    ("DTSTART:20260601T070000Z\nDTEND:20260601T060000Z", ["end_not_after_start"], [J1]),
    ("DTSTART:20260601T070000Z\nDURATION:P", ["duration_invalid"], [J1]),
    ("DTSTART:20260601T070000Z\nDURATION:-PT1H", ["duration_negative"], [J1]),
    ("DTSTART:20260601T070000Z\nGEO:north", ["property_dropped"], [J1]),
    ("DTSTART:20260601T070000Z\nDTEND:later", ["property_dropped"], [J1]),
    ("DTSTART:20260601T070000Z\nthis is no line", ["property_dropped"], [J1]),
    ("DTSTART:20260601T070000Z\nRRULE:FREQ=SOMETIMES", ["property_dropped"], [J1]),
    (f"DTSTART:20260601T070000Z\nATTACH;VALUE=BINARY;ENCODING=BASE64:{'QUJD' * 30_000}", ["property_dropped"], [J1]),
    ("DTSTART;TZID=Nowhere/Land:20260601T090000", ["tz_unknown"], [J1]),
    ("DTSTART;TZID=W. Europe Standard Time:20260601T090000", ["tz_windows_name"], [J1]),
    ("DTSTART;TZID=/example.org/20260101/America/Argentina/Buenos_Aires:20260601T040000", [], [J1]),
    ("DTSTART;TZID=\"Europe/Berlin\":20260601T090000", [], [J1]),
    ("DTSTART:20260601T090000", [], [J1]),
    (f"{DAILY}\nBEGIN:VALARM\nACTION:DISPLAY\nTRIGGER;VALUE=DATE-TIME:20260601T060000Z\nEND:VALARM",
     ["alarm_absolute_on_series"], [J1, J2, J3]),
    (f"{DAILY}\nRDATE;TZID=Europe/Berlin:20260610T090000", [], [J1, J2, J3, "06-10T07:00Z"]),
    (f"{DAILY}\nRDATE;VALUE=PERIOD:20260610T070000Z/PT3H", [], [J1, J2, J3, "06-10T07:00Z"]),
    # A time that does not exist takes the offset before the gap; one that occurs twice is its first pass.
    ("DTSTART;TZID=Europe/Berlin:20260328T023000\nRRULE:FREQ=DAILY;COUNT=3", [],
     ["03-28T01:30Z", "03-29T01:30Z", "03-30T00:30Z"]),
    ("DTSTART;TZID=Europe/Berlin:20261024T023000\nRRULE:FREQ=DAILY;COUNT=3", [],
     ["10-24T00:30Z", "10-25T00:30Z", "10-26T01:30Z"]),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "expected_codes", "expected_starts"), ONE_EVENT)
def test_one_event_is_read_with_its_codes(lines: str, expected_codes: list[str], expected_starts: list[str]) -> None:
    result = parsed(event(lines))
    assert result.skipped == ()
    assert codes(result) == expected_codes
    assert starts(result) == expected_starts
    again = parse_calendar(data=export_calendar(objects=result.objects, name="x"), owner_zone=BERLIN)
    assert starts(again) == expected_starts


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("DTSTART:yesterday", "bad_dtstart"),
        ("DTSTART:20260230T100000", "bad_dtstart"),
        ("SUMMARY:no start", "no_dtstart"),
        ("DTSTART:20260601T070000Z\nRRULE:FREQ=SECONDLY;COUNT=2", "rrule_too_frequent"),
        ("DTSTART:20260601T070000Z\nRRULE:INTERVAL=2;FREQ=minutely", "rrule_too_frequent"),
        (f"DTSTART:20260601T070000Z\nRRULE:FREQ=DAILY;BYHOUR={'1,' * 400}1;BYSECOND={'1,' * 400}1", "rrule_too_dense"),
    ],
)  # fmt: skip
def test_a_component_that_cannot_stand_is_skipped_alone(lines: str, code: str) -> None:
    result = parsed(event(lines + "\nSUMMARY:bad"), event("DTSTART:20260601T070000Z", uid="good"))
    assert [(note.code, note.uid) for note in result.skipped] == [(code, "a@sayso.test")]
    assert [stored.uid for stored in result.objects] == ["good"]


def test_the_report_names_the_line_in_the_file_as_it_came() -> None:
    data = b"BEGIN:VCALENDAR\nX-LONG:a\n b\n c\n\nBEGIN:VEVENT\nUID:u\nDTSTART:x\nEND:VEVENT\nEND:VCALENDAR\n"
    note = parse_calendar(data=data, owner_zone=BERLIN).skipped[0]
    assert data.split(b"\n")[note.line - 1] == b"DTSTART:x"


@pytest.mark.parametrize("data", [b"", b"<html>", b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:x\r\nEND:VEVENT\r\n"])
def test_a_file_that_ends_early_is_refused(data: bytes) -> None:
    assert parse_calendar(data=data, owner_zone=BERLIN).error == "truncated"


def test_a_character_split_by_a_fold_is_put_together() -> None:
    data = calendar(event("DTSTART:20260601T070000Z\nSUMMARY:Gr@en")).replace(b"@", b"\xc3\r\n \xbc")
    result = parse_calendar(data=data, owner_zone=BERLIN)
    assert codes(result) == []
    assert shown(result)[0].title == "Grüen"


def test_octets_that_are_no_utf8_are_windows_1252() -> None:
    data = calendar(event("DTSTART:20260601T070000Z\nSUMMARY:Gr@n ~")).replace(b"@", b"\xfc").replace(b"~", b"\x81\x80")
    result = parse_calendar(data=data, owner_zone=BERLIN)
    assert codes(result) == ["encoding_not_utf8"]
    assert shown(result)[0].title == "Grün  €"


def test_a_bare_cr_ends_no_line() -> None:
    data = calendar(event("DTSTART:20260601T070000Z\nSUMMARY:one@BEGIN:VALARM")).replace(b"@", b"\r")
    result = parse_calendar(data=data, owner_zone=BERLIN)
    assert shown(result)[0].title == "one\nBEGIN:VALARM"
    assert shown(result)[0].alarms == 0


def test_other_line_separators_of_unicode_end_no_line() -> None:
    result = parsed(event("DTSTART:20260601T070000Z\nSUMMARY:a\u2028b\x0bc\x85d"))
    assert shown(result)[0].title == "a\u2028b\x0bc\x85d"


def test_two_of_the_same_are_decided_by_sequence_then_dtstamp() -> None:
    low = event("DTSTART:20260601T070000Z\nSEQUENCE:1\nSUMMARY:low")
    high = event("DTSTART:20260601T070000Z\nSEQUENCE:2\nSUMMARY:high")
    for parts in ((low, high), (high, low)):
        result = parsed(*parts)
        assert [o.title for o in shown(result)] == ["high"]
        assert codes(result) == ["uid_duplicate"]


def test_an_override_without_a_master_is_one_occurrence() -> None:
    lines = "RECURRENCE-ID;TZID=Europe/Berlin:20260602T090000\nDTSTART;TZID=Europe/Berlin:20260604T110000"
    result = parsed(event(lines))
    assert codes(result) == ["override_without_master"]
    assert [(o.slot, o.is_override) for o in shown(result)] == [("2026-06-02T09:00:00 Europe/Berlin", True)]
    assert b"RECURRENCE-ID;TZID=Europe/Berlin:20260602T090000" in export_calendar(objects=result.objects, name="")


def test_an_override_whose_recurrence_id_cannot_be_read_never_replaces_the_series() -> None:
    result = parsed(event(DAILY), event("RECURRENCE-ID:soon\nDTSTART:20260701T070000Z\nSEQUENCE:9"))
    assert starts(result) == [J1, J2, J3]
    assert codes(result) == ["property_dropped", "uid_duplicate"]


def test_a_made_up_uid_is_the_same_at_every_import() -> None:
    first = parsed(event("DTSTART:20260601T070000Z\nSUMMARY:x", uid=""))
    later = event("DTSTART:20260601T070000Z\nSUMMARY:x", uid="").replace("20260105T080000Z", "20270105T080000Z")
    assert [s.uid for s in first.objects] == [s.uid for s in parsed(later).objects]
    assert codes(first) == ["uid_missing"]


def test_this_and_future_moves_the_later_slots_with_it() -> None:
    override = "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260602T090000\n"
    times = "DTSTART;TZID=Europe/Berlin:20260602T110000\nDTEND;TZID=Europe/Berlin:20260602T113000\nSUMMARY:late"
    found = shown(parsed(event(DAILY), event(override + times)))
    assert [(o.slot[:13], o.title, (o.end_ms or 0) - (o.start_ms or 0)) for o in found] == [
        ("2026-06-01T09", "", 3_600_000),
        ("2026-06-02T09", "late", 1_800_000),
        ("2026-06-03T09", "late", 1_800_000),
    ]
    assert [o.start_ms for o in found[1:]] == [instant(f"2026-06-0{day}T11:00:00+02:00") for day in (2, 3)]


@pytest.mark.parametrize(
    ("tzid", "shift", "expected"),
    [("America/New_York", False, []), ("America/New_York", True, ["tz_redefined"]), ("Mine", True, []),
     ("W. Europe Standard Time", False, [])],
)  # fmt: skip
def test_the_zone_of_the_file_wins(tzid: str, shift: bool, expected: list[str]) -> None:
    zone = NEW_YORK_ZONE.format(tzid=tzid)
    if shift:
        zone = zone.replace("-0400", "-0300").replace("-0500", "-0400")
    result = parsed(zone, event(f"DTSTART;TZID={tzid}:20260601T090000"))
    assert codes(result) == expected
    assert starts(result) == ["06-01T12:00Z" if shift else "06-01T13:00Z"]
    again = parse_calendar(data=export_calendar(objects=result.objects, name=""), owner_zone=BERLIN)
    assert starts(again) == starts(result)


def test_half_a_zone_is_told_only_where_it_makes_a_difference() -> None:
    block = "BEGIN:VTIMEZONE\nTZID:{0}\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:{1}\nTZOFFSETTO:{1}\n"
    block += "END:STANDARD\nEND:VTIMEZONE\n"
    for tzid, offset, expected, start in (
        ("Asia/Kolkata", "+0530", [], "06-01T03:30Z"),
        ("Europe/Berlin", "+0100", ["tz_partial_definition"], "06-01T07:00Z"),
        ("Mine", "+0100", [], "06-01T08:00Z"),
    ):
        result = parsed(block.format(tzid, offset), event(f"DTSTART;TZID={tzid}:20260601T090000"))
        assert (codes(result), starts(result)) == (expected, [start])


def test_two_files_with_one_zone_name_do_not_share_it() -> None:
    zone = NEW_YORK_ZONE.format(tzid="Mine")
    other = zone.replace("-0400", "+0900").replace("-0500", "+0900")
    one = parsed(zone, event("DTSTART;TZID=Mine:20260601T090000"))
    two = parsed(other, event("DTSTART;TZID=Mine:20260601T090000", uid="b"))
    assert (starts(one), starts(two)) == (["06-01T13:00Z"], ["06-01T00:00Z"])
    both = export_calendar(objects=[*one.objects, *two.objects], name="")
    assert both.count(b"BEGIN:VTIMEZONE") == 2
    assert starts(parse_calendar(data=both, owner_zone=BERLIN)) == ["06-01T00:00Z", "06-01T13:00Z"]


def test_a_to_do_is_read_by_its_due() -> None:
    result = parsed(event("DTSTART:20260520T100000Z\nDUE:20260519T100000Z", kind="VTODO"))
    assert codes(result) == ["due_before_start"]
    assert [(o.start_ms, o.end_ms) for o in shown(result)] == [(None, instant("2026-05-19T10:00:00Z"))]


def test_a_cancel_file_changes_nothing_and_names_what_it_means() -> None:
    result = parsed("METHOD:CANCEL\n", event("RECURRENCE-ID:20260602T070000Z\nSTATUS:CANCELLED\nSUMMARY:x"))
    assert result.objects == ()
    assert [(c.uid, c.slot) for c in result.cancellations] == [("a@sayso.test", "2026-06-02T07:00:00Z")]


def test_unknown_properties_survive_in_their_place() -> None:
    lines = 'DTSTART:20260601T070000Z\nX-APPLE-TRAVEL;A=b;C="d:e":1\\,2\nSUMMARY;LANGUAGE=de:Über\nCOLOR:red'
    result = parsed(event(lines))
    text = unfold(export_calendar(objects=result.objects, name="").decode())
    assert lines.replace("\n", "\r\n") in text


HOSTILE = {
    "ten megabytes of one line": b"BEGIN:VCALENDAR\r\nX-A:" + b"a" * 10_000_000 + b"\r\nEND:VCALENDAR\r\n",
    "nesting": b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + b"BEGIN:Y\r\n" * 19_000 + b"END:VCALENDAR\r\n",
    "many components": b"BEGIN:VCALENDAR\r\n" + b"BEGIN:VEVENT\r\nEND:VEVENT\r\n" * 30_000 + b"END:VCALENDAR\r\n",
    "quotes": calendar(event("DTSTART;X=" + '"' * 999_999 + ":1")),
    "backslashes": calendar(event("DTSTART:20260601T070000Z\nCATEGORIES:" + "\\" * 1_000_000 + ",\nSUMMARY:x")),
    "exdates": calendar(
        event("DTSTART:19700101T000000Z\nRRULE:FREQ=HOURLY;BYDAY=MO;COUNT=999999999\nEXDATE:" + ",".join(
            ["99981231T000000Z"] * 50_000))),
    "rdates": calendar(event("DTSTART:20260601T070000Z\nRDATE:" + ",".join(f"2026{m:02}{d:02}T{h:02}{i:02}00Z"
        for m in range(1, 13) for d in range(1, 28) for h in range(24) for i in range(0, 60, 10)))),
    "zone of every day": calendar(
        NEW_YORK_ZONE.format(tzid="Bad").replace("FREQ=YEARLY;BYMONTH=3;BYDAY=2SU", "FREQ=DAILY")
        .replace("20070311", "00010101"), event("DTSTART;TZID=Bad:20260601T090000")),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_done_in_time(name: str) -> None:
    # The suite's own timeout ends what hangs; how long it takes is measured in bench/.
    shown(parse_calendar(data=HOSTILE[name], owner_zone=BERLIN))


def test_barren_rules_do_not_hold_a_file_up() -> None:
    rule = "DTSTART:20260228T120000Z\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30\nEXDATE:20260228T120000Z"
    parsed(*(event(rule, uid=f"{number}") for number in range(1_000)))


@pytest.mark.parametrize("raw", ["SUMMARY:" + "ä" * 200, "SUMMARY:" + "😀" * 50, "X:" + "a" * 300, "SHORT:1"])
def test_folding_keeps_characters_whole(raw: str) -> None:
    folded = fold(raw)
    assert max(len(line.encode()) for line in folded.split("\r\n")) <= 75
    assert decode(data=folded.encode()) == (raw, True)


def test_a_colon_in_a_quoted_parameter_ends_no_name() -> None:
    line = split_line('ATTENDEE;CN="a:b;c":mailto:x@y')
    assert (line.name, line.params, line.value) == ("ATTENDEE", 'CN="a:b;c"', "mailto:x@y")
