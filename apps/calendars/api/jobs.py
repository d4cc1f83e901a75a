"""Long work beside the lane: a process for the reckoning, small jobs in the lane for the storing."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from rest_framework.response import Response

from apps.calendars.actions.working import Steps, run_inline
from apps.core.announce import announce, listen
from apps.core.api import defer, rendering_of
from apps.core.errors import SaysoError
from apps.core.sockets import keep
from apps.core.values import new_id, now_ms
from apps.core.waiting import Deferral

log = logging.getLogger("sayso.jobs")
JOB_MS = 300_000
KEPT = 200
Work = Callable[[Steps], Awaitable[Any]]


@dataclass(slots=True)
class Result:
    """What became of a job."""

    value: Any = None
    error: SaysoError | None = None
    done: bool = False


_results: OrderedDict[str, Result] = OrderedDict()
_works: dict[str, Work] = {}


def under_the_lane(request: Any) -> bool:
    """Tell whether the waiting layer and the lane are around this request."""
    return hasattr(getattr(request, "_request", request), "scope")


def run_job(request: Any, *, work: Work, render: Callable[[Any], Response]) -> Response:
    """Start a job and let the waiting layer hold the connection until it ends; then render its result."""
    rendering = rendering_of(request)
    if rendering is not None:
        result = _results.get(rendering.subject, Result())
        if not result.done:
            if rendering.cause == "released":
                return _held(rendering.subject)
            return Response({"status": "pending", "detail": "This goes on; look at the calendar later."}, status=202)
        if result.error is not None:
            raise result.error
        return render(result.value)
    if not under_the_lane(request):
        return render(run_inline(work(Steps(inline=True))))
    name = new_id()
    _results[name] = Result()
    while len(_results) > KEPT:
        _results.popitem(last=False)
    _works[name] = work
    with transaction.atomic():
        announce("job.started", job=name)
    return _held(name)


def _held(name: str) -> Response:
    response = Response({"status": "pending", "detail": "This is being worked on."}, status=202)
    deferral = Deferral(key=f"job:{name}", until_ms=now_ms() + JOB_MS, subject=name)
    return defer(response, deferral)


def hear(message: dict[str, Any]) -> None:
    """Begin a job that was announced in this process; runs on the serving loop."""
    if message["event"] == "job.started" and message["job"] in _works:
        keep(asyncio.ensure_future(_work(message["job"], _works.pop(message["job"]))))


listen(hear)


async def _work(name: str, work: Work) -> None:
    result, steps = _results[name], Steps(inline=False)
    try:
        result.value = await work(steps)
    except SaysoError as error:
        result.error = error
    except Exception:
        log.exception("a job failed")
        result.error = SaysoError("This could not be finished.", code="job_failed", status=500)
    result.done = True
    await steps.lane(lambda: _tell(name))


def _tell(name: str) -> None:
    with transaction.atomic():
        announce("job.ended", keys=(f"job:{name}",))
