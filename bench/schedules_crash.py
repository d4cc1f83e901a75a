"""A thousand due tasks, and dispatchers killed two hundred times while the clock jumps: each occurrence exactly once.

`bench/schedules_crash.py [--kills N]` on SQLite with one dispatcher; `tests/backends.py bench/schedules_crash.py` on
PostgreSQL with two. The short form of the same is `tests/schedules/test_crash.py`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from own_database import own_database

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 200
TASKS = 1_000
SEED = 20_261_130


def run() -> None:
    """Fill the database, let the storm go over it, and print what was counted; a fault raises."""
    import fill
    from django.core.management import call_command
    from django.db import connection

    from apps.accounts.queries import caller_of_token
    from tests.schedules import crash

    call_command("migrate", verbosity=0)
    found = caller_of_token(secret=fill.people()["token"], now_ms=crash.START_MS)
    assert found is not None
    crash.make_tasks(by=found[0], count=TASKS, sessions=120)
    dispatchers = 2 if connection.vendor == "postgresql" else 1
    begin = time.perf_counter()
    counted = crash.storm(kills=KILLS, dispatchers=dispatchers, seed=SEED)
    facts = ", ".join(f"{name} {count}" for name, count in counted.items())
    print(
        f"{connection.vendor}, {dispatchers} dispatchers, {TASKS} tasks, {time.perf_counter() - begin:.0f} s: {facts}"
    )
    print("each occurrence exactly once in the acknowledged inbox; receipts and messages agree; missed counts add up")


with own_database():
    run()
