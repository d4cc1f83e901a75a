"""Making and changing events and to-dos; what a change does not name stays as it was, unknown properties included."""

from collections.abc import Iterable

from apps.calendars.rules.component_edit import Changes, apply_changes, check_changes
from apps.calendars.rules.components import Kind, StoredObject
from apps.calendars.rules.content_lines import Component, escape_text, split_line
from apps.calendars.rules.edit_times import form_of, moved_rule, moved_values, value_at
from apps.calendars.rules.limits import InvalidTime, NoSuchOccurrence, NotASeries
from apps.calendars.rules.object_edit import ObjectLines, keep, time_line, touched, with_added_line, with_line, without
from apps.calendars.rules.object_text import object_text
from apps.calendars.rules.parts import Part
from apps.calendars.rules.placements import Placement, read_slot
from apps.calendars.rules.recurrence import check_density, parse_rule
from apps.calendars.rules.series import Series, read_object
from apps.calendars.rules.values import DAY_MS, TimeValue, basic_text
from apps.calendars.rules.zones import Zone, iana_zone

_SERIES_LINES = ("RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID")


def new_event(
    *,
    uid: str,
    title: str,
    start_ms: int,
    end_ms: int | None,
    all_day: bool,
    zone: str,
    owner_zone: str,
    now_ms: int,
    rrule: str = "",
    location: str = "",
    notes: str = "",
    alarm_minutes: int | None = None,
) -> StoredObject:
    """A new event; `zone` is an IANA name, "UTC", or "" for floating.

    All-day: the days of `start_ms` and of the exclusive `end_ms` in the owner's zone, one day at least.
    Raises InvalidTime and InvalidRecurrence.
    """
    form = form_of(all_day=all_day, zone=zone)
    known = _zone(owner_zone if all_day else zone or owner_zone)
    start = value_at(instant_ms=start_ms, form=form, zone=known)
    lines = [time_line("DTSTART", values=[start])]
    if end_ms is not None or all_day:
        end = value_at(instant_ms=end_ms if end_ms is not None else start_ms, form=form, zone=known)
        if end.wall_ms < start.wall_ms and not all_day:
            raise InvalidTime("The end comes before the start.")
        if all_day and end.wall_ms <= start.wall_ms:
            end = end._replace(wall_ms=start.wall_ms + DAY_MS)
        lines.append(time_line("DTEND", values=[end]))
    lines += _rule_line(rrule)
    component = _new("VEVENT", uid, title, lines, now_ms)
    changes = {"location": location or None, "notes": notes or None, "alarm_minutes": alarm_minutes}
    return _stored("VEVENT", uid, owner_zone, component, changes)


def new_todo(
    *,
    uid: str,
    title: str,
    owner_zone: str,
    now_ms: int,
    due_ms: int | None = None,
    all_day: bool = False,
    zone: str = "",
    rrule: str = "",
    location: str = "",
    notes: str = "",
    priority: int = 0,
    alarm_minutes: int | None = None,
) -> StoredObject:
    """A new to-do without a start; `zone` as for an event. Raises InvalidTime and InvalidRecurrence."""
    lines = []
    if due_ms is not None:
        known = _zone(owner_zone if all_day else zone or owner_zone)
        due = value_at(instant_ms=due_ms, form=form_of(all_day=all_day, zone=zone), zone=known)
        lines = [time_line("DUE", values=[due]), *_rule_line(rrule)]
    component = _new("VTODO", uid, title, [*lines, "STATUS:NEEDS-ACTION"], now_ms)
    changes: Changes = {
        "location": location or None,
        "notes": notes or None,
        "priority": priority or None,
        "alarm_minutes": alarm_minutes,
    }
    return _stored("VTODO", uid, owner_zone, component, changes)


def _zone(name: str) -> Zone:
    try:
        return iana_zone(name)
    except KeyError as error:
        raise InvalidTime(f"{name} is not a time zone.") from error


def _rule_line(rrule: str) -> list[str]:
    value = rrule.strip().removeprefix("RRULE:")
    if not value:
        return []
    check_density(value)
    parse_rule(value)
    return [f"RRULE:{value}"]


def _new(kind: str, uid: str, title: str, lines: Iterable[str], now_ms: int) -> Component:
    stamp = basic_text(now_ms - now_ms % 1000, is_date=False, utc=True)
    head = [f"UID:{uid}", f"DTSTAMP:{stamp}", f"CREATED:{stamp}", f"LAST-MODIFIED:{stamp}", "SEQUENCE:0"]
    raws = [*head, *lines, f"SUMMARY:{escape_text(title)}"]
    return Component(kind, 0, [split_line(raw) for raw in raws])


def _stored(kind: Kind, uid: str, owner_zone: str, component: Component, changes: Changes) -> StoredObject:
    bare = StoredObject(
        uid=uid, kind=kind, owner_zone=owner_zone, ics=object_text(components=[component], definitions={})
    )
    given = {name: value for name, value in changes.items() if value is not None}
    lines = ObjectLines(stored=bare)
    series = read_object(stored=bare)
    assert lines.master is not None
    assert series.master is not None
    lines.master = apply_changes(component=lines.master, part=series.master, changes=given, now_ms=0)
    return lines.store()


def patch_master(*, stored: StoredObject, changes: Changes, now_ms: int) -> StoredObject:
    """The object with only the given fields changed on its master (or its one component without a master).

    Fields: title, location, notes, start_ms, end_ms, due_ms, all_day, zone, rrule, alarm_minutes, priority, status,
    transparent, completed. None clears notes, location, due_ms, alarm_minutes, priority and rrule. A moved start keeps
    the length and takes EXDATE, RDATE, UNTIL, the weekdays of a weekly rule and the slots of overrides along.
    Raises InvalidTime, InvalidRecurrence, and ValueError for a field that does not exist.
    """
    check_changes(changes)
    series = read_object(stored=stored)
    lines = ObjectLines(stored=stored)
    if lines.master is None or series.master is None:
        override = next(iter(series.overrides.values()))
        lines.overrides = [
            touched(apply_changes(component=each, part=override.part, changes=changes, now_ms=now_ms), now_ms=now_ms)
            if each.number == override.part.reading.component.number
            else each
            for each in lines.overrides
        ]
        return lines.store()
    master = lines.master
    if "rrule" in changes:
        rule = _rule_line(str(changes["rrule"] or ""))
        master = with_line(master, raw=rule[0]) if rule else without(master, "RRULE")
    master = apply_changes(component=master, part=series.master, changes=changes, now_ms=now_ms)
    lines.master = master
    _take_along(lines, series, stored)
    lines.master = touched(lines.master, now_ms=now_ms)
    return lines.store()


def _take_along(lines: ObjectLines, series: Series, stored: StoredObject) -> None:
    """Move what hangs on the slots of a series whose DTSTART got another clock or form."""
    old, master = series.master, lines.master
    if old is None or old.anchor is None or master is None or not (series.walks or series.extra or series.overrides):
        return
    part = read_object(stored=lines.store()).master
    if part is None or part.anchor is None or part.anchor == old.anchor:
        return
    delta = part.anchor.wall_ms - old.anchor.wall_ms
    for name in ("EXDATE", "RDATE"):
        values = moved_values(series=series, lines=master.all(name), form=part.anchor, delta_ms=delta)
        if values is not None:
            master = without(master, name)
            master = with_added_line(master, raw=time_line(name, values=values)) if values else master
    for line in master.all("RRULE"):
        moved = moved_rule(line.value, old=old.anchor, new=part.anchor, delta_ms=delta)
        position = master.items.index(line)
        master.items[position] = split_line(f"RRULE:{moved}")
    lines.master = master
    by_number = {o.part.reading.component.number: o.slot for o in series.overrides.values()}
    moved_overrides = []
    for each in lines.overrides:
        slot = by_number.get(each.number)
        if slot is None:
            continue
        value = part.anchor._replace(wall_ms=slot.wall_ms + delta)
        if value.is_date:
            value = value._replace(wall_ms=value.wall_ms - value.wall_ms % DAY_MS)
        future = ";RANGE=THISANDFUTURE" if "THISANDFUTURE" in each.first("RECURRENCE-ID").params.upper() else ""  # type: ignore[union-attr]
        raw = time_line("RECURRENCE-ID", values=[value]).replace("RECURRENCE-ID", "RECURRENCE-ID" + future, 1)
        moved_overrides.append(with_line(each, raw=raw))
    lines.overrides = moved_overrides


def patch_occurrence(*, stored: StoredObject, slot: str, changes: Changes, now_ms: int) -> StoredObject:
    """The series with an override of that slot that carries the changes; an override that is there is changed.

    Raises NoSuchOccurrence, NotASeries for an item without other occurrences, and what `patch_master` raises.
    """
    check_changes(changes)
    if "rrule" in changes:
        raise NotASeries("One occurrence has no rule of its own.")
    series = read_object(stored=stored)
    placement = read_slot(series=series, text=slot)
    if placement is None:
        raise NoSuchOccurrence
    lines = ObjectLines(stored=stored)
    if not placement.is_override:
        if lines.master is None or not (series.walks or series.extra):
            raise NotASeries
        lines.overrides.append(_as_override(series, placement, -1))
        stored = lines.store()
        series = read_object(stored=stored)
        lines = ObjectLines(stored=stored)
    override = series.overrides[placement.slot.key]
    number = override.part.reading.component.number
    lines.overrides = [
        touched(apply_changes(component=each, part=override.part, changes=changes, now_ms=now_ms), now_ms=now_ms)
        if each.number == number
        else each
        for each in lines.overrides
    ]
    return lines.store()


def _as_override(series: Series, placement: Placement, number: int) -> Component:
    """A component for one slot, with the words and times it has from its series."""
    part = placement.part
    component = without(part.reading.component, *_SERIES_LINES)
    form = series.master.anchor if series.master is not None else None
    assert form is not None
    component = with_added_line(
        component, raw=time_line("RECURRENCE-ID", values=[form._replace(wall_ms=placement.slot.wall_ms)])
    )
    for name, value in _own_times(part, placement):
        component = with_line(component, raw=time_line(name, values=[value]))
    return Component(component.name, number, component.items)


def _own_times(part: Part, placement: Placement) -> list[tuple[str, TimeValue]]:
    reading, times = part.reading, placement.times
    found = []
    if reading.start is not None and times.start_ms is not None and not part.due_only:
        found.append(("DTSTART", value_at(instant_ms=times.start_ms, form=reading.start, zone=part.start_zone)))
    if reading.end is not None and times.end_ms is not None:
        name = "DUE" if part.todo else "DTEND"
        found.append((name, value_at(instant_ms=times.end_ms, form=reading.end, zone=part.end_zone)))
    return found


def complete_todo(*, stored: StoredObject, completed: bool, now_ms: int, slot: str | None = None) -> StoredObject:
    """The to-do completed now, or open again; with `slot` that one occurrence of a series. Raises NoSuchOccurrence."""
    changes: Changes = {"completed": completed}
    series = read_object(stored=stored)
    if slot is None or not (series.walks or series.extra):
        return patch_master(stored=stored, changes=changes, now_ms=now_ms)
    return patch_occurrence(stored=stored, slot=slot, changes=changes, now_ms=now_ms)


def set_rrule(*, stored: StoredObject, rrule: str | None, now_ms: int) -> StoredObject:
    """The object with another rule, or none. Raises InvalidRecurrence."""
    return patch_master(stored=stored, changes={"rrule": rrule}, now_ms=now_ms)


def set_exdates(*, stored: StoredObject, slots: Iterable[str], now_ms: int) -> StoredObject:
    """The series with exactly these slots excluded. Raises NoSuchOccurrence for one it does not have."""
    lines = ObjectLines(stored=stored)
    if lines.master is None:
        raise NotASeries
    lines.master = keep(lines.master, wanted=lambda line: line.name != "EXDATE")
    series = read_object(stored=lines.store())
    values = []
    for slot in slots:
        placement = read_slot(series=series, text=slot)
        anchor = series.master.anchor if series.master is not None else None
        if placement is None or anchor is None:
            raise NoSuchOccurrence
        values.append(anchor._replace(wall_ms=placement.slot.wall_ms))
    if values:
        lines.master = with_added_line(lines.master, raw=time_line("EXDATE", values=values))
    lines.master = touched(lines.master, now_ms=now_ms)
    return lines.store()
