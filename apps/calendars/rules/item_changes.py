"""What a request's item does to a stored object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.edit import complete_todo, patch_master, patch_occurrence
from apps.calendars.rules.limits import NotASeries
from apps.calendars.rules.object_edit import ObjectLines, touched, with_line
from apps.calendars.rules.occurrences import count_occurrences, expand
from apps.calendars.rules.placements import read_slot
from apps.calendars.rules.removal import cut_following, remove_occurrence
from apps.calendars.rules.removal_by_update import removed_by_update, same_rules
from apps.calendars.rules.series import read_object
from apps.calendars.rules.targets import ItemNotFound
from apps.core.errors import InvalidField

Item = Mapping[str, Any]

_SAME = ("title", "notes", "location", "start_ms", "end_ms", "due_ms", "all_day", "rrule", "zone")
_MOST_LOST = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What an update takes away: the slots in order, and the shape of it.

    `occurrence`: exactly one; `following`: one and all after it; `several`: anything else. `remain` is None for an
    endless rest, `goes` for an endless loss.
    """

    shape: str
    slots: tuple[str, ...]
    goes: int | None
    remain: int | None


def engine_changes(item: Item) -> dict[str, object]:
    """Return an item's members as the fields that the iCalendar rules know."""
    changes: dict[str, object] = {name: item[name] for name in _SAME if name in item}
    if "reminder_minutes" in item:
        changes["alarm_minutes"] = item["reminder_minutes"] or None
    if "priority" in item:
        changes["priority"] = item["priority"] or None
    if "completed" in item:
        changes["completed"] = item["completed"]
    return changes


def changed_object(stored: StoredObject, *, slot: str, item: Item, now_ms: int) -> StoredObject:
    """Return the object with the item's changes; `slot` names one occurrence, empty the whole.

    Raises what the iCalendar rules raise, and `ItemNotFound` for an `exdates` member that is no occurrence.
    """
    after = stored
    changes = engine_changes(item)
    if slot and ("rrule" in changes or item.get("exdates")):
        raise InvalidField("rrule" if "rrule" in changes else "exdates", "belongs to the series, not to one occurrence")
    if "due_ms" in changes and changes["due_ms"] is None and slot:
        raise InvalidField("due_ms", "due_ms of one occurrence cannot be cleared")
    completed = changes.pop("completed", None)
    if changes:
        after = (
            patch_occurrence(stored=after, slot=slot, changes=changes, now_ms=now_ms)
            if slot
            else patch_master(stored=after, changes=changes, now_ms=now_ms)
        )
    if completed is not None:
        after = complete_todo(stored=after, completed=bool(completed), now_ms=now_ms, slot=slot or None)
    for start_ms in item.get("exdates") or ():
        found = slot_at(stored, start_ms=start_ms)
        if found is None:
            raise ItemNotFound(f"The series has no occurrence at {start_ms}.")
        if read_slot(series=read_object(stored=after), text=found) is not None:
            after = remove_occurrence(stored=after, slot=found, now_ms=now_ms) or after
    return after


def slot_at(stored: StoredObject, *, start_ms: int) -> str | None:
    """Return the slot of the occurrence that starts at an instant."""
    near = expand(stored=stored, window_start_ms=start_ms, window_end_ms=start_ms + 1)
    return next((each.slot for each in near if each.start_ms == start_ms), None)


def may_lose(change: Item) -> bool:
    """Tell whether a change can take occurrences away: by another rule, by name, or as one whole day of hours."""
    return bool({"rrule", "exdates"} & set(change)) or change.get("all_day") is True


def loss_of(before: StoredObject, *, after: StoredObject, now_ms: int) -> Loss | None:
    """Return what an update takes away, or None when it takes nothing."""
    slots = removed_by_update(before=before, after=after, most=_MOST_LOST)
    if not slots:
        return None
    had, has = count_occurrences(stored=before), count_occurrences(stored=after)
    # A start that moved gives other slots of the same number; an endless loss is not counted.
    goes = None if had is None or len(slots) >= _MOST_LOST else len(slots)
    if had is not None and has is not None and has < had:
        goes = had - has
    elif had is None and has is None and len(slots) < _MOST_LOST and same_rules(before=before, after=after):
        # An endless series whose rule stays loses just what is named.
        goes = len(slots)
    shape = "several"
    if len(slots) == 1 and goes == 1:
        shape = "occurrence"
    elif _is_tail(before, after_count=has, first=slots[0], now_ms=now_ms):
        shape = "following"
    return Loss(shape=shape, slots=tuple(slots), goes=goes, remain=has)


def _is_tail(before: StoredObject, *, after_count: int | None, first: str, now_ms: int) -> bool:
    if after_count is None:
        return False
    try:
        cut = cut_following(stored=before, slot=first, now_ms=now_ms)
    except NotASeries:
        return False
    return count_occurrences(stored=cut) == after_count


def raised(stored: StoredObject, *, above: int, now_ms: int) -> StoredObject:
    """Return the object as a revision that is newer than one with that SEQUENCE."""
    lines = ObjectLines(stored=stored)
    newer = [with_line(touched(each, now_ms=now_ms), raw=f"SEQUENCE:{above + 1}") for each in lines.overrides]
    lines.overrides = newer
    if lines.master is not None:
        lines.master = with_line(touched(lines.master, now_ms=now_ms), raw=f"SEQUENCE:{above + 1}")
    return lines.store()


def copied(stored: StoredObject, *, uid: str) -> StoredObject:
    """Return a copy of an object under another UID."""
    lines = ObjectLines(stored=replace(stored, uid=uid))
    lines.overrides = [with_line(each, raw=f"UID:{uid}") for each in lines.overrides]
    if lines.master is not None:
        lines.master = with_line(lines.master, raw=f"UID:{uid}")
    return lines.store()
