"""Reading reminders: those of a window, the overdue ones, those without any time."""

from __future__ import annotations

from apps.calendars.queries.items import OBJECT_COLUMNS, ROW_COLUMNS, shown_of
from apps.calendars.queries.listing import MOST, in_order, read_window
from apps.calendars.queries.values import Shown
from apps.calendars.rules.searching import Search
from apps.core.rows import execute

_FROM = (
    "from calendars_occurrence r join calendars_calendarobject o on o.id = r.object_id"
    " where r.profile_id = %s and r.kind = 'VTODO' and "
)
_SELECT = f"select {OBJECT_COLUMNS}, {ROW_COLUMNS} {_FROM}"
_DUE = "coalesce(r.end_ms, r.start_ms)"
# Of a series the latest one before the moment, whoever is open among those.
_OVERDUE = (
    _SELECT + f"r.at_ms < %s and {_DUE} < %s and not (o.completed = true and o.recurring = false) order by {_DUE} desc"
    " limit %s"
)
_TIMELESS = _SELECT + "r.long = false and r.at_ms is null limit %s"
_SCANNED_MOST = 20_000


def timeless_reminders(*, profile_id: str, limit: int = MOST) -> list[Shown]:
    """Return the reminders without any time."""
    return [shown_of(row) for row in execute(_TIMELESS, [profile_id, limit]).fetchall()]


def overdue_reminders(*, profile_id: str, before_ms: int) -> list[Shown]:
    """Return the open reminders whose time was before an instant, the latest ones; of a series the latest such one."""
    rows = execute(_OVERDUE, [profile_id, before_ms, before_ms, _SCANNED_MOST]).fetchall()
    latest: dict[str, Shown] = {}
    for shown in map(shown_of, rows):
        if not shown.completed:
            latest.setdefault(shown.object_id, shown)
    return list(latest.values())


def reminders(
    *,
    profile_id: str,
    start_ms: int,
    end_ms: int,
    include_completed: bool,
    with_open: bool,
    limit: int,
    calendar_id: str = "",
    text: str = "",
) -> tuple[list[Shown], bool]:
    """Return the first reminders of a window, and whether there may be more.

    `with_open` adds overdue and undated open ones, wherever they lie.
    """
    search = Search(text=text, completed=include_completed)
    found, more = read_window(
        profile_id=profile_id,
        kind="VTODO",
        start_ms=start_ms,
        end_ms=end_ms,
        calendar_id=calendar_id,
        limit=limit,
        search=search,
    )
    if with_open:
        known = {shown.id for shown in found}
        others = overdue_reminders(profile_id=profile_id, before_ms=start_ms)
        others += timeless_reminders(profile_id=profile_id)
        if calendar_id:
            others = [shown for shown in others if shown.calendar_id == calendar_id]
        found += [shown for shown in others if shown.id not in known and search.keeps(shown)]
        found.sort(key=in_order)
    return found[:limit], more or len(found) > limit
