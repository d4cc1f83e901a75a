"""Importing a whole file: read in the worker, stored chunk by chunk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from apps.accounts.rules import Caller
from apps.calendars.actions.importing import Asking, import_cancelled, import_objects
from apps.calendars.actions.working import Steps, worker_lines
from apps.calendars.models import Calendar
from apps.calendars.rules.components import Cancellation, StoredObject
from apps.calendars.rules.filling import Filled
from apps.calendars.rules.import_report import Report
from apps.core.errors import SaysoError

CHUNK_OBJECTS, CHUNK_ROWS = 50, 1_000


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
    while chunk := await steps.aside(lambda: next(portions, None)):
        stored = partial(import_objects, by=by, calendar=calendar, objects=chunk, asking=asking)
        report.add(await steps.lane(stored))
    cancelled = [Cancellation(**each) for each in about["cancellations"]]
    missing = set(about["uids"]) if replaces and about["method"] != "CANCEL" else None
    report.add(
        await steps.lane(
            lambda: import_cancelled(
                by=by, calendar=calendar, cancellations=cancelled, kept_uids=missing, asking=asking
            )
        )
    )
    return report


def _chunks(lines: Iterator[bytes]) -> Iterator[list[tuple[StoredObject, Filled]]]:
    """Yield the objects of a file in portions that keep the lane busy for a moment only."""
    chunk: list[tuple[StoredObject, Filled]] = []
    rows = 0
    for line in lines:
        found = json.loads(line)
        chunk.append((StoredObject(**found["stored"]), Filled(columns=found["columns"], rows=found["rows"])))
        rows += len(found["rows"])
        if len(chunk) >= CHUNK_OBJECTS or rows >= CHUNK_ROWS:
            yield chunk
            chunk, rows = [], 0
    if chunk:
        yield chunk
