"""Work on whole files: the reckoning in a process of its own, the storing in small jobs of the lane."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.core.errors import SaysoError

# The process bounds its own processor time; this is for a machine that is busy with other things.
WORKER_S = 150


class TooSlow(SaysoError):
    """This file takes too long to work on; nothing of it was stored."""

    code = "too_slow"
    status = 422


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
