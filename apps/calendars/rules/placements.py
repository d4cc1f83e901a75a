"""Where the occurrences of a series lie in a window, before they are dressed for anyone."""

from collections.abc import Iterator
from heapq import merge
from itertools import chain, islice
from typing import NamedTuple

from apps.calendars.rules.parts import Part, Slot, Times
from apps.calendars.rules.series import Override, Series
from apps.calendars.rules.values import DAY_MS, TimeValue, clock_text, date_text, parse_time

_GAP_MS = 26 * 3_600_000
_MOST_UNORDERED = 10_000


class Placement(NamedTuple):
    """One occurrence: its slot, its times, the component it takes its words from."""

    slot: Slot
    times: Times
    part: Part
    is_override: bool


def slot_text(*, series: Series, slot: Slot) -> str:
    """The slot in DTSTART's own form; without a master in the form of the RECURRENCE-ID; empty for no time at all."""
    master = series.master
    form = master.anchor if master is not None else series.overrides[slot.key].part.reading.recurrence_id
    if form is None:
        return ""
    day, of_day = divmod(slot.wall_ms, DAY_MS)
    if form.is_date:
        return date_text(day)
    ending = "Z" if form.utc else f" {form.tzid}" if form.tzid is not None else ""
    return f"{date_text(day)}T{clock_text(of_day)}{ending}"


def slot_value(text: str) -> TimeValue | None:
    """The value that a slot text stands for, or None when it is none."""
    clock, _, tzid = text.strip().partition(" ")
    return parse_time(clock.replace("-", "").replace(":", ""), tzid=tzid.strip() or None)


def slot_key(*, series: Series, text: str) -> int | None:
    """The key of a slot text, or None when it has another form than the series: another zone is the same instant."""
    value = slot_value(text)
    part = series.master
    form = part.anchor if part is not None else None
    if part is None:
        form = next((o.part.reading.recurrence_id for o in series.overrides.values()), None)
    if value is None or form is None or value.is_date != form.is_date:
        return None
    floating = not value.is_date and not value.utc and value.tzid is None
    if floating != (not form.is_date and not form.utc and form.tzid is None):
        return None
    return series.slot_of(value).key


def touches(*, times: Times, start_ms: int, end_ms: int) -> bool:
    """Whether a span meets the half-open window; one without length when its moment lies inside (RFC 4791 9.9)."""
    first, last = times.first_ms, times.last_ms
    if first is None or last is None:
        return True
    if first >= last:
        return start_ms <= first < end_ms
    return first < end_ms and last > start_ms


def times_of_slot(*, series: Series, slot: Slot) -> tuple[Times, Part]:
    """Times of a slot that no override stands for."""
    master = series.master
    assert master is not None
    if series.ranges:
        governing = series.range_of(slot)
        if governing is not None:
            return _shifted(series, governing, slot), governing.part
    if slot.key in series.extra:
        return _extra_times(series, master, slot), master
    return master.times(slot.wall_ms), master


def _shifted(series: Series, governing: Override, slot: Slot) -> Times:
    part = governing.part
    wall = slot.wall_ms if part.all_day else part.anchor_zone.to_wall(series.instant_of_slot(slot))
    return part.times(wall + governing.shift_ms)


def _extra_times(series: Series, master: Part, slot: Slot) -> Times:
    """Times of an RDATE: a PERIOD brings its own end."""
    times = master.times(slot.wall_ms)
    extra = series.extra[slot.key][1]
    if series.all_day or times.start_ms is None:
        return times
    if extra.end is not None:
        end = master.instant_of(extra.end)
    elif extra.duration is not None:
        end = master.anchor_zone.to_utc(slot.wall_ms + extra.duration.days * DAY_MS) + extra.duration.exact_ms
    else:
        return times
    end = max(end, times.start_ms)
    return times._replace(end_ms=end, last_ms=end)


def _window(series: Series, start_ms: int, end_ms: int) -> tuple[int, int]:
    """Between which wall clocks the slots lie that can touch a window; RDATEs with an end of their own aside."""
    master = series.master
    assert master is not None
    due = master.reading.end if master.todo else None
    if series.all_day or series.ranges or (due is not None and due.is_date):
        before, after = _reach(series)
        return start_ms - before, end_ms + after
    days, exact = master.length
    low_ms, high_ms = series.wall_span(first_ms=start_ms - exact, last_ms=end_ms)
    return low_ms - days * DAY_MS, high_ms


def _reach(series: Series) -> tuple[int, int]:
    """How long before the window a slot can lie that still touches it, and how long after."""
    parts = [series.master] if series.master is not None else []
    parts += [override.part for override in series.ranges]
    length = max((part.length.total_ms for part in parts), default=0)
    for wall, extra in series.extra.values():
        if extra.end is not None:
            length = max(length, extra.end.wall_ms - wall + _GAP_MS)
        elif extra.duration is not None:
            length = max(length, extra.duration.total_ms)
    later = max((override.shift_ms for override in series.ranges), default=0)
    earlier = max((-override.shift_ms for override in series.ranges), default=0)
    return max(0, length) + max(0, later) + 2 * DAY_MS + _GAP_MS, max(0, earlier) + _GAP_MS


def master_placements(*, series: Series, start_ms: int, end_ms: int) -> Iterator[Placement]:
    """Occurrences of the master that touch the window, in order of their slots."""
    overrides = series.overrides
    plain = not series.ranges and not series.extra
    master = series.master
    if master is None or master.anchor is None:
        return
    low_ms, high_ms = _window(series, start_ms, end_ms)
    outside = [Slot(key, wall) for key, (wall, _) in series.extra.items() if not low_ms <= wall < high_ms]
    for slot in chain(outside, series.slots(low_ms=low_ms, high_ms=high_ms)):
        if slot.key in overrides or series.is_excluded(slot):
            continue
        times, part = (master.times(slot.wall_ms), master) if plain else times_of_slot(series=series, slot=slot)
        first, last = times.first_ms, times.last_ms
        assert first is not None
        assert last is not None
        if (first < end_ms and last > start_ms) if last > first else start_ms <= first < end_ms:
            yield Placement(slot, times, part, False)


def override_placement(override: Override) -> Placement:
    """The occurrence of an override."""
    return Placement(override.slot, override.part.times(override.wall_ms), override.part, True)


def in_order(*, series: Series, start_ms: int, end_ms: int, whole: bool = True) -> Iterator[Placement]:
    """Occurrences that touch the window by start, made one by one as they are asked for; not `whole`: overrides alone.

    Within the hour that a clock change leaves out two may come in the other order.
    """
    overrides = (override_placement(o) for o in series.overrides.values() if not series.is_excluded(o.slot))
    single = [each for each in overrides if touches(times=each.times, start_ms=start_ms, end_ms=end_ms)]
    master = master_placements(series=series, start_ms=start_ms, end_ms=end_ms) if whole else iter(())
    if series.ranges or series.extra:
        # Slots that were moved together, and RDATEs with an end of their own, come in no order of time.
        single += islice(master, _MOST_UNORDERED)
        master = iter(())
    return merge(sorted(single, key=_order), master, key=_order) if single else master


def placements(*, series: Series, start_ms: int, end_ms: int, limit: int) -> list[Placement]:
    """Occurrences that touch the window, ordered by start; at most `limit`, counted inside the window."""
    found = list(islice(in_order(series=series, start_ms=start_ms, end_ms=end_ms), limit))
    found.sort(key=_order)
    return found


def _order(placement: Placement) -> tuple[int, int]:
    return placement.times.first_ms or 0, placement.slot.key


def find_placement(*, series: Series, key: int) -> Placement | None:
    """The occurrence of one slot, or None when the series has none there."""
    override = series.overrides.get(key)
    if override is not None:
        return None if series.is_excluded(override.slot) else override_placement(override)
    master = series.master
    if master is None or master.anchor is None:
        return None
    # A slot in a gap shows a later clock than it was written with: look around, compare keys.
    for slot in series.slots_at(key):
        if not series.is_excluded(slot):
            times, part = times_of_slot(series=series, slot=slot)
            return Placement(slot, times, part, False)
    return None


def is_endless(*, series: Series) -> bool:
    """Whether a rule has neither UNTIL nor a COUNT that can run out before the last year."""
    return any(walk.rule.until is None and not walk.can_run_out() for walk in series.walks)


def read_slot(*, series: Series, text: str) -> Placement | None:
    """The occurrence that a slot text names, or None."""
    if not text and series.master is not None and series.master.anchor is None:
        return undated_placement(series.master)
    key = slot_key(series=series, text=text)
    return None if key is None else find_placement(series=series, key=key)


def undated_placement(part: Part) -> Placement:
    """The one occurrence of a to-do without any time."""
    return Placement(Slot(0, 0), Times(None, None, False, None, None, None, None), part, False)
