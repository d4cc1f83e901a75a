"""One line of a stored log: an event, its long source lists written as ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from apps.sessions.rules.envelope import ALLOWED, REQUIRED
from apps.sessions.rules.event_types import ROLES
from apps.sessions.rules.plain_json import Event, compact, is_count, parse_json

_ORDER = ("type", "seq", "time", "data", "ignorable", "sourceEventSeqs", "surfaceOp")
"""As hosts write them, so that what was read is written with the same bytes."""
RUN_LENGTH = 3
"""So many numbers in a row become a pair."""


class Undecodable(ValueError):
    """A line that is no event; whether that is a torn tail or damage depends on what follows."""


class TooManySources(Undecodable):
    """A source list that would unfold to more numbers than there is room for."""


def encode_ranges(seqs: Sequence[int]) -> list[int | list[int]]:
    """Return a source list with its runs as pairs; a list that does not rise all along stays as it is."""
    if not all(one < other for one, other in pairwise(seqs)):
        return list(seqs)
    coded: list[int | list[int]] = []
    for run in _runs(seqs):
        coded += [[run[0], run[-1]]] if len(run) >= RUN_LENGTH else run
    return coded


def _runs(seqs: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for seq in seqs:
        if run and seq != run[-1] + 1:
            yield run
            run = []
        run.append(seq)
    if run:
        yield run


def decode_ranges(coded: Any, *, seq: int, room: int = 10_000_000) -> list[int]:
    """Return the source list of event `seq`; `room` is how many numbers it may unfold to."""
    if not isinstance(coded, list) or not is_count(seq):
        raise Undecodable("no list of sources")
    seqs: list[int] = []
    for one in coded:
        first, last = one if isinstance(one, list) and len(one) == 2 else (one, one)
        if not is_count(first) or not is_count(last) or not first <= last < seq:
            raise Undecodable("a source that is not earlier")
        if last - first >= room - len(seqs):
            raise TooManySources("too many sources")
        seqs.extend(range(first, last + 1))
    if any(isinstance(one, list) for one in coded):
        if not all(one < other for one, other in pairwise(seqs)):
            raise Undecodable("ranges that do not rise")
    elif len(set(seqs)) != len(seqs):
        raise Undecodable("a source named twice")
    return seqs


def encode_row(event: Event) -> str:
    """Return the line of an event, with its line end."""
    row = {name: event[name] for name in _ORDER if name in event}
    if "sourceEventSeqs" in event and event["type"] in ROLES:
        row["sourceEventSeqs"] = encode_ranges(event["sourceEventSeqs"])
    # A lone surrogate has no UTF-8; as an escape it survives.
    return compact(row).encode("utf-8", "backslashreplace").decode() + "\n"


def decode_row(line: bytes, *, room: int = 10_000_000) -> Event:
    """Return the event of a line; `room` is how many sources it may unfold to."""
    if not line.startswith(b"{"):
        raise Undecodable("no object")
    try:
        row = parse_json(line.decode("utf-8"))
    except ValueError:
        raise Undecodable("no JSON") from None
    if not isinstance(row, dict) or not row.keys() <= ALLOWED or not all(name in row for name in REQUIRED):
        raise Undecodable("not the fields of an event")
    # On an event that a reader may ignore they are no sources, whatever they are.
    if "sourceEventSeqs" in row and isinstance(row["type"], str) and row["type"] in ROLES:
        row["sourceEventSeqs"] = decode_ranges(row["sourceEventSeqs"], seq=row["seq"], room=room)
    return row
