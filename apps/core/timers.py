"""Timers: what becomes due is done at its moment, without a polling tick.

A timer knows when its next work is due (a query) and how to do all that is due (an action); both run in the lane.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from apps.core import announce
from apps.core.sockets import keep
from apps.core.threads import lane
from apps.core.values import Timer as Handle
from apps.core.values import clock, now_ms

log = logging.getLogger("sayso.timers")

RETRY_MS = 5_000


@dataclass(slots=True)
class Timer:
    """One kind of due work."""

    name: str
    next_due_ms: Callable[[], int | None]
    run_due: Callable[..., Any]
    event: str
    """The announcement whose `deadline` may be earlier than all others."""
    handle: Handle | None = None
    armed_ms: int | None = None
    working: bool = field(default=False)

    def arm(self, at_ms: int | None) -> None:
        """Fire at this moment, unless an earlier one is armed already."""
        if at_ms is None or (self.armed_ms is not None and self.armed_ms <= at_ms):
            return
        if self.handle is not None:
            self.handle.cancel()
        self.armed_ms = at_ms
        self.handle = clock().call_at(at_ms, self.fire)

    def fire(self) -> None:
        """Do what is due, then wait for the next."""
        self.handle, self.armed_ms = None, None
        keep(asyncio.ensure_future(self.work()))

    async def work(self) -> None:
        """Do what is due and arm for what comes next."""
        self.working = True
        try:
            await lane.run(lambda: self.run_due(now_ms=now_ms()))
            self.arm(await lane.run(self.next_due_ms))
        except Exception:
            log.exception("the timer %s failed; it tries again", self.name)
            self.arm(now_ms() + RETRY_MS)
        finally:
            self.working = False

    def hear(self, message: dict[str, Any]) -> None:
        """Arm earlier when something with an earlier deadline was announced."""
        if message["event"] == self.event:
            self.arm(message.get("deadline"))


_timers: dict[str, Timer] = {}


def register(timer: Timer) -> None:
    """Add a kind of due work."""
    if timer.name not in _timers:
        _timers[timer.name] = timer
        announce.listen(timer.hear)


async def start_all() -> None:
    """Do what became due while the server was down, and arm every timer."""
    for timer in _timers.values():
        await timer.work()
