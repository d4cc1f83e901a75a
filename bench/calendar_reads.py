"""A process of `bench/calendar.py`: reads a week through the queries with a change between any two reads.

`calendar_reads.py first PROFILE` times the first read after the start, `values PROFILE` the first `.values()` read,
`rounds PROFILE CALENDAR TOKEN COUNT` the whole comparison; each prints one line of JSON.
"""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

sys.path.append(sys.path.pop(0))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

import django

django.setup()

from calendar_peers import BEGIN, END, Row, fresh_query, peer_rows, week_of  # noqa: E402
from django.db.models import Q  # noqa: E402
from icalendar import Calendar as Parsed  # noqa: E402

from apps.accounts.queries import caller_of_token  # noqa: E402
from apps.calendars.actions.performing import perform  # noqa: E402
from apps.calendars.models import CalendarObject, Occurrence  # noqa: E402
from apps.calendars.queries.calendars import texts_of  # noqa: E402
from apps.calendars.queries.listing import window_items  # noqa: E402
from apps.calendars.queries.values import Shown  # noqa: E402
from apps.calendars.rules.components import StoredObject  # noqa: E402
from apps.calendars.rules.ics_write import export_calendar  # noqa: E402
from apps.calendars.rules.targets import LONG_MS  # noqa: E402
from apps.core.contracts import contract_named  # noqa: E402
from apps.core.values import now_ms  # noqa: E402

START_MS, END_MS = int(BEGIN.timestamp() * 1000), int(END.timestamp() * 1000)
SAME_ROW = ("slot", "slot_hash", "start_ms", "end_ms", "all_day", "start_date", "end_date", "words")
SAME_OBJECT = (
    *("id", "kind", "recurring", "title", "location", "notes", "zone", "alarm_minutes", "attendees", "status"),
    *("priority", "completed", "completed_ms", "calendar_id", "rrule"),
)


def read(profile: str) -> list[Shown]:
    """Read the week as the pages and the agents do."""
    return window_items(profile_id=profile, kind="VEVENT", start_ms=START_MS, end_ms=END_MS)


def read_values(profile: str) -> list[dict[str, Any]]:
    """Read the same rows and columns through Django's ORM."""
    short = Q(long=False, at_ms__gt=START_MS - LONG_MS - 1, at_ms__lt=END_MS)
    touching = Q(until_ms__gt=START_MS) | Q(at_ms__gte=START_MS)
    rows = Occurrence.objects.filter(short & touching | Q(long=True, at_ms__lt=END_MS, until_ms__gt=START_MS))
    names = [*SAME_ROW, *(f"object__{name}" for name in SAME_OBJECT)]
    return list(rows.filter(profile_id=profile, kind="VEVENT").values(*names))


def timed(call: Any, *arguments: Any) -> tuple[float, Any]:
    """Return seconds and what a call returns."""
    begin = time.perf_counter()
    found = call(*arguments)
    return time.perf_counter() - begin, found


class Mirror:
    """The exported calendar as `icalendar` parses it; a changed object is exported and parsed again."""

    def __init__(self, *, calendar_id: str) -> None:
        self.calendar_id = calendar_id
        self.whole = self.exported(None)
        self.zones = [each for each in self.whole.subcomponents if each.name == "VTIMEZONE"]
        self.events: dict[str, list[Any]] = {}
        for each in self.whole.walk("VEVENT"):
            self.events.setdefault(str(each["UID"]), []).append(each)
        self.settle()

    def exported(self, uid: str | None) -> Any:
        """Parse the export of everything, or of one object."""
        texts = texts_of(calendar_id=self.calendar_id)
        objects = [StoredObject(**text) for text in texts if uid is None or text["uid"] == uid]
        return Parsed.from_ical(export_calendar(objects=objects, name="bench"))

    def renew(self, uid: str) -> None:
        """Take an object's new export in."""
        self.events[uid] = list(self.exported(uid).walk("VEVENT"))
        self.whole.subcomponents = [*self.zones, *(each for parts in self.events.values() for each in parts)]
        self.settle()

    def settle(self) -> None:
        """Keep all this from being searched for garbage while something else is timed."""
        gc.collect()
        gc.freeze()


def own_rows(found: list[Shown], uids: dict[str, str]) -> list[Row]:
    """Return an answer in the form of `peer_rows`."""
    rows = []
    for shown in found:
        assert shown.start_ms is not None
        assert shown.end_ms is not None
        rows.append((uids[shown.object_id], shown.start_ms, shown.end_ms, shown.title, shown.all_day))
    return sorted(rows)


def change(by: Any, week: list[Shown], objects: list[tuple[str, bool]], number: int, chance: random.Random) -> str:
    """Change one random event through the room's actions; returns the object's id."""
    step = 300_000 * chance.randrange(1, 12)
    if number % 3 == 0:
        shown = chance.choice([each for each in week if not each.all_day])
        assert shown.start_ms is not None
        assert shown.end_ms is not None
        change = {"title": f"Moved {number}", "start_ms": shown.start_ms + step, "end_ms": shown.end_ms + step}
        arguments = {"id": shown.id, "near_ms": shown.start_ms, "change": change}
        target = shown.object_id
    else:
        target, _ = chance.choice(objects)
        arguments = {"id": target, "change": {"title": f"Renamed {number}", "location": f"Room {step}"}}
    perform(by=by, contract=contract_named("calendars.update_event"), arguments=arguments, now_ms=now_ms())
    return target


def rounds(profile: str, calendar_id: str, token: str, count: int) -> dict[str, Any]:
    """Read, change, read: every answer equal to a fresh expansion of the exported calendar."""
    caller = caller_of_token(secret=token, now_ms=now_ms())
    assert caller is not None
    stored = CalendarObject.objects.filter(calendar_id=calendar_id).order_by("pk")
    uids = dict(stored.values_list("pk", "uid"))
    objects = list(stored.values_list("pk", "recurring"))
    mirror = Mirror(calendar_id=calendar_id)
    chance = random.Random(11)
    took: dict[str, list[float]] = {"sayso": [], "values": [], "warm": [], "change": []}
    checked = occurrences = 0
    week = read(profile)
    for number in range(count):
        spent, target = timed(change, caller[0], week, objects, number, chance)
        took["change"].append(spent)
        spent, week = timed(read, profile)
        took["sayso"].append(spent)
        spent, values = timed(read_values, profile)
        took["values"].append(spent)
        mirror.renew(uids[target])
        query = fresh_query(mirror.whole)
        expected = peer_rows(week_of(query))
        if own_rows(week, uids) != expected or len(values) != len(week):
            differing = sorted(set(own_rows(week, uids)) ^ set(expected))
            raise RuntimeError(f"round {number}: {len(week)} {len(values)} {len(expected)}: {differing[:6]}")
        took["warm"].append(timed(week_of, query)[0])
        checked, occurrences = checked + 1, len(week)
    whole = peer_rows(week_of(fresh_query(mirror.exported(None))))
    if own_rows(read(profile), uids) != whole:
        raise RuntimeError("the whole export differs")
    return {"took": took, "checked": checked, "occurrences": occurrences}


def main() -> None:
    """Do what the arguments say."""
    what, profile, *rest = sys.argv[1:]
    if what == "rounds":
        answer: Any = rounds(profile, rest[0], rest[1], int(rest[2]))
    else:
        answer = timed(read if what == "first" else read_values, profile)[0]
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
