"""Whatever stands in a field, the answer names it or takes it; the server never breaks."""

import json

import orjson
import pytest

from apps.calendars.rules.mobile_answer import normalize_response
from tests.factories.calendars import NINE_MS

VALUES = ["null", "true", "[]", "{}", '""', "1e309", "NaN", '"\\ud800"', '"' + "x" * 1_000_000 + '"', "-1", '"\\u0000"']
NAMES = ["null", "true", "list", "object", "blank", "infinite", "nan", "surrogate", "long", "negative", "nul"]
ITEM_FIELDS = (
    *("title", "start_ms", "end_ms", "due_ms", "all_day", "notes", "location", "reminder_minutes", "priority"),
    *("completed", "calendar", "rrule", "exdates", "time_zone", "id", "start_date", "last_day", "alarm", "purpose"),
)
BODY_FIELDS = (
    *("session_id", "capability", "action", "purpose", "start_ms", "end_ms", "include_completed", "limit", "item"),
    *("timeout_ms", "expires_in_s"),
)


def with_value(body, field, value):
    """Return the JSON text of a body in which a field has a value that is no JSON of Python."""
    return json.dumps({**body, field: "@@"}).replace('"@@"', value)


def check(answer, field):
    assert answer.status_code < 500, answer.content[:500]
    if answer.status_code == 400:
        text = answer.content.decode()
        assert field in text or "A valid item is required" in text or "body" in text or "JSON" in text, text[:300]


@pytest.mark.parametrize("value", VALUES, ids=NAMES)
@pytest.mark.parametrize("capability", ["calendar", "reminder"])
def test_of_mobile_requests(world, capability, value):
    for action in ("list", "create"):
        body = {"session_id": "s1", "capability": capability, "action": action, "purpose": "p", "timeout_ms": 3000}
        body["item"] = {"title": "t", "start_ms": NINE_MS}
        for field in BODY_FIELDS:
            answer = world.post("/api/studio/mobile-calendar/request", with_value(body, field, value), Prefer="wait=0")
            check(answer, field)


@pytest.mark.parametrize("value", VALUES, ids=NAMES)
def test_of_items(world, clock, value):
    event, reminder = world.add(), world.remind()
    for field in ITEM_FIELDS:
        clock.ms += 60_001
        for kind, item in (("events", event), ("reminders", reminder)):
            body = {"title": "t", "start_ms": NINE_MS}
            check(world.post(f"/api/calendars/{kind}", with_value(body, field, value), Prefer="wait=0"), field)
            text = with_value({}, field, value)
            headers = {"Authorization": f"Bearer {world.secret}", "Prefer": "wait=0"}
            path = f"/api/calendars/{kind}/{item['id']}"
            check(world.client.patch(path, data=text, content_type="application/json", headers=headers), field)


@pytest.mark.parametrize("value", VALUES, ids=NAMES)
def test_of_calendars(world, value):
    for field in ("name", "colour", "is_default", "read_only"):
        check(world.post("/api/calendars", with_value({"name": "n"}, field, value)), field)
    for field in ("ics", "replace", "expires_in_s", "purpose"):
        text = with_value({"ics": "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"}, field, value)
        check(world.post(f"/api/calendars/{world.calendar.pk}/import", text), field)


@pytest.mark.parametrize(
    "query", ["start_ms=x", "end_ms=1", "limit=-5", "limit=99999999999999999999", "start_ms=1&end_ms=9999999999999999"]
)
def test_of_queries(world, query):
    for kind in ("events", "reminders"):
        answer = world.call("GET", f"/api/calendars/{kind}?{query}")
        assert answer.status_code < 500
    assert world.call("GET", f"/api/calendars/events/nothing?{query}").status_code in (400, 404)


@pytest.mark.parametrize("item_id", ["nothing", ".", "a.b", "x" * 5000, "%00", "\N{PILE OF POO}"])
def test_of_ids(world, item_id):
    for method in ("GET", "PATCH", "DELETE"):
        answer = world.call(method, f"/api/calendars/events/{item_id}", {"title": "t"} if method == "PATCH" else None)
        assert answer.status_code in (400, 404), answer.content


@pytest.mark.parametrize(
    "number", ["1" + "0" * 400, "1" + "0" * 30, "-1" + "0" * 30, "1e300", '"1e300"', '"0x' + "f" * 90 + '"']
)
def test_of_numbers_that_a_phone_answers(number):
    answer = json.loads('{"status": "success", "result": {"item": {"id": "a", "startMs": %s}}}' % number)  # noqa: UP031
    clean = normalize_response(answer, request={"capability": "calendar", "action": "create"})
    assert orjson.dumps(clean)
