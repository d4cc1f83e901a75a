"""Reading a whole iCalendar file: good components in, each bad one named, one object for each UID."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from apps.calendars.rules.components import Cancellation, ImportNote, Kind, ParsedCalendar, StoredObject
from apps.calendars.rules.content_lines import (
    Component,
    ContentLine,
    decode,
    parse_tree,
    physical_lines,
    split_line,
)
from apps.calendars.rules.import_checks import Budget, master_notes, part_notes
from apps.calendars.rules.limits import DEFAULT, TOO_LARGE, TOO_MANY_COMPONENTS, Limits
from apps.calendars.rules.object_text import object_text
from apps.calendars.rules.placements import slot_text
from apps.calendars.rules.property_checks import without_lines
from apps.calendars.rules.reading import Note, Reading, read_component
from apps.calendars.rules.series import Override, Series, definitions_of
from apps.calendars.rules.values import TimeValue, clock_text, date_text
from apps.calendars.rules.zone_book import ZoneBook

# Of these methods the components are messages about an object, not the object (RFC 5546).
_MESSAGE_METHODS = ("REPLY", "REFRESH", "COUNTER", "DECLINECOUNTER")
# Lines that change with every export although the content stays.
_PASSING_LINES = ("DTSTAMP", "LAST-MODIFIED", "CREATED", "SEQUENCE")


@dataclass(slots=True, kw_only=True)
class _Group:
    """The components of one UID."""

    uid: str
    book: ZoneBook
    definitions: dict[str, str]
    readings: list[Reading] = field(default_factory=list)


class _Report:
    """The notes of a file; the physical line is looked up only for what is noted."""

    def __init__(self, *, data: bytes) -> None:
        self.data = data
        self.skipped: list[ImportNote] = []
        self.warnings: list[ImportNote] = []
        self.ignored: list[ImportNote] = []
        self._lines: dict[int, int] = {}
        self._starts: list[int] | None = None

    def line(self, number: int) -> int:
        """Line in the file as it came of an unfolded line."""
        if self._starts is None:
            self._starts = physical_lines(data=self.data)
        return self._starts[number] if 0 <= number < len(self._starts) else 0

    def note(self, *, code: str, component: Component, line: int = -1, detail: str = "") -> ImportNote:
        """A note about a component."""
        return ImportNote(
            code=code,
            uid=component.text("UID").strip(),
            summary=component.text("SUMMARY"),
            line=self.line(line if line >= 0 else component.number),
            detail=detail,
        )

    def warn(self, reading: Reading, notes: Iterable[Note]) -> None:
        """Add warnings of a component, each code once."""
        seen = set()
        for note in notes:
            if note.code not in seen:
                seen.add(note.code)
                component = reading.component
                self.warnings.append(self.note(code=note.code, component=component, line=note.line, detail=note.detail))


def parse_calendar(*, data: bytes, owner_zone: str, limits: Limits = DEFAULT) -> ParsedCalendar:
    """The objects of a file and a report of everything about it that was loose; never raises for its content.

    `error` is `truncated`, `too_large` or `too_many_components`.
    """
    if len(data) > limits.file_octets:
        return _refused(TOO_LARGE)
    text, is_utf8 = decode(data=data)
    tree = parse_tree(text=text, depth=limits.depth, components=limits.components)
    if tree.components > limits.components:
        return _refused(TOO_MANY_COMPONENTS)
    if not tree.complete:
        return _refused("truncated")
    report = _Report(data=data)
    if not is_utf8:
        report.warnings.append(
            ImportNote(code="encoding_not_utf8", uid="", summary="", line=0, detail="read as Windows-1252")
        )
    groups: dict[str, _Group] = {}
    cancellations: list[Cancellation] = []
    method = next((c.text("METHOD").strip().upper() for c in tree.calendars if c.first("METHOD")), None)
    for calendar in tree.calendars:
        _collect(calendar, owner_zone, limits, report, groups, cancellations)
    for component in tree.dropped:
        report.warnings.append(report.note(code="property_dropped", component=component, detail="nested too deeply"))
    budget = Budget(periods=limits.search_periods)
    objects = [_finish(group, owner_zone, report, budget) for group in groups.values()]
    return ParsedCalendar(
        method=method,
        name=next((name for c in tree.calendars if (name := c.text("X-WR-CALNAME") or c.text("NAME"))), ""),
        objects=tuple(objects),
        skipped=tuple(report.skipped),
        warnings=tuple(report.warnings),
        ignored=tuple(report.ignored),
        cancellations=tuple(cancellations),
        error=None,
    )


def _refused(error: str) -> ParsedCalendar:
    return ParsedCalendar(
        method=None, name="", objects=(), skipped=(), warnings=(), ignored=(), cancellations=(), error=error
    )


def _collect(
    calendar: Component,
    owner_zone: str,
    limits: Limits,
    report: _Report,
    groups: dict[str, _Group],
    cancellations: list[Cancellation],
) -> None:
    method = calendar.text("METHOD").strip().upper()
    definitions = definitions_of(calendar)
    book = ZoneBook(owner_zone=owner_zone, definitions=definitions)
    made: dict[str, int] = {}
    for component in calendar.items:
        if isinstance(component, ContentLine) or component.name == "VTIMEZONE":
            continue
        if component.name not in ("VEVENT", "VTODO") or method in _MESSAGE_METHODS:
            report.ignored.append(report.note(code="not_kept", component=component, detail=component.name))
            continue
        reading = read_component(component=component, has_method=bool(method), limits=limits)
        if method == "CANCEL":
            cancellations.append(_cancellation(reading, report))
            continue
        skip_code = reading.skip_code
        if skip_code is not None:
            note = next(note for note in reading.notes if note.code == skip_code)
            report.skipped.append(report.note(code=skip_code, component=component, line=note.line, detail=note.detail))
            continue
        if not reading.uid:
            _give_uid(reading, made)
        group = groups.get(reading.uid)
        if group is None:
            group = groups[reading.uid] = _Group(uid=reading.uid, book=book, definitions=definitions)
        group.readings.append(reading)


def _cancellation(reading: Reading, report: _Report) -> Cancellation:
    value = reading.recurrence_id
    return Cancellation(
        uid=reading.uid,
        slot=written_slot(value) if value is not None else None,
        this_and_future=reading.this_and_future,
        summary=reading.component.text("SUMMARY"),
        line=report.line(reading.component.number),
    )


def written_slot(value: TimeValue) -> str:
    """A slot text in the form in which a value is written."""
    day, of_day = divmod(value.wall_ms, 86_400_000)
    if value.is_date:
        return date_text(day)
    ending = "Z" if value.utc else f" {value.tzid}" if value.tzid is not None else ""
    return f"{date_text(day)}T{clock_text(of_day)}{ending}"


def _give_uid(reading: Reading, made: dict[str, int]) -> None:
    """A UID from the content, the same at every import; the second of two equal components gets another."""
    component = reading.component
    lines = [line.raw for line in component.lines() if line.name not in (*_PASSING_LINES, "UID")]
    uid = hashlib.sha256("\n".join([component.name, *lines]).encode()).hexdigest()[:32]
    made[uid] = made.get(uid, 0) + 1
    if made[uid] > 1:
        uid = f"{uid}-{made[uid]}"
    reading.uid = f"{uid}@sayso.invalid"
    reading.note("uid_missing")
    items = [item for item in component.items if not (isinstance(item, ContentLine) and item.name == "UID")]
    reading.component = Component(
        component.name, component.number, [split_line(f"UID:{reading.uid}", number=component.number), *items]
    )


def _finish(group: _Group, owner_zone: str, report: _Report, budget: Budget) -> StoredObject:
    """The stored object of one UID, with the warnings of its parts in the report."""
    masters = [reading for reading in group.readings if reading.recurrence_id is None]
    # A component whose RECURRENCE-ID could not be read must never take the place of the series.
    damaged = [reading for reading in masters if reading.component.first("RECURRENCE-ID") is not None]
    sound = [reading for reading in masters if reading not in damaged] or masters
    master = _best(sound)
    kind: Kind = "VTODO" if (master or group.readings[0]).kind == "VTODO" else "VEVENT"
    overrides = [r for r in group.readings if r.recurrence_id is not None and r.kind == kind]
    losers = [r for r in group.readings if r is not master and (r.recurrence_id is None or r.kind != kind)]
    placeholder = StoredObject(uid=group.uid, kind=kind, ics="", owner_zone=owner_zone)
    kept, doubles = _unique_overrides(placeholder, master, overrides, group.book)
    series = Series(stored=placeholder, master=master, overrides=kept, book=group.book)
    if master is not None:
        assert series.master is not None
        notes = [*master.notes, *part_notes(part=series.master), *master_notes(series=series, budget=budget)]
        report.warn(master, notes)
    for override in series.overrides.values():
        notes = [*override.part.reading.notes, *part_notes(part=override.part)]
        if master is None:
            notes.append(Note("override_without_master", -1, slot_text(series=series, slot=override.slot)))
        elif series.is_excluded(override.slot):
            notes.append(Note("override_excluded", -1, slot_text(series=series, slot=override.slot)))
        report.warn(override.part.reading, notes)
    for loser in losers:
        report.warn(loser, [*loser.notes, Note("uid_duplicate", -1, group.uid)])
    for double in doubles:
        report.warn(double, [*double.notes, Note("override_duplicate", -1, group.uid)])
    stays = [o.part.reading for o in series.overrides.values() if o.onwards or not series.is_excluded(o.slot)]
    readings = [master, *stays] if master is not None else stays
    text = object_text(components=[_clean(reading) for reading in readings], definitions=group.definitions)
    return StoredObject(uid=group.uid, kind=kind, ics=text, owner_zone=owner_zone)


def _best(readings: list[Reading]) -> Reading | None:
    """The valid revision whatever the order: higher SEQUENCE, then later DTSTAMP (RFC 5546 2.1.5)."""
    return max(readings, key=lambda reading: (reading.revision, reading.component.number), default=None)


def _unique_overrides(
    stored: StoredObject, master: Reading | None, overrides: list[Reading], book: ZoneBook
) -> tuple[list[Reading], list[Reading]]:
    """The overrides with one for each slot, and those left out."""
    if len(overrides) < 2:
        return overrides, []
    frame = Series(stored=stored, master=master, overrides=[], book=book)
    by_slot: dict[int, list[Reading]] = {}
    for reading in overrides:
        override: Override | None = frame.override_of(reading)
        if override is not None:
            by_slot.setdefault(override.slot.key, []).append(reading)
    kept = [best for readings in by_slot.values() if (best := _best(readings)) is not None]
    return kept, [reading for reading in overrides if reading not in kept]


def _clean(reading: Reading) -> Component:
    if not reading.dropped:
        return reading.component
    return without_lines(component=reading.component, dropped={line.number for line in reading.dropped})
