"""Expanding the series whose rows do not cover a window: a few at once, many in a process of their own.

A read that meets many raises `ReckonAside` where its edge said that it can wait (`may_wait`); the edge has them
expanded by the worker process, shelves what it found, and reads again. Elsewhere they are expanded on the spot.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from apps.calendars.queries.items import shown_from
from apps.calendars.queries.values import Shown
from apps.calendars.rules.components import Occurrence, StoredObject
from apps.calendars.rules.occurrences import earliest
from apps.calendars.rules.searching import Search
from apps.core.rows import execute
from apps.core.values import digest_of

EXPANDED_AT_ONCE = 150
SHELVED_MOST = 20
_OUTSIDE = (
    "select o.id, o.kind, o.uid, o.ics, o.owner_zone, o.calendar_id, o.rrule, o.digest from calendars_calendarobject o"
    " where o.id in (select id from calendars_calendarobject where profile_id = %s and rows_to_ms < %s"
    " union select id from calendars_calendarobject where profile_id = %s and rows_from_ms > %s)"
    " and o.kind = %s and (o.first_ms is null or o.first_ms < %s) and (o.last_ms is null or o.last_ms >= %s)"
)
_OF_CALENDAR = " and o.calendar_id = %s"
_waiting = threading.local()
_shelf: dict[str, list[tuple[int, Occurrence]]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which occurrences are wanted: of a kind, in a half-open window, the first so many."""

    profile_id: str
    kind: str
    start_ms: int
    end_ms: int
    limit: int
    calendar_id: str = ""
    search: Search


class ReckonAside(Exception):
    """More series than are expanded while others wait; `options` and `parts` are for the worker process."""

    def __init__(self, *, key: str, options: dict[str, Any], rows: list[tuple[Any, ...]]) -> None:
        """Keep what the worker needs."""
        super().__init__(key)
        self.key, self.options, self.rows = key, options, rows

    def parts(self) -> Iterator[bytes]:
        """Yield the objects as the worker reads them."""
        for row in self.rows:
            yield json.dumps(asdict(_stored(row))).encode() + b"\n"

    def shelve(self, lines: list[bytes]) -> None:
        """Keep what the worker found for the read that comes next."""
        while len(_shelf) >= SHELVED_MOST:
            del _shelf[next(iter(_shelf))]
        found = (json.loads(line) for line in lines)
        _shelf[self.key] = [(place, Occurrence(**members)) for place, members in found]


@contextmanager
def may_wait() -> Iterator[None]:
    """Let reads of this thread raise `ReckonAside`."""
    _waiting.allowed = True
    try:
        yield
    finally:
        _waiting.allowed = False


def expanded_items(*, window: Window) -> list[Shown]:
    """Return what the series without rows for a window have in it, the first ones."""
    arguments = [window.profile_id, window.end_ms, window.profile_id, window.start_ms, window.kind]
    arguments += [window.end_ms, window.start_ms]
    if window.calendar_id:
        rows: list[tuple[Any, ...]] = execute(_OUTSIDE + _OF_CALENDAR, [*arguments, window.calendar_id]).fetchall()
    else:
        rows = execute(_OUTSIDE, arguments).fetchall()
    if not rows:
        return []
    columns = [(row[0], row[1], *([None] * 11), row[5], row[6]) for row in rows]
    return [shown_from(each, columns=columns[place]) for place, each in _found(rows, window)]


def _found(rows: list[tuple[Any, ...]], window: Window) -> list[tuple[int, Occurrence]]:
    if len(rows) > EXPANDED_AT_ONCE and getattr(_waiting, "allowed", False):
        wanted = {"start_ms": window.start_ms, "end_ms": window.end_ms, "limit": window.limit}
        options = wanted | {"text": window.search.text, "completed": window.search.completed}
        key = digest_of([options, [(row[0], row[7], row[4]) for row in rows]])
        found = _shelf.pop(key, None)
        if found is None:
            raise ReckonAside(key=key, options=options, rows=rows)
        return found
    return earliest(
        objects=[_stored(row) for row in rows],
        window_start_ms=window.start_ms,
        window_end_ms=window.end_ms,
        limit=window.limit,
        search=window.search,
    )


def _stored(row: tuple[Any, ...]) -> StoredObject:
    return StoredObject(uid=row[2], kind=row[1], ics=row[3], owner_zone=row[4])
