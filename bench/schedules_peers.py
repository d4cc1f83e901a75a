"""APScheduler 3 on SQLite and procrastinate on PostgreSQL, each as shipped, with 100,000 waiting and 1,000 due at once.

Their jobs do nothing: only what the scheduler itself keeps is measured. Prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import statistics
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

QUICK = "--quick" in sys.argv
WAITING = 100_000
DUE = 1_000
STEP_S = 86_400
SINGLES = 40 if QUICK else 300
POLLED_SINGLES = 4

_done = threading.Event()
_ran: list[float] = []
_wanted = 0


def run_job() -> None:
    """Count a run; the last one that is waited for ends the measurement."""
    _ran.append(time.time())
    if len(_ran) >= _wanted:
        _done.set()


def expect(count: int) -> None:
    global _wanted
    _wanted = count
    _ran.clear()
    _done.clear()


def at(moment_s: float) -> datetime:
    return datetime.fromtimestamp(moment_s, UTC)


def apscheduler(folder: Path) -> dict[str, Any]:
    """Return seconds for 1,000 due at once, and how late single ones were."""
    from apscheduler.schedulers.background import BackgroundScheduler
    from apscheduler.triggers.interval import IntervalTrigger

    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.add_jobstore("sqlalchemy", url=f"sqlite:///{folder / 'jobs.sqlite'}")
    scheduler.start(paused=True)
    store = scheduler._jobstores["default"]

    def add(name: str, moments: list[float]) -> None:
        """Store jobs as the store itself would, but all in one transaction."""
        job = scheduler.add_job(
            run_job,
            IntervalTrigger(seconds=STEP_S, timezone=UTC),
            id=name,
            next_run_time=at(9e9),
            misfire_grace_time=None,
        )
        state = job.__getstate__()
        scheduler.remove_job(name)
        lines = []
        for number, moment in enumerate(moments):
            state["id"], state["next_run_time"] = f"{name}{number}", at(moment)
            state["trigger"] = IntervalTrigger(seconds=STEP_S, start_date=at(moment), timezone=UTC)
            blob = pickle.dumps(state, store.pickle_protocol)
            lines.append({"id": state["id"], "next_run_time": moment, "job_state": blob})
        with store.engine.begin() as connection:
            connection.execute(store.jobs_t.insert(), lines)

    add("waiting", [4e9 + number for number in range(WAITING)])
    begin = time.perf_counter()
    scheduler.resume()
    loaded = time.perf_counter() - begin
    expect(DUE)
    moment = time.time() + 3
    add("due", [moment] * DUE)
    scheduler.wakeup()
    _done.wait()
    due_s = settled(store, until=moment + STEP_S / 2) - moment
    expect(SINGLES)
    moments = [time.time() + 2 + number * 0.06 for number in range(SINGLES)]
    add("single", moments)
    scheduler.wakeup()
    _done.wait()
    late = sorted((ran - moment) * 1000 for ran, moment in zip(sorted(_ran), moments, strict=True))
    scheduler.shutdown(wait=False)
    return {"due_s": due_s, "load_ms": loaded * 1000, **percentiles(late)}


def settled(store: Any, *, until: float) -> float:
    """Return when every job that was due has its next time in the store."""
    from sqlalchemy import func, select

    query = select(func.count()).where(store.jobs_t.c.next_run_time < until)
    while True:
        with store.engine.connect() as connection:
            if connection.execute(query).scalar() == 0:
                return time.time()
        time.sleep(0.01)


async def procrastinate(url: str) -> dict[str, Any]:
    """Return seconds for 1,000 due at once, and how late single ones were."""
    import procrastinate as library

    app = library.App(connector=library.PsycopgConnector(conninfo=url))

    @app.task(name="job")
    async def job() -> None:
        run_job()

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await batch(job, [at(4e9 + number) for number in range(WAITING)])
        worker = asyncio.create_task(app.run_worker_async(install_signal_handlers=False))
        await asyncio.sleep(1)
        expect(DUE)
        moment = time.time() + 3
        await batch(job, [at(moment)] * DUE)
        await asyncio.to_thread(_done.wait)
        due_s = time.time() - moment
        expect(POLLED_SINGLES)
        moments = [time.time() + 2 + number * 1.7 for number in range(POLLED_SINGLES)]
        await batch(job, [at(one) for one in moments])
        await asyncio.to_thread(_done.wait)
        late = sorted((ran - one) * 1000 for ran, one in zip(sorted(_ran), moments, strict=True))
        worker.cancel()
        await asyncio.wait([worker])
    return {"due_s": due_s, **percentiles(late)}


async def batch(job: Any, moments: list[datetime]) -> None:
    for start in range(0, len(moments), 5_000):
        deferrers = [job.configure(schedule_at=moment) for moment in moments[start : start + 5_000]]
        await deferrers[0].job_manager.batch_defer_jobs_async([one.job for one in deferrers])


def percentiles(late: list[float]) -> dict[str, float]:
    return {"p50": statistics.median(late), "p99": late[max(0, int(len(late) * 0.99) - 1)]}


def main() -> None:
    if url := os.environ.get("DATABASE_URL"):
        found = asyncio.run(procrastinate(url))
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = apscheduler(Path(folder))
    print(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
