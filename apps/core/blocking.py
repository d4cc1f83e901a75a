"""Waiting in a thread: what runs beside the lane and may rest until something is announced."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

from apps.core import announce, waiting
from apps.core.values import clock


def block_until(holds: Callable[[], bool], *, key: str, within_ms: int) -> bool:
    """Block this thread, never the lane's, until something holds or the time is up; returns whether it holds.

    It is looked at anew at each release of the key. Without a serving loop nothing releases, so there is one look.
    """
    loop = announce.serving_loop()
    if loop is None:
        return holds()
    until_ms = clock().now_ms() + within_ms
    while True:
        # Seated before the look, so that no release falls between the two.
        seat: Seat = asyncio.run_coroutine_threadsafe(take_seat(key, until_ms), loop).result()
        try:
            if holds():
                return True
            loop.call_soon_threadsafe(seat.settle)
            seat.woken.wait()
        finally:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(seat.leave)
        if seat.cause != "released":
            return holds()


class Seat:
    """A thread's place among those that wait for a key; made and left on the serving loop."""

    def __init__(self, key: str, until_ms: int) -> None:
        """Sit down."""
        self.key = key
        self.cause = ""
        self.woken = threading.Event()
        self.future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.future.add_done_callback(self.wake)
        self.timer = clock().call_at(until_ms, self.time_out)
        self.hub = waiting.hub
        self.settled = False
        waiting.hub.sit(key, self.future)
        if waiting.hub.stopping and not self.future.done():
            self.future.set_result("stopping")

    def settle(self) -> None:
        """Note that the thread has looked and does nothing but wait."""
        if not self.future.done():
            self.settled = True
            self.hub.blocked += 1

    def time_out(self) -> None:
        """End the wait at its moment."""
        if not self.future.done():
            self.future.set_result("timeout")

    def wake(self, future: asyncio.Future[str]) -> None:
        """Let the thread go on."""
        self.hub.blocked -= self.settled
        self.cause = "" if future.cancelled() else future.result()
        self.woken.set()

    def leave(self) -> None:
        """Stand up."""
        self.timer.cancel()
        self.hub.leave(self.key, self.future)
        if not self.future.done():
            self.future.cancel()


async def take_seat(key: str, until_ms: int) -> Seat:
    """Return a new seat; runs on the serving loop."""
    return Seat(key, until_ms)
