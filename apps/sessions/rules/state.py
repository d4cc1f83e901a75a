"""What the checks keep between two events: small, whatever the length of the log, and writable as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

FORMAT = 1
"""Another number means: read the log again instead."""


@dataclass(kw_only=True, slots=True)
class Call:
    """A tool call that a reply announced and that has no result yet; `print` is the hash of its name and arguments."""

    advertised: int
    print: str
    started: int | None = None


@dataclass(kw_only=True, slots=True)
class Compaction:
    """The compaction that holds the lock, and how far it got.

    `marked` says that the summary names a person's removal as its producer, `replaced` is the event right after it when
    that one put its text on the surface.
    """

    seq: int
    id: str
    turn: int | None
    command: Any = None
    has_command: bool = False
    summary: int | None = None
    marked: bool = False
    replaced: int | None = None


@dataclass(kw_only=True, slots=True)
class State:
    """Where the log stands after its last event.

    `inherited` is the number of the last inherited marker (-1: none): what a fork owns comes after it. `replaces`
    counts the surface's replacements, so that a reader knows when to read it again.
    """

    seeded: bool = False
    next_seq: int = 0
    inherited: int = -1
    turn: int | None = None
    step: int | None = None
    next_turn: int = 1
    next_step: int = 1
    compaction: Compaction | None = None
    calls: dict[str, Call] = field(default_factory=dict)
    head: int | None = None
    head_is_system: bool = False
    nodes: int = 0
    replaces: int = 0
    ends_seed: bool = False
    last_time_ms: int = 0

    def dump(self) -> dict[str, Any]:
        """Return the state as JSON."""
        # Not asdict of the whole: it copies value by value and costs more than all checks of an event.
        dumped = {"format": FORMAT, **{name: getattr(self, name) for name in _NAMES}}
        dumped["calls"] = {call: asdict(parts) for call, parts in self.calls.items()}
        dumped["compaction"] = asdict(self.compaction) if self.compaction else None
        return dumped

    @classmethod
    def restored(cls, dumped: dict[str, Any]) -> State:
        """Return a state from its JSON; raises ValueError when it is of another make."""
        values = dict(dumped)
        if values.pop("format", None) != FORMAT or values.keys() != _NAMES:
            raise ValueError("a state of another make")
        values["calls"] = {call: Call(**parts) for call, parts in dumped["calls"].items()}
        values["compaction"] = Compaction(**dumped["compaction"]) if dumped["compaction"] else None
        return cls(**values)


_NAMES = {one.name: None for one in fields(State)}.keys()
