"""A profile with a session and an agent, short ways to its schedules, and a dispatcher that a test runs by hand."""

import json
from dataclasses import dataclass, field

from django.db import connection

from apps.core.timers import MORE
from apps.schedules.actions.delivering import deliver_due
from apps.schedules.models import Delivery, Task
from apps.schedules.queries.due import next_wake_ms
from apps.schedules.rules.values import format_instant
from apps.sessions.actions import create_session
from apps.sessions.models import InboxMessage
from tests.factories.calendars import NOW_MS, FixedClock, World, make_world

MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
HOURLY = {"every_seconds": 3600}
DAILY = {"daily": {"time": "09:00:00", "time_zone": "Europe/Berlin"}}
"""Its next occurrence is on the day after `NOW_MS`, at 08:00Z."""
NINE = NOW_MS + DAY_MS


@dataclass
class House:
    """What a test of this room acts in."""

    world: World
    clock: FixedClock
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return "/api/sessions/s1/schedules"

    def add(self, *, title="Stand up", prompt="Stand up and walk", session="s1", status=201, **members):
        timing = members or HOURLY
        answer = self.world.post(f"/api/sessions/{session}/schedules", {"title": title, "prompt": prompt, **timing})
        assert answer.status_code == status, answer.content
        return answer.json()

    def call(self, method, path, body=None, *, status=200, **headers):
        answer = self.world.call(method, path, body, **headers)
        assert answer.status_code == status, answer.content
        return answer.json()

    def patch(self, record, *, status=200, **members):
        body = {"expected": record, **members}
        return self.call("PATCH", f"{self.path}/{record['id']}", body, status=status)

    def options(self, record, **options):
        return self.call("PATCH", f"{self.path}/{record['id']}", {"options": options})

    def read(self, record):
        return self.call("GET", f"{self.path}/{record['id']}")

    def session(self, ref):
        create_session(by=self.world.owner, ref=ref, now_ms=self.clock.ms)
        return ref

    def dispatch(self, *, jitter=0.0):
        """Do what the dispatcher does when it is woken at this moment."""
        for _ in range(100):
            if deliver_due(scan_ms=self.clock.ms, read_ms=self.clock.now_ms, jitter=lambda: jitter) is not MORE:
                return
        raise AssertionError("there is always more")

    def at(self, moment_ms, **members):
        """Go to a moment and dispatch."""
        self.clock.ms = moment_ms
        self.dispatch(**members)

    def inbox(self, session="s1"):
        found = InboxMessage.objects.filter(session__ref=session).order_by("number")
        return [json.loads(row.payload) for row in found]

    def told(self, session="s1"):
        """Return what the inbox says, as (title, occurrence, missed)."""
        return [
            (one["title"], one["occurrence_at"], one["missed"])
            for payload in self.inbox(session)
            for one in payload["reminders"]
        ]

    def task(self, record) -> Task:
        return Task.objects.get(ref=record["id"])

    def lines(self, record):
        found = Delivery.objects.filter(task__ref=record["id"]).order_by("id")
        return [(line.outcome, line.occurrence_ms, line.missed) for line in found]

    def wake(self):
        return next_wake_ms()


def house(clock) -> House:
    return House(world=make_world(), clock=clock)


def iso(moment_ms):
    return format_instant(moment_ms)


def spoil(record, column, value):
    """Write what the program never would."""
    with connection.cursor() as cursor:
        cursor.execute(f"update schedules_task set {column} = %s where ref = %s", [value, record["id"]])
