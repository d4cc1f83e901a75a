"""Taking one occurrence, or one and all that follow, out of a series."""

from collections.abc import Callable
from typing import NamedTuple

from apps.calendars.rules.components import Cancellation, StoredObject
from apps.calendars.rules.content_lines import Component, ContentLine, parameter, split_line
from apps.calendars.rules.limits import NoSuchOccurrence, NotASeries, RemovalNotExact
from apps.calendars.rules.object_edit import ObjectLines, time_line, touched, with_added_line, without
from apps.calendars.rules.occurrences import is_recurring
from apps.calendars.rules.parts import Slot
from apps.calendars.rules.placements import Placement, read_slot, slot_text
from apps.calendars.rules.recurrence import with_bound
from apps.calendars.rules.removal_check import same_but_one
from apps.calendars.rules.rule_walk import RuleWalk
from apps.calendars.rules.series import Override, Series, read_object
from apps.calendars.rules.values import DAY_MS, SECOND_MS, TimeValue, parse_time


class RemovalEffect(NamedTuple):
    """What removing one occurrence would do: its slot, whether it is an override, whether it is the last one."""

    slot: str
    is_override: bool
    leaves_empty: bool


def _placement(series: Series, slot: str) -> Placement:
    placement = read_slot(series=series, text=slot)
    if placement is None:
        raise NoSuchOccurrence
    return placement


def removal_effect(*, stored: StoredObject, slot: str) -> RemovalEffect:
    """What `remove_occurrence` would do; raises NoSuchOccurrence."""
    series = read_object(stored=stored)
    placement = _placement(series, slot)
    others = (each for each in series.present() if each.key != placement.slot.key)
    overrides = [o for o in series.overrides.values() if o.slot.key != placement.slot.key]
    alone = not any(not series.is_excluded(o.slot) for o in overrides) and next(others, None) is None
    return RemovalEffect(slot_text(series=series, slot=placement.slot), placement.is_override, alone)


def remove_occurrence(*, stored: StoredObject, slot: str, now_ms: int) -> StoredObject | None:
    """The series without that one occurrence: EXDATE in DTSTART's type and zone, its override gone, SEQUENCE + 1.

    An override without a master loses its component alone; None when it was the only one. Raises NoSuchOccurrence,
    NotASeries, and RemovalNotExact when any other occurrence would have changed.
    """
    series = read_object(stored=stored)
    placement = _placement(series, slot)
    if not is_recurring(series=series):
        raise NotASeries
    lines = ObjectLines(stored=stored)
    # An override for THISANDFUTURE stays although its own slot goes: the slots after it hang on it.
    orphan = series.master is None
    _drop_overrides(lines, series, lambda o: o.slot.key == placement.slot.key and (orphan or not o.onwards))
    if lines.master is None:
        return lines.store() if lines.overrides else None
    if _is_generated(series, placement.slot):
        lines.master = with_added_line(lines.master, raw=time_line("EXDATE", values=[_in_form(series, placement.slot)]))
    lines.master = touched(lines.master, now_ms=now_ms)
    after = lines.store()
    if not same_but_one(before=stored, after=after, slot=placement.slot):
        raise RemovalNotExact
    return after


def _drop_overrides(lines: ObjectLines, series: Series, goes: Callable[[Override], bool]) -> None:
    numbers = {override.part.reading.component.number for override in series.overrides.values() if goes(override)}
    lines.overrides = [component for component in lines.overrides if component.number not in numbers]


def _is_generated(series: Series, slot: Slot) -> bool:
    """Whether the slot would still be there without its override."""
    override = series.overrides.get(slot.key)
    return next(series.slots_at(slot.key), None) is not None or (override is not None and override.onwards)


def _form(series: Series) -> TimeValue:
    master = series.master
    if master is None or master.anchor is None:
        raise NotASeries
    return master.anchor


def _in_form(series: Series, slot: Slot) -> TimeValue:
    """A slot as a value in DTSTART's type and zone."""
    form = _form(series)
    return TimeValue(slot.wall_ms, form.is_date, form.utc, form.tzid)


def cut_following(*, stored: StoredObject, slot: str, now_ms: int) -> StoredObject:
    """The series without that occurrence and all with a later slot: UNTIL before the slot, or a smaller COUNT.

    RDATEs and overrides at or after the cut go too. A cut at the first occurrence leaves an empty series.
    Raises NoSuchOccurrence and NotASeries.
    """
    series = read_object(stored=stored)
    cut = _placement(series, slot).slot
    lines = ObjectLines(stored=stored)
    if not is_recurring(series=series) or lines.master is None:
        raise NotASeries
    _drop_overrides(lines, series, lambda override: override.slot.key >= cut.key)
    first = next(series.slots(), None)
    if first is None or first.key >= cut.key:
        master = without(lines.master, "RRULE", "RDATE", "EXDATE")
        master = with_added_line(master, raw=time_line("EXDATE", values=[_form(series)]))
    else:
        master = _bounded(series, lines.master, cut)
    lines.master = touched(master, now_ms=now_ms)
    return lines.store()


def _bounded(series: Series, master: Component, cut: Slot) -> Component:
    walks = iter(series.walks)
    items: list[ContentLine | Component] = []
    for item in master.items:
        kept: ContentLine | Component | None = item
        if isinstance(item, ContentLine) and item.name == "RRULE":
            walk = next(walks, None)
            kept = split_line(_head(item) + _bound(series, walk, item.value, cut)) if walk is not None else item
        elif isinstance(item, ContentLine) and item.name in ("RDATE", "EXDATE"):
            kept = _earlier_values(series, item, cut)
        if kept is not None:
            items.append(kept)
    return Component(master.name, master.number, items)


def _head(line: ContentLine) -> str:
    return line.raw[: len(line.raw) - len(line.value)]


def _bound(series: Series, walk: RuleWalk, value: str, cut: Slot) -> str:
    before = walk.count_before(wall_ms=cut.wall_ms) if walk.rule.count is not None else None
    if walk.rule.count is not None and before is not None:
        return with_bound(value, count=max(1, min(walk.rule.count, before)))
    form = _form(series)
    if form.is_date:
        return with_bound(value, until=TimeValue(cut.wall_ms - DAY_MS, True, False, None))
    if not form.utc and form.tzid is None:
        return with_bound(value, until=TimeValue(cut.wall_ms - SECOND_MS, False, False, None))
    return with_bound(value, until=TimeValue(cut.key - SECOND_MS, False, True, None))


def _earlier_values(series: Series, line: ContentLine, cut: Slot) -> ContentLine | None:
    """The line with only the values before the cut."""
    tzid, kept = parameter(line, name="TZID"), []
    for text in line.value.split(","):
        value = parse_time(text.strip().partition("/")[0], tzid=tzid)
        if value is None or series.slot_of(value).key < cut.key:
            kept.append(text)
    return split_line(_head(line) + ",".join(kept), number=line.number) if kept else None


def cancelled_slot(*, stored: StoredObject, cancellation: Cancellation) -> str | None:
    """The stored slot that a METHOD:CANCEL component names, or None when there is none."""
    series = read_object(stored=stored)
    placement = read_slot(series=series, text=cancellation.slot) if cancellation.slot is not None else None
    return None if placement is None else slot_text(series=series, slot=placement.slot)
