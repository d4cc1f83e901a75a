"""Schedules: occurrences of rules, and 100,000 waiting ones of which 1,000 become due at once.

croniter, cronsim and APScheduler stand beside the rules; APScheduler on SQLite and procrastinate on PostgreSQL beside
the dispatcher. Everything in one run: `bench/schedules.py [--quick] [rules|sqlite|postgresql ...]`.
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

ROOT = Path(__file__).resolve().parent.parent
QUICK = ["--quick"] if "--quick" in sys.argv else []
PARTS = [name for name in sys.argv[1:] if not name.startswith("-")] or ["rules", "sqlite", "postgresql"]
WANTED = {"sqlite": ("apscheduler", 10), "postgresql": ("procrastinate", 25)}


def run(*arguments: str, **environment: str) -> dict[str, Any]:
    """Run a measurement in a process of its own and return what it printed last."""
    command = [sys.executable, *arguments, *QUICK]
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def dispatch(part: str, folder: str, url: str) -> None:
    """Measure ours and the peer on one database, one after the other."""
    environment = {"DATABASE_URL": url, "SAYSO_DATA_DIR": f"{folder}/{part}", "SAYSO_LOG_LEVEL": "ERROR"}
    ours = run("bench/schedules.py", "ours", **environment)
    theirs = run("bench/schedules_peers.py", DATABASE_URL=url)
    peer, wanted = WANTED[part]
    due = statistics.median(ours["due_s"])
    print(f"--- {part}: 100,000 wait")
    print(
        f"1,000 due at once, s               sayso {due:.3f} ({', '.join(f'{one:.3f}' for one in ours['due_s'])})"
        f"  {peer} {theirs['due_s']:.2f}  bare statements {ours['floor_s']:.3f}"
        f"  -> {theirs['due_s'] / due:.1f} times faster (wanted {wanted})"
    )
    late = ours["late_ms"]
    print(
        f"lateness of one, ms                sayso p50 {late['p50']:.2f} p99 {late['p99']:.2f} (wanted below 10)"
        f"  {peer} p50 {theirs['p50']:.2f} p99 {theirs['p99']:.2f}"
    )
    print(f"a start until every timer is set   sayso {ours['load_ms']:.1f} ms (wanted below 500)")
    idle = ours["idle"]
    print(
        f"{idle['seconds']} idle seconds                    sayso {idle['queries']} queries, {idle['passes']} passes,"
        f" {idle['wakes']} wakes of the loop (wanted 0)"
    )


def ours() -> None:
    """Measure our dispatcher on the database of the environment."""
    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "project.settings"
    import django

    django.setup()
    from schedules_run import main as measure

    measure()


def main() -> None:
    """Run the parts that were named, or all."""
    if "ours" in PARTS:
        ours()
        return
    if "rules" in PARTS:
        subprocess.run([sys.executable, "bench/schedules_rules.py", *QUICK], cwd=ROOT, check=True)
    sys.path.insert(0, str(ROOT))
    from tests.backends import own_postgres

    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        if "sqlite" in PARTS:
            dispatch("sqlite", folder, "")
        if "postgresql" in PARTS:
            with own_postgres(Path(folder)) as url:
                dispatch("postgresql", folder, url)


if __name__ == "__main__":
    main()
