"""Writing objects as one iCalendar file: CRLF, folded lines, each zone once, loose forms mended."""

from collections.abc import Iterable

from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.content_lines import (
    Component,
    ContentLine,
    component_lines,
    escape_text,
    fold,
    parameter,
    quoted_parameter,
    split_line,
)
from apps.calendars.rules.object_edit import ObjectLines, time_line, with_added_line
from apps.calendars.rules.object_text import PRODUCT_ID, zone_names
from apps.calendars.rules.parts import Part
from apps.calendars.rules.series import Series, read_object
from apps.calendars.rules.values import DAY_MS, TimeValue, parse_time
from apps.calendars.rules.vtimezone_write import vtimezone_lines
from apps.calendars.rules.zones import Zone

_DATE_LINES = ("DTSTART", "DTEND", "DUE", "RECURRENCE-ID", "RDATE")


class _Zones:
    """The VTIMEZONEs of a file; two meanings of one TZID get two names."""

    def __init__(self) -> None:
        self.meanings: dict[str, object] = {}
        self.own: dict[str, str] = {}
        self.generated: dict[str, tuple[Zone, int]] = {}

    def name_for(self, *, tzid: str, part: Part) -> str:
        """The name under which a TZID of a component stands in the file."""
        first, last = part.years
        found = part.book.resolve(tzid=tzid, first_year=first, last_year=last)
        text = part.book.definitions[tzid] if found.own else ""
        meaning: object = text or found.zone
        name, number = tzid, 1
        while self.meanings.setdefault(name, meaning) != meaning:
            number += 1
            name = f"{tzid} ({number})"
        if text:
            self.own[name] = text
        else:
            year = min(first, self.generated.get(name, (found.zone, first))[1])
            self.generated[name] = (found.zone, year)
        return name

    def lines(self) -> Iterable[str]:
        """Unfolded lines of all of them in the order of their names."""
        for name in sorted(self.meanings):
            if name in self.own:
                for line in self.own[name].split("\r\n"):
                    yield f"TZID:{escape_text(name)}" if line.upper().startswith(("TZID:", "TZID;")) else line
            else:
                zone, year = self.generated[name]
                yield from vtimezone_lines(tzid=name, zone=zone, first_year=year - 1)


def export_calendar(*, objects: Iterable[StoredObject], name: str) -> bytes:
    """A VCALENDAR with all components of the objects and a VTIMEZONE for each TZID that they use.

    Lines stay as they were stored, except: DATE values get VALUE=DATE, EXDATE gets DTSTART's type.
    """
    zones = _Zones()
    bodies: list[str] = []
    for stored in objects:
        bodies += _object_lines(stored, zones)
    head = ["BEGIN:VCALENDAR", "VERSION:2.0", f"PRODID:{PRODUCT_ID}", "CALSCALE:GREGORIAN"]
    if name:
        head.append(f"X-WR-CALNAME:{escape_text(name)}")
    lines = [*head, *zones.lines(), *bodies, "END:VCALENDAR"]
    return "".join([fold(line) + "\r\n" for line in lines]).encode()


def _object_lines(stored: StoredObject, zones: _Zones) -> list[str]:
    series = read_object(stored=stored)
    lines = ObjectLines(stored=stored)
    found: list[str] = []
    parts = {o.part.reading.component.number: o.part for o in series.overrides.values()}
    if lines.master is not None and series.master is not None:
        found += _component_lines(lines.master, series, series.master, zones)
    for component in lines.overrides:
        part = parts.get(component.number)
        if part is not None:
            found += _component_lines(component, series, part, zones)
    return found


def _component_lines(component: Component, series: Series, part: Part, zones: _Zones) -> Iterable[str]:
    names = {tzid: zones.name_for(tzid=tzid, part=part) for tzid in dict.fromkeys(zone_names(component))}
    renamed = {tzid: name for tzid, name in names.items() if tzid != name}
    return component_lines(_mended(component, series, part, renamed))


def _mended(component: Component, series: Series, part: Part, renamed: dict[str, str]) -> Component:
    items: list[ContentLine | Component] = []
    for item in component.items:
        if isinstance(item, Component):
            items.append(item)
        elif item.name in _DATE_LINES:
            items.append(_mended_date(_renamed(item, renamed)))
        elif item.name == "EXDATE" and component.first("RECURRENCE-ID") is None:
            items += _mended_exdates(_renamed(item, renamed), series, part)
        else:
            items.append(_renamed(item, renamed))
    mended = Component(component.name, component.number, items)
    start = part.reading.start
    if start is not None and component.first("DTSTART") is None:
        return with_added_line(mended, raw=time_line("DTSTART", values=[start]))
    return mended


def _renamed(line: ContentLine, renamed: dict[str, str]) -> ContentLine:
    tzid = parameter(line, name="TZID") if renamed and line.params else None
    if tzid is None or tzid not in renamed:
        return line
    params = line.params.replace(f'"{tzid}"', tzid).replace(tzid, quoted_parameter(renamed[tzid]), 1)
    return split_line(f"{line.name};{params}:{line.value}", number=line.number)


def _mended_date(line: ContentLine) -> ContentLine:
    """VALUE=DATE where the value is a date, and no time where VALUE=DATE stands."""
    value_type = (parameter(line, name="VALUE") or "").upper()
    values = [parse_time(text.strip()) for text in line.value.split(",")]
    if "PERIOD" in value_type or not values or any(value is None for value in values):
        return line
    known = [value for value in values if value is not None]
    if (value_type == "DATE") == all(value.is_date for value in known):
        return line
    if value_type != "DATE" and not all(value.is_date for value in known):
        return line
    dates = [TimeValue(value.wall_ms - value.wall_ms % DAY_MS, True, False, None) for value in known]
    kept = [part for part in line.params.split(";") if part and not part.upper().startswith(("VALUE=", "TZID="))]
    mended = split_line(time_line(line.name, values=dates))
    return split_line(";".join([line.name, *kept, mended.raw[len(line.name) + 1 :]]), number=line.number)


def _mended_exdates(line: ContentLine, series: Series, part: Part) -> list[ContentLine]:
    """EXDATE values of another type than DTSTART as the slots they take out; the others as written."""
    anchor = part.anchor
    tzid = parameter(line, name="TZID")
    values = [parse_time(text.strip(), tzid=tzid) for text in line.value.split(",")]
    if anchor is None or any(value is None for value in values):
        return [line]
    known = [value for value in values if value is not None]
    if all(value.is_date == anchor.is_date for value in known):
        return [_mended_date(line)]
    found: list[TimeValue] = []
    for value in known:
        if value.is_date and not anchor.is_date:
            day = value.wall_ms
            slots = [each.wall_ms for each in series.slots(low_ms=day, high_ms=day + DAY_MS)]
            found += [anchor._replace(wall_ms=wall) for wall in slots or [series.slot_of(value).wall_ms]]
        else:
            found.append(anchor._replace(wall_ms=series.slot_of(value).wall_ms))
    return [split_line(time_line("EXDATE", values=found), number=line.number)]
