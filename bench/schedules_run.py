"""One database, 100,000 waiting schedules, and what the dispatcher does with them; prints one line of JSON.

`bench/schedules.py` imports it in a process of its own, with the database in its environment. The clock is the
machine's, and the dispatcher is the timer that a server runs.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from django.core.management import call_command
from django.db import connection, transaction

from apps.accounts.actions import create_profile
from apps.accounts.models import User
from apps.accounts.queries import caller_for, memberships_of, workspace_of
from apps.core import announce, rows, timers
from apps.core.relay import Relay
from apps.core.threads import lane
from apps.core.values import new_id
from apps.schedules.actions.storing import settle_wake
from apps.schedules.models import Receipt, Task
from apps.sessions.models import InboxMessage, Session

QUICK = "--quick" in sys.argv
WAITING = 100_000
DUE = 1_000
ROUNDS = 3
SINGLES = 40 if QUICK else 300
IDLE_S = 5 if QUICK else 60
FAR_MS = 4_000_000_000_000
STEP_S = 86_400


def now_ms() -> float:
    return time.time_ns() / 1e6


def fill() -> list[str]:
    """Make the profile, a session for each schedule that will be due, and everything that waits."""
    call_command("migrate", verbosity=0, interactive=False)
    user = User.objects.create_user("alice")
    profile = create_profile(name="default", time_zone="UTC", owner=user)
    caller = caller_for(user=user, membership=memberships_of(user_id=user.pk).get())
    workspace = workspace_of(profile_id=caller.profile_id)
    with transaction.atomic():
        sessions = [Session(profile=profile, workspace=workspace, ref=f"s{number}") for number in range(DUE)]
        Session.objects.bulk_create(sessions)
        store([task(sessions[n % DUE], place=n, at_ms=FAR_MS + n * 1000) for n in range(WAITING)])
    return [session.pk for session in sessions]


def task(session: Any, *, place: int, at_ms: int) -> Task:
    made = rows.fresh(
        Task,
        id=new_id(),
        profile_id=session.profile_id,
        session_id=session.pk,
        created_at_ms=0,
        ref=f"schedule-{place}",
        place=place,
        kind="every",
        title=f"Title {place}",
        prompt="Stand up and walk a little.",
        rule=json.dumps({"everySeconds": STEP_S}),
        scheduled_ms=at_ms,
    )
    settle_wake(made)
    return made


def store(tasks: list[Task]) -> None:
    rows.insert_all(Task, tasks)


def make_due(session_ids: list[str], *, number: int, at_ms: int) -> None:
    """Store one schedule for each of some sessions, all due at one moment."""
    with transaction.atomic():
        sessions = Session.objects.in_bulk(session_ids)
        first = WAITING + number * DUE
        store([task(sessions[key], place=first + n, at_ms=at_ms) for n, key in enumerate(session_ids)])


class Watch:
    """Counts what the dispatcher does, and when it was through."""

    def __init__(self) -> None:
        self.timer = timers._timers["schedules.dispatch"]
        self.work = self.timer.run_due
        self.ended: list[float] = []
        self.done = asyncio.Event()
        self.timer.run_due = self.run_due
        self.loop = asyncio.get_running_loop()

    def run_due(self, *, now_ms: int) -> Any:
        result = self.work(now_ms=now_ms)
        if result is not timers.MORE:
            self.ended.append(time.time_ns() / 1e6)
            self.loop.call_soon_threadsafe(self.done.set)
        return result

    async def through(self) -> float:
        await self.done.wait()
        self.done.clear()
        return self.ended[-1]


async def in_lane(call: Callable[[], Any]) -> Any:
    return await lane.run(call)


async def loaded() -> float:
    """Return how many milliseconds a start takes until every timer is armed."""
    begin = time.perf_counter()
    await timers.start_all(serving=False)
    return (time.perf_counter() - begin) * 1000


async def thousand(watch: Watch, session_ids: list[str], *, number: int) -> float:
    """Return the seconds from the moment at which 1,000 are due to the commit of the last."""
    at_ms = int(now_ms()) + 3_000
    await in_lane(lambda: make_due(session_ids, number=number, at_ms=at_ms))
    announce.deliver({"event": "schedule.changed", "keys": [], "profile": "", "deadline": at_ms})
    assert now_ms() < at_ms - 200, "making the schedules took too long"
    watch.done.clear()
    before = await in_lane(Receipt.objects.count)
    ended = await watch.through()
    assert await in_lane(Receipt.objects.count) == before + DUE == await in_lane(InboxMessage.objects.count)
    return (ended - at_ms) / 1000


async def lateness(watch: Watch, session_ids: list[str], *, number: int) -> list[float]:
    """Return by how many milliseconds single schedules were late, commit included."""
    rng, at_ms, moments = random.Random(7), int(now_ms()) + 2_000, []
    for _ in range(SINGLES):
        at_ms += rng.randrange(30, 90)
        moments.append(at_ms)

    def make() -> None:
        with transaction.atomic():
            sessions = Session.objects.in_bulk(session_ids[:SINGLES])
            first = WAITING + number * DUE
            chosen = session_ids[:SINGLES]
            store([task(sessions[k], place=first + n, at_ms=moments[n]) for n, k in enumerate(chosen)])

    await in_lane(make)
    announce.deliver({"event": "schedule.changed", "keys": [], "profile": "", "deadline": moments[0]})
    assert now_ms() < moments[0]
    late = []
    watch.done.clear()
    seen = len(watch.ended)
    while len(late) < SINGLES:
        await watch.through()
        for ended in watch.ended[seen:]:
            # One pass may have found two that were due by then; each counts from its own moment.
            while len(late) < SINGLES and moments[len(late)] <= ended:
                late.append(ended - moments[len(late)])
        seen = len(watch.ended)
    return late


async def idle(watch: Watch) -> dict[str, int]:
    """Return how many statements and wakes of the loop a quiet while has."""
    counts = {"queries": 0, "wakes": 0}
    selector = asyncio.get_running_loop()._selector  # type: ignore[attr-defined]
    select, execute = selector.select, rows.execute

    def counted_select(timeout: float | None = None) -> Any:
        found = select(timeout)
        counts["wakes"] += 1
        return found

    def counted_execute(*args: Any) -> Any:
        counts["queries"] += 1
        return execute(*args)

    def count(run: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        counts["queries"] += 1
        return run(sql, params, many, context)

    def watch_orm() -> Any:
        connection.execute_wrappers.append(count)

    await in_lane(watch_orm)
    passes = len(watch.ended)
    rows.execute = counted_execute  # type: ignore[assignment]
    selector.select = counted_select
    await asyncio.sleep(IDLE_S)
    selector.select, rows.execute = select, execute
    # The end of this very wait is one wake; so is the turn of the loop that set it.
    counts["wakes"] = max(0, counts["wakes"] - 2)
    counts["passes"] = len(watch.ended) - passes
    return counts


def floor() -> float:
    """Return the seconds of the bare statements: 1,000 messages, receipts and advances in one transaction."""
    ids = [row[0] for row in rows.execute(f"select id from schedules_task limit {DUE}").fetchall()]
    session = rows.execute("select id, profile_id from agent_sessions_session limit 1").fetchone()
    begin = time.perf_counter()
    with transaction.atomic():
        rows.execute_many(
            "insert into agent_sessions_inboxmessage"
            " (id, profile_id, created_at_ms, version, session_id, number, source, payload)"
            " values (%s, %s, 0, 1, %s, %s, 'bench', '{}')",
            [(f"bench{n}", session[1], session[0], 1_000_000 + n) for n in range(DUE)],
        )
        rows.execute_many(
            "insert into schedules_receipt (task_id, origin, occurrence_ms, delivered_ms, message_id)"
            " values (%s, 'scheduled', 1, 1, 'bench')",
            [(key,) for key in ids],
        )
        rows.execute_many("update schedules_task set last_scheduled_ms = null where id = %s", [(key,) for key in ids])
    return time.perf_counter() - begin


async def measure(session_ids: list[str]) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    relay = Relay(loop)
    announce.bind(loop, relay.send if relay.needed else None)
    relay.start()
    watch = Watch()
    found: dict[str, Any] = {"load_ms": await loaded()}
    watch.done.clear()
    found["due_s"] = [await thousand(watch, session_ids, number=number) for number in range(ROUNDS)]
    late = sorted(await lateness(watch, session_ids, number=ROUNDS))
    found["late_ms"] = {"p50": statistics.median(late), "p99": late[int(len(late) * 0.99) - 1], "most": late[-1]}
    await asyncio.sleep(1)
    found["idle"] = {"seconds": IDLE_S, **await idle(watch)}
    return found


def main() -> None:
    """Measure everything on the database of the environment."""
    session_ids = fill()
    with asyncio.Runner() as runner:
        found = runner.run(measure(session_ids))
    lane.stop()
    found["floor_s"] = floor()
    print(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)
