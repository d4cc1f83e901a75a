"""Reads that may have to wait for the worker process: many series to expand, while the lane serves others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from apps.calendars.actions.working import TooSlow, worker_lines
from apps.calendars.queries.expanding import ReckonAside, may_wait
from apps.core.jobs import run_job
from apps.core.threads import Steps

TRIES = 3
"""How often a read begins again because the calendar changed meanwhile."""


def reckoned(request: Any, *, read: Callable[[], Any], render: Callable[[Any], Any]) -> Any:
    """Read and render; what is too much for the lane is reckoned beside it, and the caller waits for that."""

    def attempt() -> Any:
        with may_wait():
            return read()

    try:
        return render(attempt())
    except ReckonAside as met:
        first = met

    async def work(steps: Steps) -> Any:
        need = first
        for _ in range(TRIES):
            need.shelve(await steps.aside(partial(expand, need)))
            try:
                return await steps.lane(attempt)
            except ReckonAside as again:
                need = again
        raise TooSlow("The calendar changed again and again while it was read; try again.")

    return run_job(request, work=work, render=render)


def expand(need: ReckonAside) -> list[bytes]:
    """Run the worker process over the series."""
    return list(worker_lines("expand", options=need.options, parts=need.parts()))


async def unused(steps: Steps) -> Any:
    """Stand in for the work of a job that runs already."""
