"""Occurrences of a stored object: in a window, at a slot, the first, and how many."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from apps.calendars.rules.components import Kind, Occurrence, StoredObject
from apps.calendars.rules.parts import Part, Slot
from apps.calendars.rules.placements import (
    Placement,
    in_order,
    is_endless,
    override_placement,
    placements,
    read_slot,
    slot_text,
    times_of_slot,
    undated_placement,
)
from apps.calendars.rules.searching import EVERYTHING, Search
from apps.calendars.rules.series import Series, read_object
from apps.calendars.rules.values import DAY_MS, MAX_WALL_MS, MIN_WALL_MS, date_text

DEFAULT_LIMIT = 10_000
_NEVER_MS = 2**60
_ENDLESS_SAMPLE = 1_000
_LAST_YEAR_MS = 400 * DAY_MS
# Until then (2100) a zone may have left out whole days, so that two days of a rule are one; no rule of a zone does.
_JUMPS_UNTIL_MS = 130 * 366 * DAY_MS


def expand(
    *, stored: StoredObject, window_start_ms: int, window_end_ms: int, limit: int = DEFAULT_LIMIT
) -> list[Occurrence]:
    """Occurrences that touch the half-open window of instants, ordered by start; `limit` counts inside the window.

    A to-do without any time is in every window until it is completed, then in the one of its completion (RFC 4791 9.9).
    """
    series = read_object(stored=stored)
    if series.master is not None and series.master.anchor is None:
        placed = _undated(series.master, window_start_ms, window_end_ms)
    else:
        placed = placements(series=series, start_ms=window_start_ms, end_ms=window_end_ms, limit=limit)
    return [_dress(series, placement) for placement in placed]


def earliest(
    *,
    objects: Sequence[StoredObject],
    window_start_ms: int,
    window_end_ms: int,
    limit: int,
    search: Search = EVERYTHING,
) -> list[tuple[int, Occurrence]]:
    """The first occurrences of several objects in a window, each with its object's place; none beyond `limit` is made.

    Ordered by start, to-dos by when they are due.
    """
    window = (window_start_ms, window_end_ms)
    streams = (_stream(place, stored, window, search) for place, stored in enumerate(objects))
    chosen = sorted(islice(heapq.merge(*streams), limit))
    return [(place, _dress(read_object(stored=objects[place]), placement)) for _, place, _, placement in chosen]


def _stream(
    place: int, stored: StoredObject, window: tuple[int, int], search: Search
) -> Iterator[tuple[int, int, int, Placement]]:
    """Occurrences of one object with what orders them: when, the object's place, the slot."""
    series = read_object(stored=stored)
    start_ms, end_ms = window
    parts = [part for part in (series.master, *(o.part for o in series.overrides.values())) if part is not None]
    chosen = {id(part) for part in parts if search.keeps(part.details)}
    if series.master is not None and series.master.anchor is None:
        found: Iterable[Placement] = _undated(series.master, start_ms, end_ms)
    else:
        # A master that nobody wants is not walked: its occurrences may be without number.
        whole = id(series.master) in chosen or bool(series.ranges)
        found = in_order(series=series, start_ms=start_ms, end_ms=end_ms, whole=whole)
    is_todo = stored.kind == "VTODO"
    for each in found:
        if id(each.part) not in chosen:
            continue
        times = each.times
        at_ms = times.end_ms if is_todo and times.end_ms is not None else times.start_ms
        yield (_NEVER_MS if at_ms is None else at_ms, place, each.slot.key, each)


def _undated(master: Part, start_ms: int, end_ms: int) -> list[Placement]:
    if not master.todo:
        return []
    details = master.details
    moments = [moment for moment in (details.completed_ms, details.created_ms) if moment is not None]
    if details.completed_ms is not None:
        inside = start_ms <= max(moments) and end_ms > min(moments)
    elif details.completed:
        inside = False
    else:
        inside = not moments or end_ms > moments[0]
    return [undated_placement(master)] if inside else []


def _dress(series: Series, placement: Placement) -> Occurrence:
    part, times = placement.part, placement.times
    details = part.details
    kind: Kind = series.stored.kind
    return Occurrence(
        uid=series.stored.uid,
        kind=kind,
        slot=slot_text(series=series, slot=placement.slot),
        start_ms=times.start_ms,
        end_ms=times.end_ms,
        all_day=times.all_day,
        start_date=date_text(times.start_day) if times.start_day is not None else None,
        end_date=date_text(times.end_day) if times.end_day is not None else None,
        title=details.title,
        location=details.location,
        notes=details.notes,
        categories=details.categories,
        status=details.status,
        transparent=details.transparent,
        is_override=placement.is_override,
        recurring=is_recurring(series=series),
        zone=part.anchor_zone.name,
        alarm_minutes=details.alarm_minutes,
        alarms=details.alarms,
        attendees=details.attendees,
        priority=details.priority,
        completed=details.completed,
        completed_ms=details.completed_ms,
    )


def is_recurring(*, series: Series) -> bool:
    """Whether the object is a series: a rule, an RDATE, or overrides."""
    return bool(series.walks or series.extra or series.overrides)


def find_slot(*, stored: StoredObject, slot: str) -> Occurrence | None:
    """The occurrence whose original start is `slot`, or None; never the nearest one."""
    series = read_object(stored=stored)
    placement = read_slot(series=series, text=slot)
    return None if placement is None else _dress(series, placement)


def first_occurrence(*, stored: StoredObject) -> Occurrence | None:
    """The occurrence with the earliest slot, or None for an empty series."""
    series = read_object(stored=stored)
    if series.master is not None and series.master.anchor is None:
        return _dress(series, undated_placement(series.master))
    slot = next(series.present(), None)
    keys = [override.slot for override in series.overrides.values() if not series.is_excluded(override.slot)]
    earliest = min([*keys, *([slot] if slot is not None else [])], default=None, key=lambda each: each.key)
    return None if earliest is None else _dress(series, _place(series, earliest))


def _place(series: Series, slot: Slot) -> Placement:
    override = series.overrides.get(slot.key)
    if override is not None:
        return override_placement(override)
    times, part = times_of_slot(series=series, slot=slot)
    return Placement(slot, times, part, False)


def count_occurrences(*, stored: StoredObject, cap: int = 100_000) -> int | None:
    """How many occurrences the object has, or None when it is endless or has more than `cap`."""
    series = read_object(stored=stored)
    if cap not in series.counts:
        series.counts[cap] = _counted(series, cap)
    return series.counts[cap]


def _counted(series: Series, cap: int) -> int | None:
    if series.master is not None and series.master.anchor is None:
        return 1 if series.master.todo else 0
    keys = {o.slot.key for o in series.overrides.values() if not series.is_excluded(o.slot)}
    most = min(cap, _ENDLESS_SAMPLE) if is_endless(series=series) else cap
    # DTSTART may come twice, by itself and by its rule.
    keys.update(islice(_keys(series), most + len(keys) + 2))
    gave_up = any(walk.gave_up for walk in series.walks)
    return None if gave_up or len(keys) > most else len(keys)


def _keys(series: Series) -> Iterator[int]:
    """Keys of the slots that EXDATE leaves; of one plain rule without a slot made for each."""
    master = series.master
    if master is None or master.anchor is None:
        return iter(())
    if series.all_day or series.extra or series.excluded_days or len(series.walks) != 1:
        return (slot.key for slot in series.present())
    to_utc, excluded = master.anchor_zone.to_utc, series.excluded
    walls = chain((master.anchor.wall_ms,), series.rule_walls(0, MIN_WALL_MS, MAX_WALL_MS))
    # From then on one a day needs no clock of a zone to be told apart.
    plain_ms = _JUMPS_UNTIL_MS if series.walks[0].clocks.size == 1 else MAX_WALL_MS
    if excluded and max(excluded) >= plain_ms - DAY_MS:
        plain_ms = MAX_WALL_MS
    keys = (to_utc(wall) if wall < plain_ms else wall for wall in walls)
    return (key for key in keys if key not in excluded) if excluded else keys


def last_end_ms(*, stored: StoredObject, cap: int = 100_000) -> int | None:
    """Instant at which the last occurrence ends, or None when the object is endless or has more than `cap`."""
    series = read_object(stored=stored)
    if is_endless(series=series) or any((walk.rule.count or 0) > cap for walk in series.walks):
        return None
    latest: int | None = None
    for number, slot in enumerate(series.slots(low_ms=_near_the_end(series))):
        if number > cap:
            return None
        if slot.key not in series.overrides and not series.is_excluded(slot):
            last = times_of_slot(series=series, slot=slot)[0].last_ms
            latest = last if latest is None or (last is not None and last > latest) else latest
    for override in series.overrides.values():
        last = override_placement(override).times.last_ms
        if last is not None and not series.is_excluded(override.slot) and (latest is None or last > latest):
            latest = last
    return latest


def _near_the_end(series: Series) -> int:
    """A wall clock after which the last slot of a rule with UNTIL lies; the beginning where that is not plain."""
    if len(series.walks) != 1 or series.untils[0] is None or series.extra or series.ranges:
        return MIN_WALL_MS
    low_ms = series.untils[0] - _LAST_YEAR_MS
    found = (slot for slot in series.slots(low_ms=low_ms) if not series.is_excluded(slot))
    return low_ms if next(found, None) is not None else MIN_WALL_MS
