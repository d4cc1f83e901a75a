"""The lane: one owned thread for all of Django, with grouped commits.

Under ASGI, Django would make a thread and a database connection for every request. The lane runs every request,
frame and timer job in one thread instead. Jobs that may share a commit run together: one transaction around them, one
commit, then all answers at once, so that `synchronous=FULL` is paid once per group. If one of them fails, all of it is
undone and each runs again by itself, so that nobody's failure is another's and no job pays for a savepoint.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

from django.db import close_old_connections, connection, transaction

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


@dataclass(slots=True)
class Job:
    """One call waiting for the lane."""

    call: Callable[[], Any]
    grouped: bool
    loop: asyncio.AbstractEventLoop | None
    future: asyncio.Future[Any]
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

    def start(self) -> None:
        """Start the thread once."""
        if self.thread is None:
            self.thread = threading.Thread(target=self._work, name="sayso-lane", daemon=True)
            self.thread.start()

    def run(self, call: Callable[[], Any], *, grouped: bool = False) -> asyncio.Future[Any]:
        """Queue a call and return a future of the running loop for its result."""
        loop = asyncio.get_running_loop()
        job = Job(call=call, grouped=grouped, loop=loop, future=loop.create_future())
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
            if len(batch) > 1:
                self._run_group(batch)
            else:
                _run_one(batch[0])
            _answer(batch)

    def _take(self) -> list[Job]:
        batch = [self.jobs.popleft()]
        # On PostgreSQL a group would keep the ledger's head locked while it takes further confirmations: two processes
        # could wait for each other. There the row locks let processes commit side by side instead.
        together = batch[0].grouped and connection.vendor == "sqlite"
        while together and self.jobs and self.jobs[0].grouped and len(batch) < GROUP_LIMIT:
            batch.append(self.jobs.popleft())
        return batch

    def _run_group(self, batch: list[Job]) -> None:
        close_old_connections()
        with suppress(BaseException), transaction.atomic():
            for job in batch:
                job.result = job.call()
                if connection.needs_rollback:
                    raise GroupSpoiled
            return
        # Nothing of the group is stored. Whoever failed fails again, alone.
        for job in batch:
            job.result = None
            _run_one(job, atomic=True)


class GroupSpoiled(Exception):
    """A job of the group left the common transaction unfit for a commit."""


def _run_one(job: Job, *, atomic: bool = False) -> None:
    try:
        close_old_connections()
        with transaction.atomic() if atomic else nullcontext():
            job.result = job.call()
    except BaseException as error:  # noqa: BLE001 (handed to the caller)
        job.error = error


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
