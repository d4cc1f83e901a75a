"""Announcing: what was committed is told to this process and to the others.

An announcement is a small JSON object: `event` (dotted name), `keys` (what waiters may be released by) and facts. The
database row stays the truth: a lost announcement costs a re-read, never a wrong answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from django.db import transaction

from apps.core.failpoints import reach

log = logging.getLogger("sayso.announce")

Listener = Callable[[dict[str, Any]], None]
Relay = Callable[[dict[str, Any]], None]

_listeners: list[Listener] = []
_outbox: deque[dict[str, Any]] = deque()
_posting = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_relay: Relay | None = None


def listen(listener: Listener) -> None:
    """Call the listener, on the serving loop, for each announcement."""
    if listener not in _listeners:
        _listeners.append(listener)


def bind(loop: asyncio.AbstractEventLoop | None, relay: Relay | None = None) -> None:
    """Name the serving loop of this process and, with several processes, what carries announcements to the others."""
    global _loop, _relay
    _loop, _relay = loop, relay
    _outbox.clear()


def serving_loop() -> asyncio.AbstractEventLoop | None:
    """Return the serving loop of this process, None where nothing is served."""
    return None if _loop is None or _loop.is_closed() else _loop


def announce(event: str, *, keys: tuple[str, ...] = (), local: Any = None, **facts: Any) -> None:
    """Tell everybody after the commit of the transaction around; `local` reaches listeners of this process only."""
    announce_all([announcement(event, keys=keys, local=local, **facts)])


def announcement(event: str, *, keys: tuple[str, ...] = (), local: Any = None, **facts: Any) -> dict[str, Any]:
    """Return what `announce_all` tells."""
    return {"event": event, "keys": list(keys), "local": local, **facts}


def announce_all(messages: Sequence[dict[str, Any]]) -> None:
    """Tell everybody each of these after the commit of the transaction around, in their order."""
    # Robust: what was committed is done, so a relay that fails must not answer the caller otherwise.
    transaction.on_commit(partial(_committed, messages), robust=True)


@contextlib.contextmanager
def gathered() -> Iterator[list[dict[str, Any]]]:
    """Keep back what this thread commits within the block; whoever gathers tells it with `post_all` afterwards."""
    messages: list[dict[str, Any]] = []
    _thread.gathering = messages
    try:
        yield messages
    finally:
        _thread.gathering = None


_thread = threading.local()


def _committed(messages: Sequence[dict[str, Any]]) -> None:
    gathering = getattr(_thread, "gathering", None)
    if gathering is None:
        post_all(messages)
    else:
        gathering.extend(messages)


def post_all(messages: Sequence[dict[str, Any]], *, wake: bool = True) -> None:
    """Tell what was committed, in its order; without `wake` the caller sees to it that the loop runs `drain` soon."""
    for message in messages:
        try:
            _post(message, wake=wake)
        except Exception:
            log.exception("%s could not be told", message["event"])


def _post(message: dict[str, Any], *, wake: bool = True) -> None:
    reach("announce.before")
    loop = _loop
    if loop is not None and not loop.is_closed():
        # External calls commit beside the lane: of two messages at once exactly one must count as the first.
        with _posting:
            _outbox.append(message)
            first = len(_outbox) == 1
        # From a foreign thread only call_soon_threadsafe wakes the loop; one wake-up serves a whole group of commits.
        if first and wake:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(drain)
    if _relay is not None:
        _relay({name: value for name, value in message.items() if name != "local"})
    reach("announce.after")


def drain() -> None:
    """Deliver what was posted; runs on the serving loop."""
    while _outbox:
        # Removed only after its delivery, so that nobody schedules a second drain meanwhile.
        deliver(_outbox[0])
        _outbox.popleft()


def deliver(message: dict[str, Any]) -> None:
    """Hand an announcement to every listener of this process; runs on the serving loop."""
    for listener in list(_listeners):
        try:
            listener(message)
        except Exception:
            log.exception("a listener failed on %s", message.get("event"))
