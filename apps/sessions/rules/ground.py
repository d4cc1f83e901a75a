"""What a check may look up about the events before, whatever the length of the log, and what an event changes there.

The surface is kept as *places*: an appended event stands at the place that is its own number, a replacement takes over
the place of the first node that it removes. So order is the order of places, nothing is ever renumbered, and a change
touches only the nodes that leave.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from apps.core.text import storable
from apps.sessions.rules.plain_json import Event

KEY_LENGTH = 200


class Node(NamedTuple):
    """An event on the surface and where it stands."""

    place: int
    seq: int


class Mark(NamedTuple):
    """A thing that happened once by a name: `turn`, `turn-end`, `reply`, `command`, `child` or `removed`."""

    kind: str
    key: str
    seq: int


class Change(NamedTuple):
    """What one accepted event changes beyond lengthening the log.

    `removed` left the surface, in order; `place` is where the event itself stands, None off the surface; `cites` are
    its sources; of two marks of one kind and key the first holds.
    """

    place: int | None = None
    removed: tuple[int, ...] = ()
    cites: tuple[int, ...] = ()
    marks: tuple[Mark, ...] = ()


class Ground(Protocol):
    """The log so far, answering each question at a cost that does not grow with its length."""

    def event(self, seq: int) -> Event | None:
        """Return an event by its number, or None."""

    def events(self, *, first: int, last: int) -> Iterator[Event]:
        """Give the events from one number to another, both included."""

    def place(self, seq: int) -> int | None:
        """Return where an event stands on the surface, None when it is not there."""

    def span(self, *, first: int, last: int) -> Iterator[Node]:
        """Give the nodes from one place to another in order, both included."""

    def mark(self, *, kind: str, key: str) -> int | None:
        """Return the number kept with a mark, or None."""

    def citers(self, seq: int) -> Iterable[int]:
        """Give the events that name this one as a source."""

    def take(self, *, event: Event, change: Change) -> None:
        """Add an accepted event."""


def mark_key(text: str) -> str:
    """Return the key of a mark: the text itself, or its hash when a database or an index could not hold it."""
    if len(text) <= KEY_LENGTH and not text.startswith("sha256:") and storable(text):
        return text
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


class MemoryGround:
    """A log held in memory: dictionaries, and the surface as a linked list of places."""

    def __init__(self) -> None:
        """Start with an empty log."""
        self._events: list[Event] = []
        self._places: dict[int, int] = {}
        self._at: dict[int, int] = {}
        self._next: dict[int, int] = {}
        self._first = self._last = -1
        self._marks: dict[tuple[str, str], int] = {}
        self._citers: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self._events)

    def event(self, seq: int) -> Event | None:
        """Return an event by its number, or None."""
        return self._events[seq] if 0 <= seq < len(self._events) else None

    def events(self, *, first: int, last: int) -> Iterator[Event]:
        """Give the events from one number to another, both included."""
        for seq in range(max(first, 0), min(last + 1, len(self._events))):
            yield self._events[seq]

    def place(self, seq: int) -> int | None:
        """Return where an event stands on the surface, None when it is not there."""
        return self._places.get(seq)

    def span(self, *, first: int, last: int) -> Iterator[Node]:
        """Give the nodes from one place to another in order, both included; `first` must be taken."""
        place = first
        while place in self._at and place <= last:
            yield Node(place, self._at[place])
            place = self._next.get(place, -1)

    def nodes(self) -> list[int]:
        """Return the whole surface in order."""
        return [node.seq for node in self.span(first=self._first, last=self._last)] if self._at else []

    def mark(self, *, kind: str, key: str) -> int | None:
        """Return the number kept with a mark, or None."""
        return self._marks.get((kind, key))

    def lay(self, nodes: Sequence[int]) -> None:
        """Put a surface in the place of the one that the events made, whatever it is."""
        self._at = dict(enumerate(nodes))
        self._places = {seq: place for place, seq in self._at.items()}
        self._next = {place: place + 1 for place in range(len(nodes) - 1)}
        self._first, self._last = (0, len(nodes) - 1) if nodes else (-1, -1)

    def marks(self, *, kind: str) -> list[Mark]:
        """Return the marks of a kind in the order in which they were made."""
        return [Mark(kind, key, seq) for (one, key), seq in self._marks.items() if one == kind]

    def citers(self, seq: int) -> Iterable[int]:
        """Give the events that name this one as a source."""
        return self._citers.get(seq, ())

    def take(self, *, event: Event, change: Change) -> None:
        """Add an accepted event."""
        self._events.append(event)
        for cited in change.cites:
            self._citers.setdefault(cited, []).append(event["seq"])
        for mark in change.marks:
            self._marks.setdefault((mark.kind, mark.key), mark.seq)
        if change.place is not None:
            self._stand(event["seq"], change=change, place=change.place)

    def _stand(self, seq: int, *, change: Change, place: int) -> None:
        after = self._next.get(self._places[change.removed[-1]], -1) if change.removed else -1
        for gone in change.removed:
            left = self._places.pop(gone)
            del self._at[left]
            self._next.pop(left, None)
        self._places[seq], self._at[place] = place, seq
        if not change.removed:
            if self._first < 0:
                self._first = place
            else:
                self._next[self._last] = place
        elif after >= 0:
            self._next[place] = after
        if after < 0:
            self._last = place


class Overlay:
    """A few events on top of another ground, which stays as it is; `taken` says what to write when all are accepted."""

    def __init__(self, *, below: Ground) -> None:
        """Start with no events of its own."""
        self._below = below
        self.taken: list[tuple[Event, Change]] = []
        self._events: dict[int, Event] = {}
        self._places: dict[int, int] = {}
        self._at: dict[int, int] = {}
        self._gone: set[int] = set()
        self._marks: dict[tuple[str, str], int] = {}
        self._citers: dict[int, list[int]] = {}

    def event(self, seq: int) -> Event | None:
        """Return an event by its number, or None."""
        return self._events.get(seq) or self._below.event(seq)

    def events(self, *, first: int, last: int) -> Iterator[Event]:
        """Give the events from one number to another, both included."""
        yield from self._below.events(first=first, last=last)
        for seq, event in self._events.items():
            if first <= seq <= last:
                yield event

    def place(self, seq: int) -> int | None:
        """Return where an event stands on the surface, None when it is not there."""
        if seq in self._gone:
            return None
        return self._places[seq] if seq in self._places else self._below.place(seq)

    def span(self, *, first: int, last: int) -> Iterator[Node]:
        """Give the nodes from one place to another in order, both included; `first` must be taken."""
        own = iter(sorted(Node(place, seq) for place, seq in self._at.items() if first <= place <= last))
        waiting = next(own, None)
        # A place that a replacement took over is still held by the removed node below.
        for node in self._below.span(first=first, last=last):
            while waiting is not None and waiting.place <= node.place:
                yield waiting
                waiting = next(own, None)
            if node.seq not in self._gone:
                yield node
        while waiting is not None:
            yield waiting
            waiting = next(own, None)

    def mark(self, *, kind: str, key: str) -> int | None:
        """Return the number kept with a mark, or None."""
        below = self._below.mark(kind=kind, key=key)
        return self._marks.get((kind, key)) if below is None else below

    def citers(self, seq: int) -> Iterable[int]:
        """Give the events that name this one as a source."""
        return [*self._below.citers(seq), *self._citers.get(seq, ())]

    def take(self, *, event: Event, change: Change) -> None:
        """Add an accepted event."""
        seq = event["seq"]
        self.taken.append((event, change))
        self._events[seq] = event
        for cited in change.cites:
            self._citers.setdefault(cited, []).append(seq)
        for mark in change.marks:
            self._marks.setdefault((mark.kind, mark.key), mark.seq)
        for gone in change.removed:
            self._gone.add(gone)
            if gone in self._places:
                del self._at[self._places.pop(gone)]
        if change.place is not None:
            self._places[seq], self._at[change.place] = change.place, seq
