"""A stored object made ready for reckoning: slots, starts and ends as integers (see `values` for wall clocks)."""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.content_lines import Component, component_lines, parse_tree, unfold
from apps.calendars.rules.parts import Part, Slot
from apps.calendars.rules.reading import ExtraDate, Reading, read_component
from apps.calendars.rules.rule_walk import RuleWalk
from apps.calendars.rules.values import DAY_MS, MAX_WALL_MS, MIN_WALL_MS, SECOND_MS, TimeValue
from apps.calendars.rules.zone_book import ZoneBook, year_of
from apps.calendars.rules.zones import Zone

_CACHED_TEXT = 16_384


class Override:
    """A component with RECURRENCE-ID and the slot it stands for."""

    def __init__(self, *, part: Part, slot: Slot, wall_ms: int, shift_ms: int) -> None:
        self.part = part
        self.slot = slot
        self.wall_ms = wall_ms
        # How far a THISANDFUTURE override moves the slots after its own, in its own zone's clock.
        self.shift_ms = shift_ms
        self.onwards = part.reading.this_and_future


class Series:
    """An object with its master, its overrides by slot, and what is excluded."""

    def __init__(
        self, *, stored: StoredObject, master: Reading | None, overrides: list[Reading], book: ZoneBook
    ) -> None:
        self.stored = stored
        self.book = book
        self.master = Part(reading=master, book=book) if master is not None else None
        self.all_day = self.master.all_day if self.master is not None else False
        self.excluded_days: set[int] = set()
        self.excluded: set[int] = set()
        self.walks: list[RuleWalk] = []
        self.untils: list[int | None] = []
        self.extra: dict[int, tuple[int, ExtraDate]] = {}
        if self.master is not None and self.master.anchor is not None:
            self._settle_master(self.master)
        self.overrides: dict[int, Override] = {}
        for reading in overrides:
            override = self.override_of(reading)
            if override is not None:
                self.overrides[override.slot.key] = override
        # How many occurrences there are, by how many were counted at most.
        self.counts: dict[int, int | None] = {}
        self.ranges = sorted((o for o in self.overrides.values() if o.onwards), key=lambda o: o.slot.key)

    def _settle_master(self, master: Part) -> None:
        anchor = master.anchor
        assert anchor is not None
        rules = master.reading.rules
        if master.all_day:
            # Days have no hours: RFC 5545 forbids these parts beside a DATE.
            rules = tuple(replace(rule, byhour=(), byminute=(), bysecond=()) for rule in rules)
        self.walks = [RuleWalk(rule=rule, start_ms=anchor.wall_ms) for rule in rules]
        self.untils = [self._until_of(master, walk) for walk in self.walks]
        for value in master.reading.exdates:
            self._exclude(master, value)
        for extra in master.reading.extra_dates:
            slot = self.slot_of(extra.start)
            self.extra[slot.key] = (slot.wall_ms, extra)

    def _until_of(self, master: Part, walk: RuleWalk) -> int | None:
        """Last key that UNTIL lets through."""
        until = walk.rule.until
        if until is None:
            return None
        if master.all_day:
            wall = self.book.owner.to_wall(until.wall_ms) if until.utc else until.wall_ms
            return wall - wall % DAY_MS
        if until.is_date:
            return master.anchor_zone.to_utc(until.wall_ms + DAY_MS - SECOND_MS)
        return until.wall_ms if until.utc else master.anchor_zone.to_utc(until.wall_ms)

    def _exclude(self, master: Part, value: TimeValue) -> None:
        if master.all_day:
            self.excluded.add(self.slot_of(value).key)
        elif value.is_date:
            self.excluded_days.add(value.wall_ms // DAY_MS)
        else:
            self.excluded.add(master.instant_of(value))

    def slot_of(self, value: TimeValue, *, zone: Zone | None = None) -> Slot:
        """The slot that a RECURRENCE-ID, EXDATE or RDATE value means in DTSTART's form."""
        part = self.master
        if part is None:
            if value.is_date:
                return Slot(value.wall_ms, value.wall_ms)
            at = zone or self.book.zone_of(value, first_year=year_of(value.wall_ms), last_year=year_of(value.wall_ms))
            return Slot(at.to_utc(value.wall_ms), value.wall_ms)
        if part.all_day:
            wall = self.book.owner.to_wall(value.wall_ms) if value.utc else value.wall_ms
            return Slot(wall - wall % DAY_MS, wall - wall % DAY_MS)
        if value.is_date:
            # A DATE on a timed series means that day at the time of DTSTART.
            anchor = part.anchor
            wall = value.wall_ms + (anchor.wall_ms % DAY_MS if anchor is not None else 0)
            return Slot(part.anchor_zone.to_utc(wall), wall)
        written = zone or part.zone_of(value)
        key = written.to_utc(value.wall_ms)
        if written is part.anchor_zone:
            return Slot(key, value.wall_ms)
        return Slot(key, part.anchor_zone.to_wall(key))

    def override_of(self, reading: Reading) -> Override | None:
        """The override of a component with RECURRENCE-ID."""
        recurrence_id = reading.recurrence_id
        if recurrence_id is None:
            return None
        part = Part(reading=reading, book=self.book)
        slot = self.slot_of(recurrence_id, zone=part.zone_of(recurrence_id) if not recurrence_id.is_date else None)
        wall = slot.wall_ms
        if part.anchor is not None:
            wall = part.anchor.wall_ms
        elif self.master is not None:
            part.anchor_zone, part.all_day = self.master.anchor_zone, self.all_day
        original = slot.wall_ms if part.all_day else part.anchor_zone.to_wall(self.instant_of_slot(slot))
        return Override(part=part, slot=slot, wall_ms=wall, shift_ms=wall - original)

    def instant_of_slot(self, slot: Slot) -> int:
        """Instant at which a slot begins."""
        return self.book.owner.to_utc(slot.wall_ms) if self.all_day else slot.key

    def is_excluded(self, slot: Slot) -> bool:
        """Whether EXDATE takes a slot out."""
        return slot.key in self.excluded or (
            bool(self.excluded_days) and not self.all_day and slot.wall_ms // DAY_MS in self.excluded_days
        )

    def range_of(self, slot: Slot) -> Override | None:
        """The THISANDFUTURE override that governs a slot, if any."""
        found = None
        for override in self.ranges:
            if override.slot.key <= slot.key:
                found = override
        return found

    def wall_span(self, *, first_ms: int, last_ms: int) -> tuple[int, int]:
        """Between which wall clocks every slot of a timed series lies that begins between two instants."""
        master = self.master
        assert master is not None
        low, high = master.anchor_zone.offsets_near(first_ms)[0], master.anchor_zone.offsets_near(last_ms)[1]
        return first_ms + low, last_ms + high + 1

    def slots_at(self, key: int) -> Iterator[Slot]:
        """The slot of the master with that key, excluded or not, if there is one; whatever a day holds beside it."""
        low_ms, high_ms = (key, key + DAY_MS) if self.all_day else self.wall_span(first_ms=key, last_ms=key)
        return (slot for slot in self.slots(low_ms=low_ms, high_ms=high_ms) if slot.key == key)

    def present(self, *, low_ms: int = MIN_WALL_MS) -> Iterator[Slot]:
        """Slots of the master that EXDATE leaves; a day that is excluded as a whole costs one look."""
        while True:
            for slot in self.slots(low_ms=low_ms):
                if self.excluded_days and not self.all_day and slot.wall_ms // DAY_MS in self.excluded_days:
                    low_ms = (slot.wall_ms // DAY_MS + 1) * DAY_MS
                    break
                if slot.key not in self.excluded:
                    yield slot
            else:
                return

    def slots(self, *, low_ms: int = MIN_WALL_MS, high_ms: int = MAX_WALL_MS) -> Iterator[Slot]:
        """Slots of the master with their wall clock in [low, high), in order, each once; excluded ones included."""
        master = self.master
        if master is None or master.anchor is None:
            return
        sources: list[Iterable[int]] = [self.rule_walls(i, low_ms, high_ms) for i in range(len(self.walks))]
        singles = sorted({master.anchor.wall_ms, *(wall for wall, _ in self.extra.values())})
        if self.extra or len(self.walks) != 1 or not self.walks[0].start_is_instance or self.untils[0] is not None:
            sources.append([wall for wall in singles if low_ms <= wall < high_ms])
        if not sources:
            return
        seen: set[int] = set()
        to_utc = master.anchor_zone.to_utc
        for wall in heapq.merge(*sources) if len(sources) > 1 else sources[0]:
            if self.all_day:
                wall -= wall % DAY_MS
            key = wall if self.all_day else to_utc(wall)
            if key not in seen:
                if len(seen) > 64:
                    # Equal keys stand within a few hours of each other; the oldest need no remembering.
                    seen = set(sorted(seen)[-32:])
                seen.add(key)
                yield Slot(key, wall)

    def rule_walls(self, index: int, low_ms: int, high_ms: int) -> Iterator[int]:
        """Wall clocks of one rule in [low, high), up to its UNTIL."""
        walk, until = self.walks[index], self.untils[index]
        if until is None:
            yield from walk.walls(low_ms=low_ms, high_ms=high_ms)
            return
        master = self.master
        assert master is not None
        if self.all_day:
            yield from walk.walls(low_ms=low_ms, high_ms=min(high_ms, until + 1))
            return
        sure, most = master.anchor_zone.offsets_near(until)
        for wall in walk.walls(low_ms=low_ms, high_ms=min(high_ms, until + most + 1)):
            if wall <= until + sure or master.anchor_zone.to_utc(wall) <= until:
                yield wall


def read_object(*, stored: StoredObject) -> Series:
    """The series of a stored object; what the object holds twice is decided as at import."""
    if len(stored.ics) <= _CACHED_TEXT:
        return _cached(stored)
    return _read(stored)


@lru_cache(maxsize=1024)
def _cached(stored: StoredObject) -> Series:
    return _read(stored)


def _read(stored: StoredObject) -> Series:
    tree = parse_tree(text=unfold(stored.ics))
    calendar = tree.calendars[0] if tree.calendars else Component("VCALENDAR", 0, [])
    readings = [read_component(component=each, has_method=True) for each in calendar.components(name=stored.kind)]
    masters = [reading for reading in readings if reading.recurrence_id is None]
    overrides = [reading for reading in readings if reading.recurrence_id is not None]
    book = ZoneBook(owner_zone=stored.owner_zone, definitions=definitions_of(calendar))
    return Series(stored=stored, master=masters[0] if masters else None, overrides=overrides, book=book)


def definitions_of(calendar: Component) -> dict[str, str]:
    """The text of each VTIMEZONE by its TZID; the first of a name counts."""
    found: dict[str, str] = {}
    for component in calendar.components(name="VTIMEZONE"):
        tzid = component.text("TZID").strip()
        if tzid and tzid not in found:
            found[tzid] = "\r\n".join(component_lines(component))
    return found
