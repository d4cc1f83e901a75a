"""Dispatchers that are killed at random points while the clock jumps, and what must hold afterwards.

Each dispatcher is a child process with a connection of its own; the clock is shared memory, so that it survives them.
"""

import contextlib
import json
import mmap
import os
import random
import signal
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db import connection, transaction

from apps.accounts.rules import Caller
from apps.core import failpoints
from apps.core.timers import MORE
from apps.schedules.actions.delivering import deliver_due
from apps.schedules.actions.storing import insert_task
from apps.schedules.models import Delivery, Receipt, Task
from apps.schedules.queries.due import next_wake_ms
from apps.schedules.rules.kinds import Cron, Daily, Every
from apps.schedules.rules.options import read_options
from apps.schedules.rules.requests import new_record
from apps.schedules.rules.values import DAY_MS, HOUR_MS, parse_instant
from apps.sessions.actions import create_session
from apps.sessions.models import InboxMessage, Session

START_MS = 1_796_025_600_000  # 2026-11-30T08:00:00Z
CHILD_NAME = f"sayso storm {os.getpid()}"
"""What the database knows the children of this process by."""
POINTS = tuple(name for name in failpoints.POINTS if name.startswith(("deliver.", "announce.")))
RULES = (
    {"every_seconds": 6 * 3600},
    {"daily": {"time": "09:00:00", "time_zone": "UTC"}},
    {"cron": {"expression": "30 */8 * * *", "time_zone": "UTC"}},
    {"after_seconds": 90},
    {"at": "2026-11-30T10:00:00Z"},
)
OPTIONS = ({}, {"missed": "each"}, {"missed": "skip", "grace_s": 1800}, {})


class SharedClock:
    """A clock for several processes, which jumps when it likes."""

    def __init__(self, *, seed: int) -> None:
        self.memory = mmap.mmap(-1, 8)
        self.rng = random.Random(seed)
        self.set(START_MS)

    def now_ms(self) -> int:
        return struct.unpack("q", self.memory[:8])[0]

    def set(self, moment_ms: int) -> None:
        self.memory[:8] = struct.pack("q", moment_ms)

    def read(self) -> int:
        """Tell the time; now and then somebody has set the clock just before."""
        draw = self.rng.random()
        step = -HOUR_MS if draw < 0.06 else 3 * DAY_MS if draw > 0.985 else 7
        self.set(self.now_ms() + step)
        return self.now_ms()


@dataclass(kw_only=True)
class Host:
    """Takes in what it finds in the inboxes, in order, and acknowledges all of it at once."""

    taken: list[tuple[str, str]] = field(default_factory=list)
    numbers: Counter = field(default_factory=Counter)

    @transaction.atomic
    def take_in(self) -> None:
        open_ones = InboxMessage.objects.filter(acknowledged_ms=None)
        for row in open_ones.select_related("session").order_by("session", "number"):
            self.numbers[row.session.ref] += 1
            assert row.number == self.numbers[row.session.ref], "numbers are dense and in order"
            payload = json.loads(row.payload)
            self.taken += [(one["schedule_id"], one["occurrence_at"]) for one in payload["reminders"]]
        open_ones.update(acknowledged_ms=1)


@transaction.atomic
def make_tasks(*, by: Caller, count: int, sessions: int) -> None:
    """Make schedules of every sort that all become due within the first hours."""
    for number in range(sessions):
        create_session(by=by, ref=f"s{number}", now_ms=START_MS)
    rows = list(Session.objects.order_by("ref"))
    for number in range(count):
        request = {"title": f"T{number}", "prompt": f"P{number}", **RULES[number % len(RULES)]}
        record = new_record(request, record_id=f"schedule-{number}", now_ms=START_MS)
        options = read_options(OPTIONS[number % len(OPTIONS)])
        insert_task(session=rows[number % sessions], record=record, options=options, now_ms=START_MS)


def dispatch_once(clock: SharedClock, *, armed: dict[str, int], seed: int) -> None:
    """Do what a dispatcher does until nothing is due or the process dies; runs in a child."""
    if connection.vendor == "postgresql":
        connection.cursor().execute("select set_config('application_name', %s, false)", [CHILD_NAME])
    failpoints._armed = armed
    clock.rng = random.Random(seed)
    while True:
        scan_ms = clock.read()
        while deliver_due(scan_ms=scan_ms, read_ms=clock.read, jitter=lambda: 0.0) is MORE:
            scan_ms = clock.read()
        due = next_wake_ms()
        if due is None or due > clock.now_ms():
            return


def child(clock: SharedClock, *, armed: dict[str, int], seed: int) -> int:
    """Start a dispatcher and return its process; the parent must hold no connection."""
    connection.close()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        dispatch_once(clock, armed=armed, seed=seed)
        status = 0
    finally:
        os._exit(status)


@contextlib.contextmanager
def children(clock: SharedClock, *, armed: list[dict[str, int]], rng: random.Random) -> Iterator[list[int]]:
    """Start a dispatcher for each of these; none of them outlives the block, whatever ends it."""
    pids: list[int] = []
    try:
        for one in armed:
            # No time limit and no Ctrl-C strikes between a start and its being known.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGINT})
            pids.append(child(clock, armed=one, seed=rng.randrange(2**32)))
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield pids
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                if os.waitpid(pid, os.WNOHANG) == (0, 0):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def let_go() -> None:
    """Wait until the database has ended what killed children had begun, so that nothing of theirs holds a lock."""
    # The test may have been broken off in the middle of a query.
    connection.close()
    if connection.vendor == "postgresql":
        ends = "select pg_terminate_backend(pid, 30000) from pg_stat_activity where application_name = %s"
        connection.cursor().execute(ends, [CHILD_NAME])


def ended(pid: int) -> bool:
    """Wait for a dispatcher; tells whether it was killed. One that failed otherwise is a fault."""
    _, status = os.waitpid(pid, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert killed or (os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0), status
    return killed


def storm(*, kills: int, dispatchers: int, seed: int) -> dict[str, int]:
    """Kill dispatchers so many times, and at each point once, let the last ones finish, and return what was counted.

    Raises on any fault.
    """
    rng, clock, host = random.Random(seed), SharedClock(seed=seed), Host()
    first = dict(Task.objects.values_list("ref", "scheduled_ms"))
    clock.set(START_MS + 3 * HOUR_MS)
    done, rounds, points = 0, 0, Counter()
    while done < kills or len(points) < len(POINTS):
        rounds += 1
        assert rounds < 100 + kills * 20, "the dispatchers do not get killed any more"
        armed = [{rng.choice(POINTS): rng.randrange(3)} for _ in range(dispatchers)]
        with children(clock, armed=armed, rng=rng) as pids:
            for pid, one in zip(pids, armed, strict=True):
                if ended(pid):
                    done += 1
                    points.update(one)
        # Time goes on while nothing runs, so that the next ones have work.
        clock.set(clock.now_ms() + rng.choice((HOUR_MS, 9 * HOUR_MS, 30 * HOUR_MS, -HOUR_MS, 3 * DAY_MS)))
        host.take_in()
    with children(clock, armed=[{}] * dispatchers, rng=rng) as pids:
        killed = [ended(pid) for pid in pids]
        assert not any(killed)
    host.take_in()
    return check(host, first=first) | {"kills": done, "rounds": rounds, "points": len(points)}


def check(host: Host, *, first: dict[str, int]) -> dict[str, int]:
    """Every occurrence is exactly once in the acknowledged inbox; receipts and messages agree; missed ones add up."""
    taken = Counter((ref, parse_instant(at)) for ref, at in host.taken)
    assert max(taken.values()) == 1, "an occurrence was delivered twice"
    receipts = list(Receipt.objects.values_list("task__ref", "occurrence_ms"))
    assert sorted(receipts) == sorted(taken)
    lines: dict[str, list[Delivery]] = {}
    for line in Delivery.objects.select_related("task").order_by("id"):
        lines.setdefault(line.task.ref, []).append(line)
    counts, missed = Counter(ref for ref, _ in receipts), 0
    for task in Task.objects.all():
        own = lines.get(task.ref, [])
        sent = sum(line.outcome == "sent" for line in own)
        assert sent == counts[task.ref] == task.runs
        assert task.missed_total == sum(line.missed for line in own)
        missed += task.missed_total
        expected = occurrences_before(task, first_ms=first[task.ref])
        assert sent + task.missed_total == expected, (task.ref, task.kind, sent, task.missed_total, expected)
        assert task.failures == 0
        assert task.quarantined == ""
    return {"delivered": len(taken), "missed": missed}


def occurrences_before(task: Task, *, first_ms: int) -> int:
    """Count what a task had to deal with, by plain arithmetic: from its first target up to the next one."""
    step = {Every.kind: 6 * HOUR_MS, Daily.kind: DAY_MS, Cron.kind: 8 * HOUR_MS}.get(task.kind)
    if step is None:
        return 1 if task.status == "inactive" else 0
    return (task.scheduled_ms - first_ms) // step
