"""Work on whole files: the reckoning in a process of its own, the storing in small jobs of the lane."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.core.errors import SaysoError
from apps.core.threads import lane

# The process bounds its own processor time; this is for a machine that is busy with other things.
WORKER_S = 150


class TooSlow(SaysoError):
    """This file takes too long to work on; nothing of it was stored."""

    code = "too_slow"
    status = 422


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


def worker_lines(mode: str, *, options: dict[str, Any], parts: Iterable[bytes]) -> Iterator[bytes]:
    """Run the worker process over some octets and yield its output by lines; raises `TooSlow`."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as target:
        source.write(json.dumps(options).encode() + b"\n")
        for part in parts:
            source.write(part)
        source.seek(0)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "apps.calendars.rules.worker", mode],
                stdin=source,
                stdout=target,
                stderr=subprocess.PIPE,
                cwd=Path(settings.BASE_DIR),
                timeout=WORKER_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TooSlow from None
        if done.returncode != 0:
            raise (
                TooSlow
                if done.returncode < 0
                else SaysoError("This file cannot be worked on.", code="unreadable", status=422)
            )
        target.seek(0)
        yield from target
