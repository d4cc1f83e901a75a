"""The text of a stored object: one VCALENDAR with the zones and the components of one UID."""

from collections.abc import Iterable, Iterator

from apps.calendars.rules.content_lines import Component, ContentLine, component_lines, parameter, write_lines

PRODUCT_ID = "-//Sayso//Sayso//EN"
_HEAD = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:{PRODUCT_ID}\r\n"
_FOOT = "END:VCALENDAR\r\n"


def object_text(*, components: Iterable[Component], definitions: dict[str, str]) -> str:
    """The text of components with those VTIMEZONEs of `definitions` that they name."""
    parts = [_HEAD]
    bodies = []
    named: dict[str, None] = {}
    for component in components:
        named.update(dict.fromkeys(zone_names(component)))
        bodies.append(write_lines(component_lines(component)))
    parts += [write_lines(definitions[name].split("\r\n")) for name in named if name in definitions]
    return "".join([*parts, *bodies, _FOOT])


def zone_names(component: Component) -> Iterator[str]:
    """TZIDs that the lines of a component and its parts name, with repetitions."""
    for item in component.items:
        if isinstance(item, ContentLine):
            if item.params and "TZID" in item.params.upper():
                name = parameter(item, name="TZID")
                if name:
                    yield name
        else:
            yield from zone_names(item)
