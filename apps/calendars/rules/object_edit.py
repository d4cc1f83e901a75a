"""Changing the lines of a stored object while every other line stays as it was."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.content_lines import Component, ContentLine, parse_tree, quoted_parameter, split_line, unfold
from apps.calendars.rules.object_text import object_text
from apps.calendars.rules.reading import read_component
from apps.calendars.rules.series import definitions_of
from apps.calendars.rules.values import TimeValue, basic_text

# Where a new line goes: after the last of those that are there.
_ORDER = (
    "UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE", "RECURRENCE-ID", "DTSTART", "DTEND", "DUE", "DURATION",
    "RRULE", "RDATE", "EXDATE", "SUMMARY", "LOCATION", "DESCRIPTION", "STATUS", "COMPLETED", "PERCENT-COMPLETE",
)  # fmt: skip


class ObjectLines:
    """The components of a stored object, open for changes; `store` closes it again."""

    def __init__(self, *, stored: StoredObject) -> None:
        self.stored = stored
        tree = parse_tree(text=unfold(stored.ics))
        calendar = tree.calendars[0] if tree.calendars else Component("VCALENDAR", 0, [])
        self.definitions = definitions_of(calendar)
        components = calendar.components(name=stored.kind)
        self.master = next((c for c in components if c.first("RECURRENCE-ID") is None), None)
        self.overrides = [c for c in components if c.first("RECURRENCE-ID") is not None]

    def store(self) -> StoredObject:
        """The object with the components as they are now."""
        components = [*([self.master] if self.master is not None else []), *self.overrides]
        return replace(self.stored, ics=object_text(components=components, definitions=self.definitions))


def with_line(component: Component, *, raw: str) -> Component:
    """The component with the first line of that name replaced and further ones gone, or with the line added."""
    line = split_line(raw)
    position = next(
        (i for i, item in enumerate(component.items) if isinstance(item, ContentLine) and item.name == line.name), None
    )
    if position is None:
        return with_added_line(component, raw=raw)
    items = [item for item in component.items if not (isinstance(item, ContentLine) and item.name == line.name)]
    items.insert(position, line)
    return Component(component.name, component.number, items)


def with_added_line(component: Component, *, raw: str) -> Component:
    """The component with a line more, after its kind and before what comes later."""
    line = split_line(raw)
    before = _ORDER[: _ORDER.index(line.name) + 1] if line.name in _ORDER else _ORDER
    position = 0
    for index, item in enumerate(component.items):
        if isinstance(item, ContentLine) and item.name in before:
            position = index + 1
    items = list(component.items)
    items.insert(position, line)
    return Component(component.name, component.number, items)


def without(component: Component, *names: str) -> Component:
    """The component without its lines of those names."""
    return keep(component, wanted=lambda line: line.name not in names)


def keep(component: Component, *, wanted: Callable[[ContentLine], bool]) -> Component:
    """The component with those of its own lines that are wanted."""
    items = [item for item in component.items if isinstance(item, Component) or wanted(item)]
    return Component(component.name, component.number, items)


def touched(component: Component, *, now_ms: int) -> Component:
    """The component as a new revision: SEQUENCE one higher, DTSTAMP and LAST-MODIFIED now."""
    sequence = read_component(component=component, has_method=True).sequence + 1
    stamp = basic_text(now_ms - now_ms % 1000, is_date=False, utc=True)
    for raw in (f"SEQUENCE:{sequence}", f"DTSTAMP:{stamp}", f"LAST-MODIFIED:{stamp}"):
        component = with_line(component, raw=raw)
    return component


def time_line(name: str, *, values: Iterable[TimeValue]) -> str:
    """A date property line with values of one form."""
    listed = list(values)
    first = listed[0]
    texts = ",".join(basic_text(value.wall_ms, is_date=value.is_date, utc=value.utc) for value in listed)
    if first.is_date:
        return f"{name};VALUE=DATE:{texts}"
    if first.tzid is not None and not first.utc:
        return f"{name};TZID={quoted_parameter(first.tzid)}:{texts}"
    return f"{name}:{texts}"
