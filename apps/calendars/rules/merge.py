"""What an incoming object does to the one that is stored under its UID (RFC 5546 section 2.1.5)."""

from dataclasses import dataclass
from typing import Literal

from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.content_lines import Component
from apps.calendars.rules.object_edit import ObjectLines
from apps.calendars.rules.reading import Reading
from apps.calendars.rules.removal_by_update import removed_by_update
from apps.calendars.rules.series import Series, read_object

Outcome = Literal["new", "update", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """The object as it would be stored, and the slots that would be lost: a deletion, which a person must confirm.

    `has_master` says that overrides came to a series that is stored, so `override_without_master` is not to be told.
    `excluded` are slots of incoming overrides that the stored series excludes by EXDATE, which wins.
    """

    outcome: Outcome
    merged: StoredObject
    removed_slots: tuple[str, ...]
    has_master: bool
    excluded: tuple[str, ...]


def merge_object(*, existing: StoredObject | None, incoming: StoredObject) -> Merge:
    """The higher SEQUENCE, then the later DTSTAMP wins; equal revisions keep what is stored.

    An incoming master replaces the stored one with its overrides; incoming overrides alone go into the stored series
    one by one.
    """
    if existing is None:
        return Merge(outcome="new", merged=incoming, removed_slots=(), has_master=False, excluded=())
    old, new = read_object(stored=existing), read_object(stored=incoming)
    if new.master is None:
        return _merge_overrides(existing, incoming, old, new)
    has_master = old.master is not None
    if old.master is not None and not _is_newer(new.master.reading, old.master.reading):
        return Merge(outcome="keep", merged=existing, removed_slots=(), has_master=has_master, excluded=())
    merged = incoming
    if old.master is None:
        merged = _with_overrides(incoming, new, existing, old)
    if merged.ics == existing.ics:
        return Merge(outcome="keep", merged=existing, removed_slots=(), has_master=has_master, excluded=())
    removed = removed_by_update(before=existing, after=merged) if has_master else []
    return Merge(outcome="update", merged=merged, removed_slots=tuple(removed), has_master=has_master, excluded=())


def _is_newer(incoming: Reading, existing: Reading) -> bool:
    if incoming.dtstamp_ms is None and existing.dtstamp_ms is None and incoming.sequence == existing.sequence:
        return True
    return incoming.revision > existing.revision


def _merge_overrides(existing: StoredObject, incoming: StoredObject, old: Series, new: Series) -> Merge:
    lines = ObjectLines(stored=existing)
    coming = ObjectLines(stored=incoming)
    excluded = []
    changed = False
    for override in new.overrides.values():
        reading = override.part.reading
        value = reading.recurrence_id
        component = _numbered(coming, reading.component.number)
        if value is None or component is None:
            continue
        # The zone is that of the file the override came in.
        slot = old.slot_of(value, zone=None if value.is_date else override.part.zone_of(value))
        if old.master is not None and old.is_excluded(slot):
            excluded.append(reading.component.text("RECURRENCE-ID"))
            continue
        stored = old.overrides.get(slot.key)
        if stored is not None and not _is_newer(reading, stored.part.reading):
            continue
        if stored is not None:
            number = stored.part.reading.component.number
            lines.overrides = [each for each in lines.overrides if each.number != number]
        lines.overrides.append(component)
        lines.definitions = coming.definitions | lines.definitions
        changed = True
    merged = lines.store()
    changed = changed and merged.ics != existing.ics
    return Merge(
        outcome="update" if changed else "keep",
        merged=merged if changed else existing,
        removed_slots=(),
        has_master=old.master is not None,
        excluded=tuple(excluded),
    )


def _with_overrides(incoming: StoredObject, new: Series, existing: StoredObject, old: Series) -> StoredObject:
    """The incoming object with the stored overrides that it does not name and does not exclude."""
    lines, stored = ObjectLines(stored=incoming), ObjectLines(stored=existing)
    for override in old.overrides.values():
        value = override.part.reading.recurrence_id
        component = _numbered(stored, override.part.reading.component.number)
        if value is None or component is None:
            continue
        slot = new.slot_of(value, zone=None if value.is_date else override.part.zone_of(value))
        if slot.key not in new.overrides and not new.is_excluded(slot):
            lines.overrides.append(component)
            lines.definitions = stored.definitions | lines.definitions
    return lines.store()


def _numbered(lines: ObjectLines, number: int) -> Component | None:
    return next((each for each in lines.overrides if each.number == number), None)
