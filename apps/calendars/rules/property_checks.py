"""Properties beside the times of a component that cannot be read, and are therefore not imported."""

import re
from collections.abc import Callable, Iterator

from apps.calendars.rules.content_lines import Component, ContentLine, parameter
from apps.calendars.rules.values import TimeValue, parse_duration, parse_time

_INTEGER = re.compile(r"[+-]?[0-9]{1,10}\Z")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*\Z")


def _is_time(text: str) -> bool:
    return parse_time(text) is not None


def _is_integer(text: str) -> bool:
    return _INTEGER.match(text) is not None


def _is_place(text: str) -> bool:
    try:
        return len([float(part) for part in text.split(";")]) == 2
    except ValueError:
        return False


_CHECKS: dict[str, Callable[[str], bool]] = {
    "CREATED": _is_time,
    "LAST-MODIFIED": _is_time,
    "COMPLETED": _is_time,
    "PRIORITY": _is_integer,
    "PERCENT-COMPLETE": _is_integer,
    "GEO": _is_place,
}


def unreadable_properties(*, component: Component, attachment_octets: int) -> Iterator[tuple[ContentLine, str]]:
    """Lines that cannot be read, each with a detail, sub-components included; inline data above the size as well."""
    for item in component.items:
        if isinstance(item, Component):
            yield from _unreadable_in_part(item, attachment_octets)
            continue
        check = _CHECKS.get(item.name)
        if check is not None and not check(item.value.strip()):
            yield item, item.name
        elif item.name == "ATTACH":
            detail = _attachment_trouble(item, attachment_octets)
            if detail:
                yield item, detail


def _unreadable_in_part(part: Component, attachment_octets: int) -> Iterator[tuple[ContentLine, str]]:
    for line in part.lines():
        if line.name == "":
            yield line, line.raw[:60]
        elif line.name == "TRIGGER" and part.name == "VALARM" and trigger_of(line) is None:
            yield line, "TRIGGER"
        elif line.name == "ATTACH":
            detail = _attachment_trouble(line, attachment_octets)
            if detail:
                yield line, detail


def _attachment_trouble(line: ContentLine, attachment_octets: int) -> str:
    inline = (parameter(line, name="VALUE") or "").upper() == "BINARY" or parameter(line, name="ENCODING") is not None
    if not inline and line.value[:5].lower() != "data:":
        return ""
    if len(line.value) * 3 // 4 > attachment_octets:
        return f"ATTACH holds about {len(line.value) * 3 // 4} octets"
    if inline and not _BASE64.match(line.value):
        return "ATTACH is not base64"
    return ""


def trigger_of(line: ContentLine) -> TimeValue | tuple[int, int] | None:
    """A TRIGGER: an instant, or nominal days and exact milliseconds; None when it cannot be read."""
    at = parse_time(line.value.strip())
    if at is not None:
        return at
    duration = parse_duration(line.value)
    return None if duration is None else (duration.days, duration.exact_ms)


def absolute_triggers(*, component: Component) -> Iterator[ContentLine]:
    """TRIGGER lines with a DATE-TIME."""
    for alarm in component.components(name="VALARM"):
        for line in alarm.all("TRIGGER"):
            if parse_time(line.value.strip()) is not None:
                yield line


def without_lines(*, component: Component, dropped: set[int]) -> Component:
    """The component without the lines of those numbers; an alarm that loses its TRIGGER goes as a whole."""
    items: list[ContentLine | Component] = []
    for item in component.items:
        if isinstance(item, Component):
            kept = without_lines(component=item, dropped=dropped)
            if item.name == "VALARM" and item.first("TRIGGER") is not None and kept.first("TRIGGER") is None:
                continue
            items.append(kept)
        elif item.number not in dropped:
            items.append(item)
    return Component(component.name, component.number, items)
