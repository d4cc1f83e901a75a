"""Occurrences as bare rows, for a table that is expanded ahead of the questions."""

from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.occurrences import expand
from apps.calendars.rules.parts import Slot
from apps.calendars.rules.placements import master_placements, override_placement, slot_text, touches
from apps.calendars.rules.series import read_object
from apps.calendars.rules.values import DAY_MS, clock_text, date_text

# slot, start_ms, end_ms, number of the component: 0 the master, 1 the first override in the text, and so on; then the
# instants between which it touches windows, which of a to-do due on a day is all of that day.
Row = tuple[str, int | None, int | None, int, int | None, int | None]


def project(*, stored: StoredObject, horizon_start_ms: int, horizon_end_ms: int, limit: int = 100_000) -> list[Row]:
    """Rows of the occurrences that touch the horizon, in order of slots, overrides last; at most `limit`.

    A to-do without any time is one row without instants.
    """
    series = read_object(stored=stored)
    master = series.master
    if master is not None and master.anchor is None:
        placed = expand(stored=stored, window_start_ms=horizon_start_ms, window_end_ms=horizon_end_ms)
        return [(each.slot, None, None, 0, None, None) for each in placed]
    numbers = {id(o.part): index for index, o in enumerate(series.overrides.values(), start=1)}
    rows: list[Row] = []
    if master is not None and master.anchor is not None:
        form = master.anchor
        ending = "" if form.is_date else "Z" if form.utc else f" {form.tzid}" if form.tzid is not None else ""
        for slot, times, part, _ in master_placements(series=series, start_ms=horizon_start_ms, end_ms=horizon_end_ms):
            day, of_day = divmod(slot.wall_ms, DAY_MS)
            text = date_text(day) if form.is_date else f"{date_text(day)}T{clock_text(of_day)}{ending}"
            number = numbers.get(id(part), 0)
            rows.append((text, times.start_ms, times.end_ms, number, times.first_ms, times.last_ms))
            if len(rows) >= limit:
                return rows
    for override in series.overrides.values():
        placement = override_placement(override)
        inside = touches(times=placement.times, start_ms=horizon_start_ms, end_ms=horizon_end_ms)
        if inside and not series.is_excluded(override.slot):
            slot = Slot(override.slot.key, override.slot.wall_ms)
            times = placement.times
            text, number = slot_text(series=series, slot=slot), numbers[id(override.part)]
            rows.append((text, times.start_ms, times.end_ms, number, times.first_ms, times.last_ms))
    return rows[:limit]
