"""What a stored object says of itself in columns, for lists and for choosing whom a window can touch."""

from dataclasses import dataclass

from apps.calendars.rules.components import Kind, Occurrence, StoredObject
from apps.calendars.rules.occurrences import first_occurrence, is_recurring, last_end_ms
from apps.calendars.rules.placements import is_endless
from apps.calendars.rules.series import Series, read_object

_MOST_WALKED = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Instants in Unix milliseconds; times and texts are those of the master, or of the first override without one.

    `first_ms` and `last_ms` bound every occurrence; None for `last_ms` means unbounded or not worth counting, so a
    window filter is `first_ms < window_end and (last_ms is None or last_ms >= window_start)`. Both are None for a
    to-do without any time, which touches every window.
    """

    kind: Kind
    title: str
    location: str
    notes: str
    start_ms: int | None
    end_ms: int | None
    all_day: bool
    zone: str
    recurring: bool
    rrule: str
    status: str
    transparent: bool
    sequence: int
    dtstamp_ms: int | None
    priority: int
    due_ms: int | None
    completed: bool
    completed_ms: int | None
    attendees: int
    alarm_minutes: int | None
    alarms: int
    first_ms: int | None
    last_ms: int | None
    first: Occurrence | None
    first_slot: str
    empty: bool


def columns_of(*, stored: StoredObject) -> Columns:
    """The columns of a stored object."""
    series = read_object(stored=stored)
    part = series.master or next(iter(series.overrides.values())).part
    component = part.reading.component
    details = part.details
    times = part.times(part.anchor.wall_ms) if part.anchor is not None else None
    first = first_occurrence(stored=stored)
    line = component.first("RRULE") if series.walks else None
    return Columns(
        kind=stored.kind,
        title=details.title,
        location=details.location,
        notes=details.notes,
        start_ms=times.start_ms if times is not None else None,
        end_ms=times.end_ms if times is not None else None,
        all_day=part.all_day,
        zone=part.anchor_zone.name,
        recurring=is_recurring(series=series),
        rrule=line.value if line is not None else "",
        status=details.status,
        transparent=details.transparent,
        sequence=part.reading.sequence,
        dtstamp_ms=part.reading.dtstamp_ms,
        priority=details.priority,
        due_ms=times.end_ms if times is not None and part.todo else None,
        completed=details.completed,
        completed_ms=details.completed_ms,
        attendees=details.attendees,
        alarm_minutes=details.alarm_minutes,
        alarms=details.alarms,
        first_ms=_first_ms(series),
        last_ms=_last_ms(stored, series),
        first=first,
        first_slot=first.slot if first is not None else "",
        empty=first is None,
    )


def _first_ms(series: Series) -> int | None:
    """Earliest instant of any occurrence, excluded ones included: a bound may be too early, never too late."""
    parts = [override.part.times(override.wall_ms).first_ms for override in series.overrides.values()]
    master = series.master
    if master is not None and master.anchor is not None:
        slot = next(series.slots(), None)
        parts.append(master.times(slot.wall_ms if slot is not None else master.anchor.wall_ms).first_ms)
        shifts = [override.shift_ms for override in series.ranges]
        if shifts and parts[-1] is not None:
            parts.append(parts[-1] + min(0, *shifts))
    return min((part for part in parts if part is not None), default=None)


def _last_ms(stored: StoredObject, series: Series) -> int | None:
    if is_endless(series=series):
        return None
    return last_end_ms(stored=stored, cap=_MOST_WALKED)
