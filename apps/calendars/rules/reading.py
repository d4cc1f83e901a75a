"""One VEVENT or VTODO read leniently into typed values, with the import codes of what was loose about it.

Import and expansion both come through here, so what the report says is what the calendar shows.
"""

from dataclasses import dataclass
from typing import NamedTuple

from apps.calendars.rules.content_lines import Component, ContentLine, parameter
from apps.calendars.rules.limits import DEFAULT, InvalidRecurrence, Limits
from apps.calendars.rules.property_checks import absolute_triggers, unreadable_properties
from apps.calendars.rules.recurrence import REFUSED_FREQUENCIES, Rule, by_product, frequency, parse_rule
from apps.calendars.rules.values import DAY_MS, Duration, TimeValue, parse_duration, parse_time

SKIPPING_CODES = ("bad_dtstart", "no_dtstart", "rrule_too_dense", "rrule_too_frequent")


class Note(NamedTuple):
    """A code, the line it is about (counted from 0, -1 for the component) and a detail for people."""

    code: str
    line: int
    detail: str


class ExtraDate(NamedTuple):
    """One RDATE, with the end that a PERIOD gives it."""

    start: TimeValue
    end: TimeValue | None
    duration: Duration | None


@dataclass(slots=True, kw_only=True)
class Reading:
    """The times and rules of one component; only filled by `read_component`.

    `dropped` are lines that cannot be read and are not imported. `end` and `duration` are what is left after the
    loose ones were set aside; for a VTODO `end` is DUE.
    """

    component: Component
    kind: str
    uid: str
    notes: list[Note]
    dropped: list[ContentLine]
    start: TimeValue | None = None
    end: TimeValue | None = None
    duration: Duration | None = None
    recurrence_id: TimeValue | None = None
    this_and_future: bool = False
    rules: tuple[Rule, ...] = ()
    extra_dates: tuple[ExtraDate, ...] = ()
    exdates: tuple[TimeValue, ...] = ()
    sequence: int = 0
    dtstamp_ms: int | None = None

    @property
    def recurring(self) -> bool:
        """Whether the component names more than one occurrence."""
        return bool(self.rules or self.extra_dates)

    @property
    def anchor(self) -> TimeValue | None:
        """What slots are counted from: DTSTART, or DUE for a to-do without one."""
        return self.start if self.start is not None or self.kind == "VEVENT" else self.end

    @property
    def revision(self) -> tuple[int, int]:
        """What decides between two of the same: SEQUENCE, then DTSTAMP (RFC 5546 2.1.5)."""
        return self.sequence, self.dtstamp_ms if self.dtstamp_ms is not None else -(2**62)

    def note(self, code: str, line: ContentLine | None = None, detail: str = "") -> None:
        """Add a code once a line."""
        self.notes.append(Note(code, line.number if line is not None else -1, detail))

    def drop(self, line: ContentLine, detail: str = "") -> None:
        """Set a line aside that cannot be read."""
        self.dropped.append(line)
        self.note("property_dropped", line, detail or line.name or line.raw[:60])

    @property
    def skip_code(self) -> str | None:
        """The code that keeps the whole component out, if any."""
        return next((note.code for note in self.notes if note.code in SKIPPING_CODES), None)


def read_component(*, component: Component, has_method: bool = False, limits: Limits = DEFAULT) -> Reading:
    """A component read by the rules of the import table."""
    reading = Reading(component=component, kind=component.name, uid=component.text("UID").strip(), notes=[], dropped=[])
    lines: dict[str, list[ContentLine]] = {}
    for item in component.items:
        if isinstance(item, ContentLine):
            lines.setdefault(item.name, []).append(item)
    for line in lines.get("", ()):
        reading.drop(line)
    _read_revision(reading, lines)
    _read_start(reading, lines, has_method)
    _read_recurrence(reading, lines, limits)
    if reading.skip_code is None:
        _read_end(reading, lines)
        _read_exdates(reading, lines)
        for found, detail in unreadable_properties(component=component, attachment_octets=limits.attachment_octets):
            reading.drop(found, detail)
        for trigger in absolute_triggers(component=component) if reading.recurring else ():
            reading.note("alarm_absolute_on_series", trigger, trigger.value)
    return reading


Lines = dict[str, list[ContentLine]]


def _time(reading: Reading, line: ContentLine) -> TimeValue | None:
    """The value of a date property, with the codes of its loose forms."""
    text = line.value.strip()
    value_type = (parameter(line, name="VALUE") or "").upper()
    found = parse_time(text, tzid=parameter(line, name="TZID"))
    if found is None:
        return None
    return _typed(reading, line, found, value_type)


def _typed(reading: Reading, line: ContentLine, found: TimeValue, value_type: str) -> TimeValue:
    if found.is_date and value_type != "DATE":
        reading.note("date_without_value_param", line, line.name)
    elif value_type == "DATE" and not found.is_date:
        reading.note("value_type_mismatch", line, line.name)
        return TimeValue(found.wall_ms - found.wall_ms % DAY_MS, True, False, None)
    return found


def _read_revision(reading: Reading, lines: Lines) -> None:
    for line in lines.get("SEQUENCE", ())[:1]:
        text = line.value.strip()
        if text.lstrip("+").isascii() and text.lstrip("+").isdigit() and len(text) < 12:
            reading.sequence = int(text)
        else:
            reading.drop(line)
    for line in lines.get("DTSTAMP", ())[:1]:
        stamp = parse_time(line.value.strip())
        if stamp is None:
            reading.drop(line)
        else:
            reading.dtstamp_ms = stamp.wall_ms


def _read_start(reading: Reading, lines: Lines, has_method: bool) -> None:
    for line in lines.get("DTSTART", ())[:1]:
        reading.start = _time(reading, line)
        if reading.start is None:
            reading.note("bad_dtstart", line, line.value[:80])
    if "DTSTART" not in lines and reading.kind == "VEVENT" and not has_method:
        reading.note("no_dtstart")
    for line in lines.get("RECURRENCE-ID", ())[:1]:
        reading.recurrence_id = _time(reading, line)
        reading.this_and_future = (parameter(line, name="RANGE") or "").upper() == "THISANDFUTURE"
        if reading.recurrence_id is None:
            reading.drop(line)
        elif reading.kind == "VEVENT" and "DTSTART" not in lines:
            # Only messages (METHOD) may leave DTSTART out; the occurrence then stays where it was.
            reading.start = reading.recurrence_id


def _read_recurrence(reading: Reading, lines: Lines, limits: Limits) -> None:
    found = [line for name in ("RRULE", "RDATE", "EXDATE", "EXRULE") for line in lines.get(name, ())]
    rules = []
    for line in lines.get("RRULE", ()):
        # Bounds come first and from the text alone: a bomb is never built.
        if frequency(line.value) in REFUSED_FREQUENCIES:
            reading.note("rrule_too_frequent", line, frequency(line.value))
        elif by_product(line.value) > limits.by_product:
            reading.note("rrule_too_dense", line)
        else:
            try:
                rules.append(parse_rule(line.value))
            except InvalidRecurrence as error:
                reading.drop(line, str(error))
    if "RECURRENCE-ID" in lines:
        for line in found[:1]:
            reading.note("override_rrule_ignored", line, line.name)
        return
    reading.rules = tuple(rules)
    extra: list[ExtraDate] = []
    for line in lines.get("RDATE", ()):
        dates = _extra_dates(reading, line)
        if dates is None:
            reading.drop(line)
        else:
            extra += dates
    reading.extra_dates = tuple(extra)


def _extra_dates(reading: Reading, line: ContentLine) -> list[ExtraDate] | None:
    value_type, tzid = (parameter(line, name="VALUE") or "").upper(), parameter(line, name="TZID")
    found = []
    for text in line.value.split(","):
        begin, slash, rest = text.strip().partition("/")
        start = parse_time(begin, tzid=tzid)
        if start is None:
            return None
        end = parse_time(rest, tzid=tzid) if slash else None
        duration = parse_duration(rest) if slash and end is None else None
        if slash and end is None and duration is None:
            return None
        if not slash:
            start = _typed(reading, line, start, value_type)
        found.append(ExtraDate(start, end, duration))
    return found


def _read_exdates(reading: Reading, lines: Lines) -> None:
    if "RECURRENCE-ID" in lines:
        return
    found: list[TimeValue] = []
    for line in lines.get("EXDATE", ()):
        value_type, tzid = (parameter(line, name="VALUE") or "").upper(), parameter(line, name="TZID")
        times = [parse_time(text.strip(), tzid=tzid) for text in line.value.split(",")]
        if any(time is None for time in times):
            reading.drop(line)
            continue
        typed = [_typed(reading, line, time, value_type) for time in times if time is not None]
        anchor = reading.anchor
        if anchor is not None and any(time.is_date != anchor.is_date for time in typed):
            reading.note("exdate_type_mismatch", line)
        found += typed
    reading.exdates = tuple(found)


def _read_end(reading: Reading, lines: Lines) -> None:
    name = "DTEND" if reading.kind == "VEVENT" else "DUE"
    for line in lines.get(name, ())[:1]:
        end = _time(reading, line)
        if end is None:
            reading.drop(line)
        elif name == "DTEND" and reading.start is not None and end.is_date != reading.start.is_date:
            reading.note("value_type_mismatch", line, name)
        else:
            reading.end = end
    for line in lines.get("DURATION", ())[:1]:
        duration = parse_duration(line.value)
        if duration is None:
            reading.note("duration_invalid", line, line.value[:40])
        elif duration.total_ms < 0:
            reading.note("duration_negative", line, line.value[:40])
        elif reading.end is None and reading.start is not None:
            reading.duration = duration
