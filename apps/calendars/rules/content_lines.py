"""Content lines and components of RFC 5545 section 3.1 as plain text: decode, split, build, fold."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

_NAME = re.compile(r"[A-Za-z0-9-]+\Z")
_PARAM = re.compile(r';?\s*([A-Za-z0-9-]+)\s*=\s*((?:"[^"]*(?:"|$)|[^;"])*)')
_ESCAPED = re.compile(r"\\([nN;,\\])")
_UNESCAPED_COMMA = re.compile(r"(?<!\\)((?:\\\\)*),")
_CONTROLS = {code: None for code in range(32) if code not in (9, 10)} | {127: None}
_FOLD_OCTETS = 75
# Longer names and parameters are read each time, so that no file can fill the memory of a server.
_REMEMBERED = 1_024


class ContentLine(NamedTuple):
    """One unfolded line; `name` is upper case, or empty when the line cannot be read; `number` counts lines from 0."""

    raw: str
    name: str
    params: str
    value: str
    number: int


class Component(NamedTuple):
    """A component with its lines and sub-components in file order."""

    name: str
    number: int
    items: "list[ContentLine | Component]"

    def lines(self) -> Iterator[ContentLine]:
        """Own content lines, without those of sub-components."""
        return (item for item in self.items if isinstance(item, ContentLine))

    def components(self, *, name: str) -> "list[Component]":
        """Direct sub-components of that name."""
        return [item for item in self.items if isinstance(item, Component) and item.name == name]

    def first(self, name: str) -> ContentLine | None:
        """First own line of that name."""
        for item in self.items:
            if isinstance(item, ContentLine) and item.name == name:
                return item
        return None

    def all(self, name: str) -> list[ContentLine]:
        """Own lines of that name."""
        return [item for item in self.items if isinstance(item, ContentLine) and item.name == name]

    def text(self, name: str) -> str:
        """Unescaped text of the first line of that name, or an empty string."""
        line = self.first(name)
        return unescape_text(line.value) if line is not None else ""


class Tree(NamedTuple):
    """The VCALENDARs of a stream; `complete` is false when it ends before END:VCALENDAR."""

    calendars: list[Component]
    complete: bool
    components: int
    dropped: list[Component]


def decode(*, data: bytes) -> tuple[str, bool]:
    """Unfolded text of the octets, and whether they were UTF-8.

    Unfolding comes first because old writers fold inside a character. Not UTF-8 means Windows-1252; its five
    unassigned octets become spaces, so that nothing unreadable is stored.
    """
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    if b"\0" in data:
        data = data.replace(b"\0", b"")
    data = data.replace(b"\r\r\n", b"\r\n")
    for fold in (b"\r\n ", b"\r\n\t", b"\n ", b"\n\t"):
        data = data.replace(fold, b"")
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace").replace("\ufffd", " "), False


def physical_lines(*, data: bytes) -> list[int]:
    """For each unfolded line its line in the file as it came, counted from 1."""
    lines = enumerate(data.split(b"\n"), start=1)
    return [index for index, line in lines if index == 1 or line[:1] not in (b" ", b"\t")]


def split_line(raw: str, *, number: int = 0) -> ContentLine:
    """A content line cut into name, parameters and value; the name is empty when it is none."""
    head, colon, value = raw.partition(":")
    if '"' in head and head.count('"') % 2:
        head, colon, value = _split_outside_quotes(raw)
    name, _, params = head.partition(";")
    known = _property_name(name) if len(name) <= _REMEMBERED else name.upper() * bool(_NAME.match(name))
    if not colon or not known:
        return ContentLine(raw, "", "", raw, number)
    return ContentLine(raw, known, params, value, number)


@lru_cache(maxsize=1024)
def _property_name(name: str) -> str:
    return name.upper() if _NAME.match(name) else ""


def _split_outside_quotes(raw: str) -> tuple[str, str, str]:
    quoted = False
    for index, char in enumerate(raw):
        if char == '"':
            quoted = not quoted
        elif char == ":" and not quoted:
            return raw[:index], ":", raw[index + 1 :]
    return raw.partition(":")


@lru_cache(maxsize=1024)
def _parameters(params: str) -> dict[str, str]:
    return {name.upper(): value.strip().strip('"') for name, value in _PARAM.findall(params)}


def parameter(line: ContentLine, *, name: str) -> str | None:
    """Value of a parameter without its quotes; an empty one is none."""
    if not line.params:
        return None
    known = _parameters(line.params) if len(line.params) <= _REMEMBERED else _parameters.__wrapped__(line.params)
    return known.get(name) or None


def parse_tree(*, text: str, depth: int = 8, components: int = 20_000) -> Tree:
    """Components of a stream; needless nesting is dropped, a missing END is closed by what follows.

    Reading stops after `components`, so that a bomb costs no more than a large calendar.
    """
    calendars: list[Component] = []
    dropped: list[Component] = []
    stack: list[Component] = []
    count = number = 0
    ended = False
    for raw in text.split("\n"):
        number += 1
        line = raw.rstrip("\r")
        if not line:
            continue
        if "\r" in line:
            # A bare CR is no line end: written as it would be in TEXT, it cannot become one later.
            line = line.replace("\r", "\\n")
        start = line[:6].upper()
        if start == "BEGIN:":
            name = line[6:].strip().upper()
            if name == "VCALENDAR":
                stack = [Component(name, number - 1, [])]
                calendars.append(stack[0])
                ended = False
                continue
            if not stack:
                continue
            if name in ("VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VTIMEZONE"):
                # These stand directly in VCALENDAR; one inside another means that an END is missing.
                del stack[1:]
            count += 1
            if count > components:
                return Tree(calendars, True, count, dropped)
            child = Component(name, number - 1, [])
            if len(stack) > depth:
                dropped.append(stack[1])
            else:
                stack[-1].items.append(child)
            stack.append(child)
        elif start[:4] == "END:" and stack:
            _close(stack=stack, name=line[4:].strip().upper())
            ended = not stack
        elif stack:
            stack[-1].items.append(split_line(line, number=number - 1))
    return Tree(calendars, ended and bool(calendars), count, dropped)


def _close(*, stack: list[Component], name: str) -> None:
    for index in range(len(stack) - 1, -1, -1):
        if stack[index].name == name:
            del stack[index:]
            return


def unfold(text: str) -> str:
    """Text without folds."""
    if "\n " in text or "\n\t" in text:
        for mark in ("\r\n ", "\r\n\t", "\n ", "\n\t"):
            text = text.replace(mark, "")
    return text


def fold(raw: str) -> str:
    """A content line folded at 75 octets on character borders, without the last CRLF."""
    if len(raw) <= _FOLD_OCTETS and (raw.isascii() or len(raw.encode()) <= _FOLD_OCTETS):
        return raw
    octets = raw.encode()
    pieces = []
    position, room = 0, _FOLD_OCTETS
    while len(octets) - position > room:
        cut = position + room
        while octets[cut] & 0xC0 == 0x80:
            cut -= 1
        pieces.append(octets[position:cut])
        position, room = cut, _FOLD_OCTETS - 1
    pieces.append(octets[position:])
    return b"\r\n ".join(pieces).decode()


def component_lines(component: Component) -> Iterator[str]:
    """Unfolded lines of a component from BEGIN to END."""
    yield "BEGIN:" + component.name
    for item in component.items:
        if isinstance(item, ContentLine):
            yield item.raw
        else:
            yield from component_lines(item)
    yield "END:" + component.name


def write_lines(lines: Iterable[str]) -> str:
    """Lines folded and ended with CRLF."""
    return "".join([fold(line) + "\r\n" for line in lines])


def unescape_text(value: str) -> str:
    """A TEXT value as people read it (RFC 5545 3.3.11)."""
    if "\\" not in value:
        return value
    return _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)


def escape_text(text: str) -> str:
    """Text as a TEXT value; line ends of every kind become \\n, other control characters are left out."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)
    for char in ("\\", ";", ","):
        text = text.replace(char, "\\" + char)
    return text.replace("\n", "\\n")


def split_list(value: str) -> list[str]:
    """A comma-separated TEXT list, unescaped."""
    parts = _UNESCAPED_COMMA.sub("\\1\n", value).split("\n")
    return [unescape_text(part) for part in parts]


def quoted_parameter(text: str) -> str:
    """A parameter value, in quotes where RFC 5545 3.2 asks for them."""
    clean = text.replace('"', "'").translate(_CONTROLS)
    return f'"{clean}"' if any(char in clean for char in ":;,") else clean
