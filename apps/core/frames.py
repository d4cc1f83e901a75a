"""The registry of socket events: which function of which room answers an event name on which socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_frames: dict[tuple[str, str], Callable[..., Any]] = {}


def register(socket: str, event: str, call: Callable[..., Any]) -> None:
    """Let `call` answer the event on that kind of socket."""
    _frames[socket, event] = call


def call_for(socket: str, event: str) -> Callable[..., Any] | None:
    """Return what answers an event, or None."""
    return _frames.get((socket, event))


def all_frames() -> tuple[tuple[str, str], ...]:
    """Return every (socket, event) pair in order."""
    return tuple(sorted(_frames))
