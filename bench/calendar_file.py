"""The calendar file that `bench/calendar.py` works on: 10,000 events, a tenth of them series."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from datetime import time as clock

ZONES = ("Europe/Berlin", "America/New_York", "")
FIRST_DAY = date(2026, 1, 5)
WEEK_START = date(2026, 9, 7)
STAMP = "20260101T000000Z"
PLACES = ("Room 4.12", "Library, second floor", "At the station", "Online")
# How a tenth of the events repeat, in parts of 100: about 870 occurrences in a week together.
RULES = (
    *("FREQ=WEEKLY",) * 25,
    *("FREQ=WEEKLY;BYDAY=TU,TH",) * 9,
    *("FREQ=WEEKLY;COUNT=60",) * 14,
    *("FREQ=WEEKLY;INTERVAL=2",) * 8,
    *("FREQ=DAILY;COUNT=400",) * 1,
    *("FREQ=DAILY",) * 1,
    *("FREQ=MONTHLY",) * 12,
    *("FREQ=MONTHLY;BYDAY=2WE",) * 8,
    *("FREQ=YEARLY",) * 22,
)
BERLIN = """BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:DAYLIGHT
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
TZNAME:CEST
DTSTART:19810329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
END:DAYLIGHT
BEGIN:STANDARD
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
TZNAME:CET
DTSTART:19961027T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
END:STANDARD
END:VTIMEZONE"""
NEW_YORK = """BEGIN:VTIMEZONE
TZID:America/New_York
BEGIN:DAYLIGHT
TZOFFSETFROM:-0500
TZOFFSETTO:-0400
TZNAME:EDT
DTSTART:20070311T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU
END:DAYLIGHT
BEGIN:STANDARD
TZOFFSETFROM:-0400
TZOFFSETTO:-0500
TZNAME:EST
DTSTART:20071104T020000
RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU
END:STANDARD
END:VTIMEZONE"""
HEAD = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Sayso//bench//EN", *BERLIN.split("\n"), *NEW_YORK.split("\n")]
FOOT = "END:VCALENDAR"


def begins(rule: str, *, day: date) -> bool:
    """Tell whether a rule of the list above allows a series to begin on a day."""
    if rule.endswith("BYDAY=TU,TH"):
        return day.weekday() in (1, 3)
    return not rule.endswith("BYDAY=2WE") or (day.weekday() == 2 and 8 <= day.day <= 14)


def event_lines(number: int, *, chance: random.Random) -> list[str]:
    """Return one event; every tenth is a series, every twelfth single one lasts whole days."""
    series = number % 10 == 0
    day = FIRST_DAY + timedelta(days=chance.randrange(200 if series else 730))
    lines = ["BEGIN:VEVENT", f"UID:event-{number}@bench.test", f"DTSTAMP:{STAMP}", f"CREATED:{STAMP}"]
    if not series and number % 12 == 5:
        lines += [f"DTSTART;VALUE=DATE:{day:%Y%m%d}", f"DTEND;VALUE=DATE:{day + timedelta(days=1):%Y%m%d}"]
    else:
        rule = RULES[number // 10 % len(RULES)] if series else ""
        while rule and not begins(rule, day=day):
            day += timedelta(days=1)
        start = datetime.combine(day, clock(chance.randrange(6, 20), chance.choice((0, 15, 30, 45))))
        end = start + timedelta(minutes=chance.choice((30, 45, 60, 90)))
        zone = ZONES[number % 7 % 3]
        mark, ending = (f";TZID={zone}", "") if zone else ("", "Z")
        lines += [f"DTSTART{mark}:{start:%Y%m%dT%H%M%S}{ending}", f"DTEND{mark}:{end:%Y%m%dT%H%M%S}{ending}"]
        if series:
            lines.append(f"RRULE:{rule}")
            if number % 40 == 0 and rule.startswith("FREQ=WEEKLY") and "BYDAY" not in rule:
                gone = start + timedelta(weeks=6)
                lines.append(f"EXDATE{mark}:{gone:%Y%m%dT%H%M%S}{ending}")
    lines.append(f"SUMMARY:Event number {number}")
    if number % 3 == 0:
        lines.append(f"LOCATION:{chance.choice(PLACES)}".replace("r,", "r\\,"))
    if number % 4 == 0:
        lines.append("DESCRIPTION:Please bring the figures of last month and what was said about them\\n- Alice")
    if number % 5 == 0:
        lines += ["BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:Reminder", "TRIGGER:-PT15M", "END:VALARM"]
    return [*lines, "STATUS:CONFIRMED", "TRANSP:OPAQUE", "END:VEVENT"]


def events(count: int) -> Iterator[list[str]]:
    """Yield the lines of each event; the same at every call."""
    chance = random.Random(7)
    for number in range(count):
        yield event_lines(number, chance=chance)


def folded(lines: list[str]) -> str:
    """Return lines folded at 75 octets (they are ASCII) and ended with CRLF."""
    found = []
    for line in lines:
        found.append(line[:75])
        found += [f" {line[at : at + 74]}" for at in range(75, len(line), 74)]
    return "\r\n".join(found) + "\r\n"


def whole_file(count: int) -> str:
    """Return the file with all events."""
    return folded(HEAD) + "".join(folded(lines) for lines in events(count)) + folded([FOOT])


def single_file(lines: list[str]) -> str:
    """Return a file with one event, as a CalDAV server takes it."""
    return folded(HEAD) + folded(lines) + folded([FOOT])
