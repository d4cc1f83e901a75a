"""Reading a window: from occurrence rows, with series expanded on demand where the rows end.

What a read costs depends on how much it answers, not on how much there is: limits stand in the statements, and of a
series no occurrence is made that is not answered.
"""

from __future__ import annotations

from apps.calendars.queries.expanding import Window, expanded_items
from apps.calendars.queries.items import OBJECT_COLUMNS, ROW_COLUMNS, shown_of
from apps.calendars.queries.values import Shown
from apps.calendars.rules.searching import EVERYTHING, Search
from apps.calendars.rules.targets import LONG_MS
from apps.core.rows import execute

MOST = 100_000
SCANNED_MOST = 20_000
"""How many rows a search looks at."""

_FROM = (
    "from calendars_occurrence r join calendars_calendarobject o on o.id = r.object_id"
    " where r.profile_id = %s and r.kind = %s and "
)
_SELECT = f"select {OBJECT_COLUMNS}, {ROW_COLUMNS} {_FROM}"
_COVERED = " and (o.rows_to_ms is null or o.rows_to_ms >= %s) and (o.rows_from_ms is null or o.rows_from_ms <= %s)"
_SHORT = _SELECT + "r.long = false and r.at_ms > %s and r.at_ms < %s and (r.until_ms > %s or r.at_ms >= %s)" + _COVERED
_LONG = _SELECT + "r.long = true and r.at_ms < %s and r.until_ms > %s" + _COVERED
_OF_CALENDAR = " and o.calendar_id = %s"
# Reminders are listed by when they are due.
_ORDER = {"VEVENT": " order by r.at_ms limit %s", "VTODO": " order by coalesce(r.end_ms, r.start_ms) limit %s"}


def window_items(*, profile_id: str, kind: str, start_ms: int, end_ms: int) -> list[Shown]:
    """Return the occurrences that touch a half-open window of instants, ordered by time."""
    return read_window(profile_id=profile_id, kind=kind, start_ms=start_ms, end_ms=end_ms, limit=MOST)[0]


def read_window(
    *,
    profile_id: str,
    kind: str,
    start_ms: int,
    end_ms: int,
    limit: int,
    calendar_id: str = "",
    search: Search = EVERYTHING,
) -> tuple[list[Shown], bool]:
    """Return the first `limit` occurrences that touch a half-open window, and whether there may be more.

    A search looks at the first `SCANNED_MOST` rows.
    """
    most = limit + 1 if search.keeps_all else max(limit, SCANNED_MOST) + 1
    where, own = (_OF_CALENDAR, [calendar_id]) if calendar_id else ("", [])
    covered = [end_ms, start_ms, *own, most]
    short = [profile_id, kind, start_ms - LONG_MS - 1, end_ms, start_ms, start_ms, *covered]
    rows = execute(_SHORT + where + _ORDER[kind], short).fetchall()
    # A statement that gave all that was asked of it may have more.
    more = len(rows) >= most
    rows += execute(_LONG + where + _ORDER[kind], [profile_id, kind, end_ms, start_ms, *covered]).fetchall()
    found = [shown_of(row) for row in rows]
    if not search.keeps_all:
        found = [shown for shown in found if search.keeps(shown)]
    window = Window(
        profile_id=profile_id,
        kind=kind,
        start_ms=start_ms,
        end_ms=end_ms,
        limit=limit + 1,
        calendar_id=calendar_id,
        search=search,
    )
    found += expanded_items(window=window)
    found.sort(key=in_order)
    return found[:limit], more or len(found) > limit


def in_order(shown: Shown) -> tuple[int, str, str]:
    """Return what lists are ordered by."""
    at = shown.at_ms if shown.at_ms is not None else shown.start_ms
    return (2**60 if at is None else at, shown.object_id, shown.slot)
