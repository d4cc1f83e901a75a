"""The proof that a removal took exactly one occurrence."""

from itertools import islice

from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.parts import Slot, Times
from apps.calendars.rules.placements import override_placement, times_of_slot
from apps.calendars.rules.series import Series, read_object
from apps.calendars.rules.values import DAY_MS, MIN_WALL_MS

_AROUND_MS = 400 * DAY_MS
_MOST = 800


def same_but_one(*, before: StoredObject, after: StoredObject, slot: Slot) -> bool:
    """Whether `after` has every occurrence of `before` with equal times except the one of `slot`.

    Compared are the first 800, those within 400 days of the slot, and every override.
    """
    old, new = read_object(stored=before), read_object(stored=after)
    for low_ms in (MIN_WALL_MS, slot.wall_ms - _AROUND_MS):
        had = _sample(old, low_ms, _MOST + 1)
        has = _sample(new, low_ms, _MOST + 1)
        had.pop(slot.key, None)
        if len(had) > _MOST or len(has) > _MOST:
            last = min(max(had), max(has))
            had = {key: times for key, times in had.items() if key < last}
            has = {key: times for key, times in has.items() if key < last}
        if had != has:
            return False
    kept = _overrides(old)
    kept.pop(slot.key, None)
    left = (each for each in new.slots_at(slot.key) if not new.is_excluded(each) and each.key not in new.overrides)
    return kept == _overrides(new) and (new.master is None or next(left, None) is None)


def _sample(series: Series, low_ms: int, most: int) -> dict[int, Times]:
    found = {}
    for slot in islice(series.slots(low_ms=low_ms), most):
        if not series.is_excluded(slot) and slot.key not in series.overrides:
            found[slot.key] = times_of_slot(series=series, slot=slot)[0]
    return found


def _overrides(series: Series) -> dict[int, Times]:
    return {
        key: override_placement(override).times
        for key, override in series.overrides.items()
        if not series.is_excluded(override.slot)
    }
