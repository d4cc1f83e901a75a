"""A clock that stands still until it is moved."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from itertools import count


class Handle:
    """A call that was put off."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None

    def run(self) -> None:
        callback, self.callback = self.callback, None
        if callback is not None:
            callback()


class ManualClock:
    """Time as a test says it is; what is due runs when the clock is moved over its moment."""

    def __init__(self, now_ms: int) -> None:
        self.current_ms = now_ms
        self.order = count()
        self.waiting: list[tuple[int, int, Handle]] = []

    def now_ms(self) -> int:
        return self.current_ms

    def call_at(self, at_ms: int, callback: Callable[[], None]) -> Handle:
        handle = Handle(callback)
        if at_ms <= self.current_ms:
            asyncio.get_running_loop().call_soon(handle.run)
        else:
            heapq.heappush(self.waiting, (at_ms, next(self.order), handle))
        return handle

    def reset(self, now_ms: int) -> None:
        """Start anew at another moment; nothing waits any more."""
        self.current_ms = now_ms
        self.waiting.clear()

    async def advance(self, ms: int, rest: Callable[[], Awaitable[None]]) -> None:
        """Go on through every moment at which something is due; what it causes comes to rest before the next."""
        target_ms = self.current_ms + ms
        while moment := self.next_moment(target_ms):
            self.current_ms = moment
            while self.waiting and self.waiting[0][0] <= moment:
                heapq.heappop(self.waiting)[2].run()
            await rest()
        self.current_ms = target_ms
        await rest()

    def next_moment(self, target_ms: int) -> int | None:
        while self.waiting and self.waiting[0][2].callback is None:
            heapq.heappop(self.waiting)
        return self.waiting[0][0] if self.waiting and self.waiting[0][0] <= target_ms else None
