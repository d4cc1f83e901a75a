"""Changing the fields of one component."""

from collections.abc import Mapping

from apps.calendars.rules.content_lines import Component, ContentLine, escape_text, split_line
from apps.calendars.rules.edit_times import form_of, value_at
from apps.calendars.rules.limits import InvalidTime
from apps.calendars.rules.object_edit import time_line, with_line, without
from apps.calendars.rules.parts import Part
from apps.calendars.rules.property_checks import trigger_of
from apps.calendars.rules.values import DAY_MS, TimeValue, basic_text
from apps.calendars.rules.zones import Zone, iana_zone

Changes = Mapping[str, object]

_TEXTS = {"title": "SUMMARY", "location": "LOCATION", "notes": "DESCRIPTION"}
_TIMES = ("start_ms", "end_ms", "due_ms", "all_day", "zone")
_OTHERS = ("rrule", "alarm_minutes", "priority", "status", "transparent", "completed")
FIELDS = frozenset((*_TEXTS, *_TIMES, *_OTHERS))


def check_changes(changes: Changes) -> None:
    """Raise ValueError for a field that does not exist."""
    unknown = sorted(set(changes) - FIELDS)
    if unknown:
        raise ValueError(f"no such field: {', '.join(unknown)}")


def apply_changes(*, component: Component, part: Part, changes: Changes, now_ms: int) -> Component:
    """The component with its texts, times, alarm and state changed; `part` is how it read before."""
    for name, line in _TEXTS.items():
        if name in changes:
            text = changes[name]
            component = (
                with_line(component, raw=f"{line}:{escape_text(str(text))}") if text else without(component, line)
            )
    if any(name in changes for name in _TIMES):
        component = _with_times(component, part, changes)
    if "priority" in changes:
        value = changes["priority"]
        component = with_line(component, raw=f"PRIORITY:{value}") if value else without(component, "PRIORITY")
    if "status" in changes:
        value = changes["status"]
        component = with_line(component, raw=f"STATUS:{value}") if value else without(component, "STATUS")
    if "transparent" in changes:
        component = with_line(component, raw=f"TRANSP:{'TRANSPARENT' if changes['transparent'] else 'OPAQUE'}")
    if "completed" in changes:
        component = _with_completion(component, completed=bool(changes["completed"]), now_ms=now_ms)
    if "alarm_minutes" in changes:
        component = _with_alarm(component, changes["alarm_minutes"])
    return component


def _with_completion(component: Component, *, completed: bool, now_ms: int) -> Component:
    component = without(component, "COMPLETED", "PERCENT-COMPLETE")
    if not completed:
        return with_line(component, raw="STATUS:NEEDS-ACTION")
    component = with_line(component, raw="STATUS:COMPLETED")
    stamp = basic_text(now_ms - now_ms % 1000, is_date=False, utc=True)
    return with_line(with_line(component, raw=f"COMPLETED:{stamp}"), raw="PERCENT-COMPLETE:100")


def _instant(changes: Changes, name: str) -> int | None:
    value = changes.get(name)
    return value if isinstance(value, int) else None


def _with_times(component: Component, part: Part, changes: Changes) -> Component:
    todo = part.todo
    end_name, end_field = ("DUE", "due_ms") if todo else ("DTEND", "end_ms")
    old = part.times(part.anchor.wall_ms) if part.anchor is not None else None
    start_ms, end_ms = _instant(changes, "start_ms"), _instant(changes, end_field)
    all_day = bool(changes["all_day"]) if changes.get("all_day") is not None else part.all_day
    if part.all_day and not all_day and start_ms is None and not part.due_only:
        raise InvalidTime("A time of day is needed for an item that was all-day.")
    start_form, start_zone = _form(part, changes, all_day, part.reading.start, part.start_zone)
    end_form, end_zone = _form(part, changes, all_day, part.reading.end or part.reading.start, part.end_zone)
    has_start = part.reading.start is not None and not part.due_only
    new_start = None
    if start_ms is not None or (has_start and old is not None and old.start_ms is not None):
        instant = start_ms if start_ms is not None else (old.start_ms if old is not None else None)
        assert instant is not None
        new_start = value_at(instant_ms=instant, form=start_form, zone=start_zone)
        component = with_line(component, raw=time_line("DTSTART", values=[new_start]))
    if end_field in changes and end_ms is None:
        return without(component, end_name, "DURATION")
    keeps_duration = end_ms is None and part.reading.duration is not None and part.reading.end is None
    if keeps_duration and all_day == part.all_day:
        return component
    if end_ms is None:
        end_ms = _kept_end(part, start_ms, all_day)
    if end_ms is None:
        return component
    new_end = value_at(instant_ms=end_ms, form=end_form, zone=end_zone)
    if new_start is not None and all_day and not todo and new_end.wall_ms <= new_start.wall_ms:
        new_end = new_end._replace(wall_ms=new_start.wall_ms + DAY_MS)
    if new_start is not None and end_zone.to_utc(new_end.wall_ms) < start_zone.to_utc(new_start.wall_ms):
        raise InvalidTime("The end comes before the start.")
    return with_line(without(component, "DURATION"), raw=time_line(end_name, values=[new_end]))


def _form(part: Part, changes: Changes, all_day: bool, old: TimeValue | None, old_zone: Zone) -> tuple[TimeValue, Zone]:
    """The form and zone in which a time is written: as before unless the change names another."""
    owner = part.book.owner
    if all_day:
        return form_of(all_day=True, zone=""), owner
    zone = changes.get("zone")
    if isinstance(zone, str):
        try:
            return form_of(all_day=False, zone=zone), iana_zone(zone) if zone else owner
        except KeyError as error:
            raise InvalidTime(f"{zone} is not a time zone.") from error
    if old is not None and not old.is_date:
        return old, old_zone
    return form_of(all_day=False, zone=owner.name), owner


def _kept_end(part: Part, start_ms: int | None, all_day: bool) -> int | None:
    """Where the end goes when only the start is given: the length stays."""
    if part.anchor is None or part.reading.start is None:
        return None if part.anchor is None or not part.due_only else part.times(part.anchor.wall_ms).end_ms
    old = part.times(part.anchor.wall_ms)
    if old.start_ms is None or old.end_ms is None or not part.has_end:
        return old.end_ms
    if part.reading.end is None and part.reading.duration is None and not part.all_day and not all_day:
        return None
    if start_ms is None:
        return old.end_ms
    if part.all_day and all_day:
        owner = part.book.owner
        wall = owner.to_wall(start_ms)
        return owner.to_utc(wall - wall % DAY_MS + part.length.days * DAY_MS)
    return start_ms + old.end_ms - old.start_ms


def _with_alarm(component: Component, minutes: object) -> Component:
    """One relative alarm with other minutes, a new one, or none at all for None."""
    if minutes is None:
        return Component(component.name, component.number, [item for item in component.items if item.name != "VALARM"])
    trigger = split_line(f"TRIGGER:-PT{minutes}M")
    items: list[ContentLine | Component] = list(component.items)
    for index, item in enumerate(items):
        if isinstance(item, Component) and item.name == "VALARM":
            line = item.first("TRIGGER")
            if line is not None and not isinstance(trigger_of(line), TimeValue):
                items[index] = with_line(item, raw=trigger.raw)
                return Component(component.name, component.number, items)
    lines = ["ACTION:DISPLAY", f"DESCRIPTION:{escape_text(component.text('SUMMARY') or 'Reminder')}", trigger.raw]
    items.append(Component("VALARM", 0, [split_line(raw) for raw in lines]))
    return Component(component.name, component.number, items)
