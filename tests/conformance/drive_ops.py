"""One pass of delivery: the real dispatcher on a real database, in which triggers make things fail."""

import json
from contextlib import contextmanager

from django.db import connection

from apps.core.timers import MORE
from apps.schedules.actions.delivering import deliver_due
from apps.schedules.actions.storing import insert_task, settle_wake
from apps.schedules.models import Delivery, Receipt, Task
from apps.schedules.queries.due import next_wake_ms
from apps.schedules.rules.options import Options
from apps.schedules.rules.tasks import read_task
from apps.schedules.rules.values import format_instant, parse_instant
from apps.sessions.actions import create_session
from apps.sessions.models import InboxMessage
from tests import factories

TABLES = {"inbox": "agent_sessions_inboxmessage", "task": "schedules_task"}
ADVANCES = "(new.scheduled_ms <> old.scheduled_ms or new.status <> old.status)"


def drive(given, expect):
    """Store the tasks, run one pass, and compare what the inboxes hold, where the tasks stand, when it wakes next."""
    scan_ms = parse_instant(given["scanAt"])
    decision_ms = parse_instant(given.get("decisionAt", given["scanAt"]))
    store(given["tasks"], now_ms=0)
    with failing(given.get("fail", "")):
        while deliver_due(scan_ms=scan_ms, read_ms=lambda: decision_ms, jitter=lambda: 0.0) is MORE:
            pass
    wake = next_wake_ms()
    shown = {
        "messages": messages(),
        "after": {
            task.ref: {"scheduledAt": format_instant(task.scheduled_ms), "status": task.status}
            for task in Task.objects.all()
        },
        "timerAt": None if wake is None else format_instant(wake),
    }
    assert {name: shown[name] for name in expect} == expect
    check_whole()


def store(tasks, *, now_ms):
    profile = factories.profile()
    owner = factories.human(factories.person("alice", default="owner"), of=profile)
    sessions = {}
    for stored in tasks:
        value = read_task(stored)
        if value.session_id not in sessions:
            sessions[value.session_id] = create_session(by=owner, ref=value.session_id, now_ms=now_ms)
        task = insert_task(session=sessions[value.session_id], record=value.record, options=Options(), now_ms=now_ms)
        if value.status != task.status:
            task.status = value.status
            settle_wake(task)
            task.save()


def messages():
    """Return the messages in the order in which they were written."""
    order = list(dict.fromkeys(Delivery.objects.order_by("id").values_list("message_id", flat=True)))
    found = {row.pk: row for row in InboxMessage.objects.select_related("session")}
    assert set(order) == set(found)
    shown = []
    for key in order:
        payload = json.loads(found[key].payload)
        occurrences = {one["schedule_id"]: one["occurrence_at"] for one in payload["reminders"]}
        shown.append({"sessionId": found[key].session.ref, "form": payload["form"], "occurrences": occurrences})
    return shown


def check_whole():
    """Messages, deliveries and receipts say the same."""
    sent = Delivery.objects.filter(outcome="sent").values_list("task__ref", "occurrence_ms", "message_id")
    assert sorted(sent) == sorted(Receipt.objects.values_list("task__ref", "occurrence_ms", "message_id"))


@contextmanager
def failing(what):
    """Let the database refuse something: `flush` any message, `commit:ID` the advance of one task."""
    kind, _, name = what.partition(":")
    if not kind:
        yield
        return
    if kind == "commit":
        make(TABLES["task"], "update", f"new.ref = '{name}' and {ADVANCES}")
    else:
        where = f"new.session_id in (select id from agent_sessions_session where ref = '{name}')" if name else "1 = 1"
        make(TABLES["inbox"], "insert", where)
    try:
        yield
    finally:
        drop(TABLES["task"] if kind == "commit" else TABLES["inbox"])


def make(table, event, condition):
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                f"create trigger refusing before {event} on {table} when {condition}"
                " begin select raise(abort, 'refused'); end"
            )
            return
        cursor.execute(
            "create or replace function refusing() returns trigger as $$ begin"
            f" if {condition} then raise exception 'refused'; end if; return new; end $$ language plpgsql"
        )
        cursor.execute(f"create trigger refusing before {event} on {table} for each row execute function refusing()")


def drop(table):
    with connection.cursor() as cursor:
        cursor.execute("drop trigger refusing" + (f" on {table}" if connection.vendor == "postgresql" else ""))


OPS = {"drive": drive}
