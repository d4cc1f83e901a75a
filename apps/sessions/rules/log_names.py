"""The file names of a log and of its earlier generations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_NAME = re.compile(r"session(?:\.v([1-9][0-9]{0,8}))?\.jsonl(\.zstd)?")


class LogName(NamedTuple):
    """What a file name says about the log in it."""

    version: int
    compressed: bool


def log_name(*, version: int, compressed: bool) -> str:
    """Return the file name of a log of a format."""
    generation = f".v{version}" if version else ""
    return f"session{generation}.jsonl{'.zstd' if compressed else ''}"


def parse_log_name(name: str) -> LogName | None:
    """Return what a file name says, None when it is no log's."""
    match = _NAME.fullmatch(name)
    return LogName(int(match[1] or 0), match[2] is not None) if match else None


def pick_log(names: Iterable[str]) -> str | None:
    """Return the log of the highest generation, the compressed one of two alike; None when there is none."""
    found = [(parsed, name) for name in names if (parsed := parse_log_name(name))]
    return max(found)[1] if found else None
