"""Long work beside the lane: small jobs in it one after the other, while the waiting layer holds the connection."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from apps.core.announce import announce, listen
from apps.core.api import defer, rendering_of
from apps.core.errors import SaysoError, TooMany
from apps.core.responses import Response
from apps.core.sockets import keep
from apps.core.threads import Steps, run_inline
from apps.core.values import new_id, now_ms
from apps.core.waiting import Deferral, Rendering

log = logging.getLogger("sayso.jobs")
JOB_MS = 300_000
JOBS_OF_ONE = 20
"""How many jobs one caller may have under way."""
RETRY_S = 5
KEPT = 200
"""How many results of ended jobs are kept for callers that may be gone."""
Work = Callable[[Steps], Awaitable[Any]]


class TooManyJobs(TooMany):
    """Too many files of yours are being worked on; let some of them end first."""

    code = "too_many_jobs"


@dataclass(slots=True)
class Result:
    """What became of a job."""

    by: str
    value: Any = None
    error: SaysoError | None = None
    done: bool = False


_results: dict[str, Result] = {}
_works: dict[str, Work] = {}


def under_the_lane(request: Any) -> bool:
    """Tell whether the waiting layer and the lane are around this request."""
    return hasattr(getattr(request, "_request", request), "scope")


def run_job(request: Any, *, work: Work, render: Callable[[Any], Any]) -> Any:
    """Start a job and let the waiting layer hold the connection until it ends; then render its result."""
    rendering = rendering_of(request)
    if rendering is not None:
        return _rendered(rendering, render)
    if not under_the_lane(request):
        return render(run_inline(work(Steps(inline=True))))
    by = request.user.ref
    if sum(each.by == by and not each.done for each in _results.values()) >= JOBS_OF_ONE:
        raise TooManyJobs(retry_after_s=RETRY_S)
    name = new_id()
    _results[name] = Result(by=by)
    _works[name] = work
    with transaction.atomic():
        announce("job.started", job=name)
    return _held(name)


def is_job(request: Any) -> bool:
    """Tell whether this is the second pass of a request whose job is known here."""
    rendering = rendering_of(request)
    return rendering is not None and rendering.subject in _results


def _rendered(rendering: Rendering, render: Callable[[Any], Any]) -> Any:
    result = _results.get(rendering.subject)
    if result is None:
        # Never held again: what has ended releases at once, and this would go round for ever.
        raise SaysoError("This ended, but its answer is no longer kept; look at what it did.", status=500)
    if not result.done:
        if rendering.cause == "released":
            return _held(rendering.subject)
        return Response({"status": "pending", "detail": "This goes on; look at what it did later."}, status=202)
    del _results[rendering.subject]
    if result.error is not None:
        raise result.error
    return render(result.value)


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
    # To the end of the line: those that ended first are forgotten first.
    _results[name] = _results.pop(name)
    for ended in [each for each, found in _results.items() if found.done][:-KEPT]:
        del _results[ended]
    await steps.lane(lambda: _tell(name))


def _tell(name: str) -> None:
    with transaction.atomic():
        announce("job.ended", keys=(f"job:{name}",))
