"""Calls of schedules and webhooks."""

import json

from django.test import override_settings

from tests.endpoints.calls.base import Call

TIMED = "timed"
PLACE = f"/api/sessions/{TIMED}/schedules"
NEW = {"title": "Stand up", "prompt": "Stand up and walk"}
DAILY = {"time": "09:00:00", "time_zone": "Europe/Berlin"}
SELECTORS = [
    {"after_seconds": 60},
    {"at": "2026-12-01T09:00:00Z"},
    {"every_seconds": 3600},
    {"daily": DAILY},
    {"weekly": {**DAILY, "weekdays": [1, 5]}},
    {"cron": {"expression": "0 9 * * *", "time_zone": "UTC"}},
]
HOOK = {"url": "https://agent.example.org/reminders"}
# A second selector names them all; a rule that is none names its selector.
SENTENCES = ("Say exactly one of",)


def session(things):
    return {"session_ref": TIMED}


def sent_to(things):
    return {"session_ref": things.known["sent_to"]}


def task(things):
    return {"session_ref": TIMED, "task_ref": json.loads(things.known["schedule"])["id"]}


def changed(things):
    change = {"kind": "daily", "daily": DAILY}
    return {"expected": json.loads(things.known["schedule"]), "title": "Sit", "change": change}


def scheduled(things):
    assert things.world.post("/api/sessions", {"id": TIMED}).status_code == 201
    answer = things.world.post(PLACE, {**NEW, "every_seconds": 3600})
    assert answer.status_code == 201, answer.content
    return answer.content.decode()


def addressed(things):
    """A session with a webhook, and a schedule that was run by hand."""
    assert things.world.post("/api/sessions", {"id": "sent"}).status_code == 201
    assert things.world.call("PUT", "/api/sessions/sent/webhook", HOOK).status_code == 200
    assert things.world.post("/api/sessions/sent/schedules", {**NEW, "after_seconds": 60}).status_code == 201
    return "sent"


def message(things):
    """The second message of a schedule of which one record is kept: the first may be purged."""
    with override_settings(SAYSO_DELIVERY_HISTORY_RECORDS=1):
        answers = [things.world.post(f"{task_path(things)}/run", {}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    return answers[-1].json()["messageId"]


def task_path(things):
    found = things.world.call("GET", "/api/sessions/sent/schedules").json()
    return f"/api/sessions/sent/schedules/{found['schedules'][0]['id']}"


def sent_task(things):
    return {"session_ref": "sent", "task_ref": task_path(things).rpartition("/")[2]}


MAKERS = {"schedule": scheduled, "sent_to": addressed, "message": message}
CALLS = {
    "schedules_catalog": [Call(query=lambda things: {"status": "active"})],
    "schedules_events": [Call()],
    "schedules_preview": [
        Call(body=lambda things, selector=selector: {**selector, "count": 2}, sentences=SENTENCES)
        for selector in SELECTORS
    ],
    "schedules_list": [Call(path=session)],
    "schedules_create": [
        Call(path=session, body=lambda things, selector=selector: {**NEW, **selector}, status=201, sentences=SENTENCES)
        for selector in SELECTORS
    ],
    "schedules_read": [Call(path=task)],
    "schedules_update": [
        Call(path=task, body=changed),
        # Options alone need no `expected`; anything beside them does.
        Call(path=task, body=lambda things: {"options": {"paused": True}}, sentences=("expected must be",)),
    ],
    "schedules_delete": [Call(path=task, status=202)],
    "schedules_deliveries": [Call(path=sent_task, query=lambda things: {"limit": 5}, missing={"before": {404}})],
    "schedules_purge_deliveries": [Call(path=sent_task, status=202)],
    "schedules_run": [Call(path=task)],
    "schedules_skip": [Call(path=task)],
    "sessions_webhook": [Call(path=sent_to)],
    "sessions_webhook_set": [Call(path=sent_to, body=lambda things: {**HOOK, "enabled": True})],
}
