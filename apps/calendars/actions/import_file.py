"""Importing a whole file: read in the worker, stored chunk by chunk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from apps.accounts.rules import Caller
from apps.calendars.actions.importing import Asking, Entry, ask_for_cancelled, ask_for_missing, import_objects
from apps.calendars.actions.working import worker_lines
from apps.calendars.models import Calendar
from apps.calendars.queries.calendars import items_without
from apps.calendars.rules.components import Cancellation, StoredObject
from apps.calendars.rules.filling import Filled
from apps.calendars.rules.import_report import Report
from apps.core.errors import SaysoError
from apps.core.threads import Steps

CHUNK_OBJECTS, CHUNK_ROWS = 100, 1_500


class FileRefused(SaysoError):
    """This file was refused as a whole; nothing of it was stored."""


async def import_file(
    *,
    steps: Steps,
    by: Caller,
    calendar: Calendar,
    asking: Asking,
    data: bytes,
    options: dict[str, Any],
    replaces: bool,
) -> Report:
    """Read a file in the worker and store it chunk by chunk."""
    lines = worker_lines("import", options=options, parts=[data])
    about = json.loads(await steps.aside(lambda: next(lines)))
    if about["error"]:
        words = about["error"].replace("_", " ")
        raise FileRefused(f"The iCalendar file (ics) was refused: {words}.", code=about["error"])
    report = Report(about=about, calendar={"id": calendar.pk, "name": calendar.name})
    portions = _chunks(lines)
    named: dict[str, Any] = {"by": by, "calendar": calendar, "asking": asking}
    while portion := await steps.aside(lambda: next(portions, None)):
        await _in_turns(steps, report, portion, lambda rest: import_objects(objects=rest, **named))
    cancelled = [Cancellation(**each) for each in about["cancellations"]]
    await _in_turns(steps, report, cancelled, lambda rest: ask_for_cancelled(cancellations=rest, **named))
    if replaces and about["method"] != "CANCEL":
        uids = set(about["uids"])
        missing = await steps.lane(lambda: items_without(calendar_id=calendar.pk, uids=uids))
        await _in_turns(steps, report, missing, lambda rest: ask_for_missing(missing=rest, **named))
    return report


async def _in_turns(steps: Steps, report: Report, whole: list[Any], work: Callable[[list[Any]], list[Entry]]) -> None:
    """Do a list in jobs of the lane; each answers for as many as it came to."""
    done = 0
    while done < len(whole):
        entries = await steps.lane(partial(work, whole[done:]))
        report.add(entries)
        done += len(entries)


def _chunks(lines: Iterator[bytes]) -> Iterator[list[tuple[StoredObject, Filled]]]:
    """Yield the objects of a file in portions that keep the lane busy for a moment only."""
    chunk: list[tuple[StoredObject, Filled]] = []
    rows = 0
    for line in lines:
        found = json.loads(line)
        full = Filled(columns=found["columns"], rows=found["rows"])
        text, zone = full.columns["ics"], full.columns["owner_zone"]
        stored = StoredObject(uid=found["uid"], kind=found["kind"], ics=text, owner_zone=zone)
        chunk.append((stored, full))
        rows += len(found["rows"])
        if len(chunk) >= CHUNK_OBJECTS or rows >= CHUNK_ROWS:
            yield chunk
            chunk, rows = [], 0
    if chunk:
        yield chunk
