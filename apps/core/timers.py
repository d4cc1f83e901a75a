"""Timers: what becomes due is done at its moment, without a polling tick.

A timer knows when its next work is due (a query) and how to do what is due (an action). Work for other programs than a
server (`dispatches`) may be left to a process of its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from apps.core import announce
from apps.core.alarms import alarm_at
from apps.core.sockets import keep
from apps.core.threads import lane
from apps.core.values import Timer as Handle
from apps.core.values import now_ms

log = logging.getLogger("sayso.timers")

RETRY_MS = 5_000
BUSY_MS = 50
"""How long to leave what is due but was not done, because another process is at it."""
MORE: Final = "more"
"""What `run_due` returns when it let go of the lane before everything that is due was done."""


async def in_lane(call: Callable[[], Any]) -> Any:
    """Run a call in the lane."""
    return await lane.run(call)


@dataclass(slots=True)
class Timer:
    """One kind of due work."""

    name: str
    next_due_ms: Callable[[], int | None]
    run_due: Callable[..., Any]
    event: str
    """The announcement whose `deadline` may be earlier than all others."""
    dispatches: bool = False
    """Whether `manage.py dispatch` may do this instead of the server."""
    run: Callable[[Callable[[], Any]], Awaitable[Any]] = field(default=in_lane)
    """How `run_due` is called: in the lane, or beside it when it waits for other hosts."""
    handle: Handle | None = None
    armed_ms: int | None = None
    working: bool = field(default=False)
    again: bool = False
    asleep: bool = False
    """Left to another process: nothing wakes it."""

    def arm(self, at_ms: int | None) -> None:
        """Fire at this moment, unless an earlier one is armed already."""
        if self.asleep or at_ms is None or (self.armed_ms is not None and self.armed_ms <= at_ms):
            return
        if self.handle is not None:
            self.handle.cancel()
        self.armed_ms = at_ms
        self.handle = alarm_at(at_ms, self.fire)

    def fire(self) -> None:
        """Do what is due, then wait for the next; any number of wakes during the work cause one more round."""
        self.handle, self.armed_ms = None, None
        if self.working:
            self.again = True
        else:
            # Marked here: a second wake may come before the task begins.
            self.working = True
            keep(asyncio.ensure_future(self.work()))

    async def work(self) -> None:
        """Do what is due and arm for what comes next."""
        self.working = True
        try:
            await self.rounds()
        except Exception:
            log.exception("the timer %s failed; it tries again", self.name)
            self.arm(now_ms() + RETRY_MS)
        finally:
            self.working = False

    async def rounds(self) -> None:
        """Do what is due until nothing asks for another round."""
        self.again = True
        while self.again:
            self.again = False
            moment = now_ms()
            while await self.run(lambda at=moment: self.run_due(now_ms=at)) is MORE:  # type: ignore[misc]
                moment = now_ms()
            due = await in_lane(self.next_due_ms)
        self.arm(now_ms() + BUSY_MS if due is not None and due <= moment else due)

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


async def start_all(*, serving: bool = True, dispatching: bool = True) -> None:
    """Do what became due while nothing ran, and arm every timer; what this process leaves to others sleeps."""
    for timer in _timers.values():
        timer.asleep = not (dispatching if timer.dispatches else serving)
    for timer in _timers.values():
        if not timer.asleep:
            await timer.work()
