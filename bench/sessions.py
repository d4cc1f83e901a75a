"""Logs of sessions: appending against raw `sqlite3`, at any length, and reading what the model sees.

`sessions.py [--quick] [rates|length ...]`: rates of one appender, of fifty together and of batches; and the cost of an
append, of a removal and of reading the surface by the length of the log, each in a process of its own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHORT, LONG = 1_000, 1_000_000
SURFACE = 100_000
REPEATS = 5


def run(folder: str, name: str, **options: Any) -> Any:
    """Run one measurement in a process of its own on the database in a folder."""
    command = [sys.executable, str(HERE / "sessions_run.py"), name, json.dumps(options)]
    environment = {**os.environ, "SAYSO_DATA_DIR": folder, "DATABASE_URL": ""}
    return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout)


def show_rates(folder: str, *, quick: bool) -> None:
    """Print events per second and their ratios to the raw driver, medians of the rounds."""
    sizes = (
        {"singles": 600, "each": 60, "batched": 6_000} if quick else {"singles": 3_000, "each": 240, "batched": 30_000}
    )
    rounds = run(folder, "rates", rounds=3 if quick else 5, **sizes)
    middle = {name: statistics.median(found) for name, found in rounds.items()}
    print(", ".join(f"{name} {value:,.0f}/s" for name, value in middle.items()))
    for name, floor, wanted in (("single", "raw single", 0.4), ("crowd", "raw single", 4), ("batch", "raw batch", 0.3)):
        each = [own / raw for own, raw in zip(rounds[name], rounds[floor], strict=True)]
        shown = " ".join(f"{ratio:.2f}" for ratio in each)
        print(f"{name} / {floor} = {statistics.median(each):.2f} (wanted {wanted}; by round {shown})")


def show_length(folder: str, *, quick: bool) -> None:
    """Print what an append, a removal and reading the surface cost, by the length of the log."""
    long = LONG // 10 if quick else LONG
    for ref, count, compacted in (("short", SHORT, False), ("long", long, False), ("seen", SURFACE, True)):
        took = run(folder, "build", ref=ref, count=count, compacted=compacted)["seconds"]
        print(f"stored {count:,} events in {took:.1f} s")
    for name, count in (("append_one", 300), ("remove_turns", 20)):
        pairs = []
        for number in range(REPEATS):
            # What is removed once cannot be removed again.
            rest = {"skipped": number * count} if name == "remove_turns" else {}
            pairs.append([run(folder, name, ref=ref, count=count, **rest)["median"] for ref in ("short", "long")])
        short, longer = (statistics.median(found) for found in zip(*pairs, strict=True))
        ratio = statistics.median(one[1] / one[0] for one in pairs)
        print(f"{name}: {short:.2f} ms at {SHORT:,}, {longer:.2f} ms at {long:,} events, ratio {ratio:.2f}")
    for ref in ("seen", "long"):
        found = run(folder, "read_surface", ref=ref, count=9)
        print(
            f"surface of {ref}: {found['messages']:.1f} ms for the messages of {found['read']:,} nodes, "
            f"{found['nodes']:.1f} ms for the numbers of {found['count']:,}"
        )


def main() -> None:
    """Measure what is asked for, all of it by default."""
    wanted = [name for name in sys.argv[1:] if not name.startswith("-")] or ["rates", "length"]
    for name, show in (("rates", show_rates), ("length", show_length)):
        if name in wanted:
            with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
                run(folder, "begin")
                show(folder, quick="--quick" in sys.argv)


if __name__ == "__main__":
    main()
