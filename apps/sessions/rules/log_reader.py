"""Reading and writing whole stored logs, line by line, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from apps.sessions.rules.envelope import check_header
from apps.sessions.rules.event_types import is_known, message_of
from apps.sessions.rules.log_frames import PIECE, frame_after, frames_of, pieces_of, write_frames
from apps.sessions.rules.log_rows import TooManySources, Undecodable, decode_row, encode_row
from apps.sessions.rules.messages import check_message
from apps.sessions.rules.plain_json import Event, compact, members, parse_json
from apps.sessions.rules.refusals import LogCorrupt, LogRefused, LogTooLarge

_RETIRED = frozenset({"message.retired_block", "request.retired_system"})
_STRICT_EVEN_TORN = frozenset({"system/message", "tool/result"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How much of a log is read before it is refused.

    Its text, its lines, one line, the arrays and objects in it and in one line (they take more memory and time than
    their bytes tell), and the numbers in all source lists.
    """

    text_bytes: int = 256 * 1024 * 1024
    lines: int = 4_000_000
    line_bytes: int = 8 * 1024 * 1024
    containers: int = 8_000_000
    line_containers: int = 500_000
    sources: int = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Torn:
    """Where the readable part ends: after `events` events; so many complete lines and left-over bytes were dropped."""

    events: int
    lines: int
    bytes_left: int


class LogReader:
    """Gives a stored log's header and then, once, its events; `torn` says afterwards whether its tail was cut off.

    The events are not validated. A damaged log may raise LogCorrupt only after some of its events were given.
    """

    def __init__(self, data: bytes, *, compressed: bool = True, limits: Limits | None = None) -> None:
        """Read the header only."""
        self.torn: Torn | None = None
        self.line_bytes = 0
        """How long the line of the event that was given last is."""
        self._limits = limits or Limits()
        self._left = 0
        self._cut = False
        self._lines = self._split(self._frames(data) if compressed else self._plain(data))
        self.header = header_of(next(self._lines, None))

    def __iter__(self) -> Iterator[Event]:
        room, count = self._limits.sources, 0
        for line in self._lines:
            try:
                event = decode_row(line, room=room)
                fits = type(event["seq"]) is int and event["seq"] == count
            except TooManySources:
                raise LogTooLarge from None
            except Undecodable:
                fits = False
            if not fits:
                dropped = self._drop(chain((line,), self._lines))
                self.torn = Torn(events=count, lines=dropped, bytes_left=self._left)
                return
            sources = event.get("sourceEventSeqs")
            room -= len(sources) if isinstance(sources, list) else 0
            count += 1
            self.line_bytes = len(line)
            yield event
        if self._left or self._cut:
            self.torn = Torn(events=count, lines=0, bytes_left=self._left)

    def _drop(self, lines: Iterator[bytes]) -> int:
        """Count the lines of a torn tail; a turn that ended there, retired syntax or a bad message is no torn tail."""
        dropped = 0
        for line in lines:
            dropped += 1
            if not line.startswith(b"{"):
                continue
            try:
                event = decode_row(line, room=self._limits.sources)
            except Undecodable:
                continue
            if dropped > 1 and event["type"] == "turn/end":
                raise LogCorrupt("The log is damaged: a line in it cannot be read although a turn ends after it.")
            _check_torn(event)
        return dropped

    def _frames(self, data: bytes) -> Iterator[bytes]:
        first = True
        for frame in frames_of(data):
            if not frame.whole:
                if first or frame_after(data, start=frame.start):
                    raise LogCorrupt("The log is damaged: a frame in it is cut off although others follow.")
                self._cut = True
            yield from pieces_of(data, frame=frame)
            first = False

    def _plain(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), PIECE):
            yield data[start : start + PIECE]

    def _split(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Give whole lines; what follows the last line end is counted, not given."""
        total, count, rest, limits = 0, 0, bytearray(), self._limits
        containers = 0
        for piece in pieces:
            *lines, tail = piece.split(b"\n")
            total, count = total + len(piece), count + len(lines)
            if total > limits.text_bytes or count > limits.lines or len(rest) > limits.line_bytes:
                raise LogTooLarge
            for line in lines:
                rest += line
                held = rest.count(b"{") + rest.count(b"[")
                containers += held
                if held > limits.line_containers or containers > limits.containers:
                    raise LogTooLarge
                yield bytes(rest)
                rest.clear()
            rest += tail
        self._left = len(rest)


def _check_torn(event: Any) -> None:
    """Refuse what even a torn tail must not hold."""
    kind = event["type"]
    if not isinstance(kind, str) or not is_known(kind):
        return
    if members(event.get("surfaceOp")).keys() == {"op", "start", "end"}:
        raise LogRefused("surface.bad_op", seq=event["seq"])
    try:
        check_message(event)
    except LogRefused as refused:
        wrapped = members(message_of(event).get("source")).get("kind") == "plugin"
        if refused.reason in _RETIRED or kind in _STRICT_EVEN_TORN or wrapped:
            raise


def header_of(line: bytes | None) -> dict[str, Any]:
    """Return the header of a log from its first line, without the `type` that only the disk has."""
    if line is None:
        raise LogCorrupt("The log is damaged: its first line is missing.")
    try:
        header = parse_json(line.decode("utf-8"))
    except ValueError:
        raise LogCorrupt("The log is damaged: its first line cannot be read.") from None
    if not isinstance(header, dict):
        raise LogCorrupt("The log is damaged: its first line is no header.")
    own = {name: value for name, value in header.items() if name != "type"}
    check_header(own)
    if header.get("type") != "session":
        raise LogRefused("header.missing_field" if "type" not in header else "header.field_type")
    return own


def peek_header(data: bytes, *, compressed: bool = True) -> dict[str, Any]:
    """Return the header from the beginning of a log; of a compressed one its first frame is enough."""
    return LogReader(data, compressed=compressed).header


def write_log(*, header: dict[str, Any], batches: Iterable[Iterable[Event]], compressed: bool = True) -> bytes:
    """Return a log as the host stores it: the header in a frame of its own, then a frame for each batch."""
    first = compact({"type": "session", **header}) + "\n"
    texts = chain([first], ("".join(map(encode_row, batch)) for batch in batches))
    encoded = (text.encode("utf-8", "backslashreplace") for text in texts if text)
    return write_frames(encoded) if compressed else b"".join(encoded)
