"""Seeing what an update would take away from a series."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.parts import Slot
from apps.calendars.rules.placements import Placement, find_placement, is_endless, slot_text
from apps.calendars.rules.recurrence import Rule
from apps.calendars.rules.series import Series, read_object
from apps.calendars.rules.values import DAY_MS, MAX_WALL_MS, MIN_WALL_MS

# How many slots are compared one by one; where the rule itself is another one, 28 years of days.
_COMPARED = 3_000
_COMPARED_OTHERWISE = 10_300
# Compared over fewer years, another rule may still lose what comes only now and then, such as 29 February.
_YEARS_MS = 28 * 366 * DAY_MS
# How many slots of rules may be walked for the looks past those, all together.
_WALKED = 300_000
_MOST_DAYS = {"WEEKLY": 7, "MONTHLY": 31, "YEARLY": 366}


def removed_by_update(*, before: StoredObject, after: StoredObject, most: int = 1_000) -> list[str]:
    """Slots that are there before and not after, in order, at most `most`; a start that moved takes its slots along.

    The first slots are compared one by one. Of all later ones those are looked at that EXDATE, RDATE or RECURRENCE-ID
    name, and those past the end that the rule has then. What this cannot tell counts as gone: then a person is asked.
    """
    comparison = _Comparison(read_object(stored=before), read_object(stored=after))
    gone = {}
    for slot in comparison.lost():
        gone[slot.key] = slot
        if len(gone) >= most:
            break
    ordered = sorted(gone.values(), key=lambda slot: slot.wall_ms)
    return [slot_text(series=comparison.old, slot=slot) for slot in ordered]


def same_rules(*, before: StoredObject, after: StoredObject) -> bool:
    """Whether two versions of an object repeat by the same rules, whatever they exclude or add."""
    return _rules(read_object(stored=before)) == _rules(read_object(stored=after))


class _Comparison:
    """Two versions of a series side by side."""

    def __init__(self, old: Series, new: Series) -> None:
        self.old, self.new = old, new
        self.shift_ms = _shift(old, new)
        self.same_pattern = _patterns(old) == _patterns(new)
        self.limit = _COMPARED if self.same_pattern else _COMPARED_OTHERWISE
        slots = list(islice(_present(new), self.limit + 1))
        self.known = {slot.key for slot in slots}
        self.complete = len(slots) <= self.limit
        # Before this wall clock what is not known is not there; keys and clocks differ by hours at most.
        self.horizon_ms = MIN_WALL_MS if self.complete else slots[-1].wall_ms - DAY_MS
        self.walked = 0

    def lost(self) -> Iterator[Slot]:
        """Slots of the old version that the new one lacks."""
        later = _present(self.old)
        last_ms, taken = MIN_WALL_MS, set()
        for slot in islice(later, self.limit):
            last_ms = max(last_ms, slot.wall_ms)
            key = _moved_key(self.new, slot, self.shift_ms)
            # Two slots of which the new version makes one, such as two hours of a day that becomes a whole day.
            if key in taken or not self.has(slot):
                yield slot
            taken.add(key)
        first_later = next(later, None)
        if first_later is None:
            return
        found = False
        for candidates in (self.named(), self.excluded(last_ms), self.past_the_end()):
            for slot in candidates:
                if not self.has(slot):
                    found = True
                    yield slot
        if not found and self.is_doubtful(last_ms):
            yield first_later

    def has(self, slot: Slot) -> bool:
        """Whether a slot of the old version is in the new one; no where that would cost too much to know."""
        key = _moved_key(self.new, slot, self.shift_ms)
        if key in self.known:
            return True
        passed = slot.wall_ms + self.shift_ms < self.horizon_ms and key not in self.new.overrides
        if self.complete or passed or self.is_spent():
            return False
        return self.find(self.new, key) is not None

    def find(self, series: Series, key: int) -> Placement | None:
        """The occurrence of one slot; what it costs to find is counted."""
        before = _walked(series)
        placement = find_placement(series=series, key=key)
        self.walked += _walked(series) - before
        return placement

    def is_spent(self) -> bool:
        """Whether the looks cost all that they may."""
        return self.walked > _WALKED

    def named(self) -> Iterator[Slot]:
        """Slots that the old version has by RDATE or RECURRENCE-ID."""
        for key, (wall_ms, _) in self.old.extra.items():
            slot = Slot(key, wall_ms)
            if not self.old.is_excluded(slot):
                yield slot
        yield from (o.slot for o in self.old.overrides.values() if not self.old.is_excluded(o.slot))

    def excluded(self, after_ms: int) -> Iterator[Slot]:
        """Slots of the old version past a wall clock that the new one names in EXDATE."""
        old, new, shift_ms = self.old, self.new, self.shift_ms
        if new.master is None:
            return
        for key in new.excluded:
            wall_ms = key if new.all_day else new.master.anchor_zone.to_wall(key)
            if wall_ms - shift_ms < after_ms - DAY_MS or self.is_spent():
                continue
            placement = self.find(old, _moved_key(old, Slot(key, wall_ms), -shift_ms))
            if placement is not None:
                yield placement.slot
        for day in new.excluded_days:
            low_ms = day * DAY_MS - shift_ms
            for slot in old.slots(low_ms=low_ms, high_ms=low_ms + DAY_MS):
                if not old.is_excluded(slot):
                    yield slot

    def past_the_end(self) -> Iterator[Slot]:
        """Slots of the old version past the last one of the new."""
        if not is_endless(series=self.new) and not self._counts_on():
            yield from _present(self.old, self._end_ms() - self.shift_ms + 1)

    def _counts_on(self) -> bool:
        """Whether only COUNT differs, and is not smaller."""
        old, new = _rules(self.old), _rules(self.new)
        counts = [(a.count, b.count) for a, b in zip(old, new, strict=False)]
        return self.same_pattern and all(a is not None and b is not None and b >= a for a, b in counts)

    def _end_ms(self) -> int:
        master = self.new.master
        if master is None or master.anchor is None:
            return MIN_WALL_MS
        ends = [master.anchor.wall_ms]
        for walk, until in zip(self.new.walks, self.new.untils, strict=True):
            if until is not None:
                ends.append(until if self.new.all_day else master.anchor_zone.to_wall(until))
            else:
                ends.extend(islice(walk.walls(low_ms=MIN_WALL_MS, high_ms=MAX_WALL_MS), 100_000))
        return max(ends)

    def is_doubtful(self, last_ms: int) -> bool:
        """Whether slots may be lost that nothing above has looked at."""
        old, new = _rules(self.old), _rules(self.new)
        if not self.same_pattern:
            first_ms = self.old.walks[0].start_ms if self.old.walks else last_ms
            return len(old) != 1 or len(new) != 1 or last_ms - first_ms < _YEARS_MS
        fewer = any((a.count or 0) > (b.count or MAX_WALL_MS) for a, b in zip(old, new, strict=False))
        return fewer or self.is_spent()


def _walked(series: Series) -> int:
    return sum(walk.periods * walk.clocks.size * _MOST_DAYS.get(walk.freq, 1) for walk in series.walks)


def _rules(series: Series) -> tuple[Rule, ...]:
    return tuple(walk.rule for walk in series.walks)


def _patterns(series: Series) -> list[Rule]:
    return [replace(rule, count=None, until=None) for rule in _rules(series)]


def _present(series: Series, low_ms: int = MIN_WALL_MS) -> Iterator[Slot]:
    """Slots with an occurrence: those of the rule in order, then overrides outside it."""
    seen = set()
    for slot in series.slots(low_ms=low_ms):
        if slot.key in series.overrides:
            seen.add(slot.key)
        if not series.is_excluded(slot):
            yield slot
    for override in series.overrides.values():
        if override.slot.key not in seen and not series.is_excluded(override.slot):
            yield override.slot


def _shift(old: Series, new: Series) -> int:
    """How far DTSTART's clock moved; nothing when one of them has none."""
    if old.master is None or new.master is None or old.master.anchor is None or new.master.anchor is None:
        return 0
    return new.master.anchor.wall_ms - old.master.anchor.wall_ms


def _moved_key(series: Series, slot: Slot, shift_ms: int) -> int:
    """Key in `series` of a slot moved by `shift_ms`."""
    master = series.master
    if master is None or master.anchor is None:
        return slot.key
    wall = slot.wall_ms + shift_ms
    return wall - wall % DAY_MS if series.all_day else master.anchor_zone.to_utc(wall)
