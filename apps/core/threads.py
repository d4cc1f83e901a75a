"""The lane: one owned thread for all of Django, with grouped commits.

Under ASGI, Django would make a thread and a database connection for every request. The lane runs every request,
frame and timer job in one thread instead. Jobs that may share a commit run together: one transaction around them, one
commit, then all answers at once, so that `synchronous=FULL` is paid once per group. If one of them fails, all of it is
undone and each runs again by itself, so that nobody's failure is another's and no job pays for a savepoint.

What a turn commits is told after it, all at once, and what it releases may be prepared right here before.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import close_old_connections, connection, transaction

from apps.core import announce, rows

log = logging.getLogger("sayso.lane")
GROUP_LIMIT = 512
TURN_S = 0.03


class Turn:
    """How long one job of a long piece of work keeps the lane; what does not fit is left to the next job."""

    def __init__(self) -> None:
        """Begin now."""
        self.end_s = time.monotonic() + TURN_S

    def over(self) -> bool:
        """Tell whether it is time to let others go first."""
        return time.monotonic() >= self.end_s


Together = Callable[[list[Any]], list[Any]]
"""Does the work of many callers at once: takes their items, returns an answer or an error for each."""


@dataclass(slots=True)
class Job:
    """One call waiting for the lane."""

    call: Callable[[], Any]
    grouped: bool
    loop: asyncio.AbstractEventLoop | None
    future: asyncio.Future[Any]
    together: Together | None = None
    item: Any = None
    result: Any = None
    error: BaseException | None = None


@dataclass(slots=True)
class Lane:
    """A thread that runs jobs in the order they come."""

    jobs: deque[Job] = field(default_factory=deque)
    wake: threading.Condition = field(default_factory=threading.Condition)
    thread: threading.Thread | None = None
    stopped: bool = False
    busy: int = 0
    prepare: Callable[[list[dict[str, Any]]], None] | None = None
    """Called in the lane with what a turn committed, before anybody hears of it."""

    def start(self) -> None:
        """Start the thread once."""
        if self.thread is None:
            self.thread = threading.Thread(target=self._work, name="sayso-lane", daemon=True)
            self.thread.start()

    def run(self, call: Callable[[], Any], *, grouped: bool = False) -> asyncio.Future[Any]:
        """Queue a call and return a future of the running loop for its result."""
        loop = asyncio.get_running_loop()
        return self._queue(Job(call=call, grouped=grouped, loop=loop, future=loop.create_future()))

    def run_together(self, together: Together, item: Any) -> asyncio.Future[Any]:
        """Queue an item for a function that does in one transaction what all who wait for it want.

        An error that it returns for an item is that caller's alone; one that it raises undoes the transaction, and each
        item is done again by itself.
        """
        loop = asyncio.get_running_loop()
        call = partial(_alone, together, item)
        future = loop.create_future()
        return self._queue(Job(call=call, grouped=True, loop=loop, future=future, together=together, item=item))

    def _queue(self, job: Job) -> asyncio.Future[Any]:
        with self.wake:
            self.jobs.append(job)
            self.wake.notify()
        self.start()
        return job.future

    def stop(self) -> None:
        """Let the thread end once the queue is empty."""
        with self.wake:
            self.stopped = True
            self.wake.notify()
        if self.thread is not None:
            self.thread.join(timeout=20)

    def idle(self) -> bool:
        """Tell whether nothing waits or runs."""
        with self.wake:
            return not self.jobs and not self.busy

    def _work(self) -> None:
        while True:
            with self.wake:
                self.busy = 0
                while not self.jobs and not self.stopped:
                    self.wake.wait()
                if not self.jobs:
                    connection.close()
                    return
                batch = self._take()
                self.busy = len(batch)
            with announce.gathered() as messages:
                if len(batch) > 1 or (batch[0].grouped and connection.vendor == "sqlite"):
                    self._run_group(batch)
                else:
                    _run_one(batch[0])
                if messages and self.prepare is not None:
                    self._prepare(messages)
            _tell(messages, batch)

    def _prepare(self, messages: list[dict[str, Any]]) -> None:
        assert self.prepare is not None
        try:
            self.prepare(list(messages))
        except Exception:
            log.exception("nothing was prepared")

    def _take(self) -> list[Job]:
        batch = [self.jobs.popleft()]
        # On PostgreSQL a group would keep the ledger's head locked while it takes further confirmations: two processes
        # could wait for each other. There the row locks let processes commit side by side instead.
        # What does its work together takes its locks in one order by itself.
        together = batch[0].grouped and (connection.vendor == "sqlite" or batch[0].together)
        while together and self.jobs and self._joins(batch[0], self.jobs[0]) and len(batch) < GROUP_LIMIT:
            batch.append(self.jobs.popleft())
        return batch

    def _joins(self, first: Job, job: Job) -> bool:
        return job.grouped and (connection.vendor == "sqlite" or job.together == first.together)

    def _run_group(self, batch: list[Job]) -> None:
        if connection.vendor != "sqlite":
            close_old_connections()
        with suppress(BaseException), rows.outermost(), rows.repeatable():
            for together, jobs in groupby(batch, key=attrgetter("together")):
                if together is None:
                    for job in jobs:
                        job.result = job.call()
                else:
                    _run_together(together, list(jobs))
                if connection.needs_rollback:
                    raise rows.Spoiled
            return
        # Nothing of the group is stored. Whoever failed fails again, alone.
        for job in batch:
            job.result = job.error = None
            _run_one(job, atomic=True)


def _run_together(together: Together, jobs: list[Job]) -> None:
    for job, answer in zip(jobs, together([job.item for job in jobs]), strict=True):
        if isinstance(answer, BaseException):
            job.error = answer
        else:
            job.result = answer


def _alone(together: Together, item: Any) -> Any:
    with transaction.atomic():
        [answer] = together([item])
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _run_one(job: Job, *, atomic: bool = False) -> None:
    try:
        close_old_connections()
        with transaction.atomic() if atomic else nullcontext():
            job.result = job.call()
    except BaseException as error:  # noqa: BLE001 (handed to the caller)
        job.error = error


def _tell(messages: list[dict[str, Any]], batch: list[Job]) -> None:
    """Tell what was committed, then hand out the results, with one wake-up of the loop if that can be."""
    loop = announce.serving_loop()
    at_once = bool(messages) and loop is not None and all(job.loop is loop for job in batch)
    announce.post_all(messages, wake=not at_once)
    if at_once:
        assert loop is not None
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_end_turn, batch)
    else:
        _answer(batch)


def _end_turn(batch: list[Job]) -> None:
    announce.drain()
    _set_results(batch)


def _answer(batch: list[Job]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[Job]] = {}
    for job in batch:
        if job.loop is not None:
            by_loop.setdefault(job.loop, []).append(job)
    for loop, jobs in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_set_results, jobs)


def _set_results(jobs: list[Job]) -> None:
    for job in jobs:
        if job.future.cancelled():
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.result)


lane = Lane()


class Steps:
    """How a job does things in the lane: one after the other, each a job of its own there."""

    def __init__(self, *, inline: bool) -> None:
        """Do steps right here when there is no lane around (tests, commands)."""
        self.inline = inline

    async def lane(self, call: Callable[[], Any]) -> Any:
        """Run a call in the lane and return its result."""
        return call() if self.inline else await lane.run(call)

    async def aside(self, call: Callable[[], Any]) -> Any:
        """Run a call in a thread of its own, where it may wait for a process."""
        return call() if self.inline else await asyncio.to_thread(call)


def run_inline(coroutine: Any) -> Any:
    """Run a job whose steps never wait to its end, without a loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("an inline job waited")
