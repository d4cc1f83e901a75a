"""Calls of the calendars room."""

from tests.endpoints.calls.base import Call
from tests.factories.calendars import DAY_MS, NINE_MS

ICS = "\r\n".join(
    [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//t//t//EN",
        "BEGIN:VEVENT",
        "UID:fresh",
        "DTSTAMP:20260101T000000Z",
        "DTSTART:20261201T100000Z",
        "SUMMARY:Fresh",
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    ]
)
WINDOW = {"start_ms": NINE_MS - DAY_MS, "end_ms": NINE_MS + DAY_MS, "limit": 5, "q": "e"}
WRITTEN = {"title": "t", "start_ms": NINE_MS}
ITEM = "A valid item is required"


def event(things):
    return {"item_id": things.event["id"]}


def reminder(things):
    return {"item_id": things.reminder["id"]}


def calendar(things):
    return {"calendar_id": things.world.calendar.pk}


def mobile(capability, action, item=None):
    def body(things):
        members = {"session_id": "s1", "capability": capability, "action": action, "purpose": "p", "timeout_ms": 3000}
        return members if item is None else {**members, "item": item(things)}

    return Call(
        body=body,
        missing={"session_id": {404}, "id": {404}},
        sentences=(ITEM, f"Unsupported {capability} action"),
    )


def listed(name):
    time = "due_ms" if name == "reminder" else "start_ms"
    return lambda things: {each: getattr(things, name)[each] for each in ("id", "title", time)}


def renamed(name):
    return lambda things: {"id": getattr(things, name)["id"], "title": "New"}


CALLS = {
    "calendars_list": [Call()],
    "calendars_create": [Call(body=lambda things: {"name": "n", "colour": "#112233"}, status=201)],
    "calendars_update": [Call(by="person", path=calendar, body=lambda things: {"name": "n"})],
    "calendars_delete": [Call(path=calendar, status=202)],
    "calendars_export": [Call(path=calendar)],
    "calendars_import": [
        Call(path=calendar, body=lambda things: {"ics": ICS}),
        Call(path=calendar, form=lambda things: {"file": ICS}),
    ],
    "events_list": [Call(query=lambda things: WINDOW, missing={"calendar": {404}})],
    "events_create": [
        Call(body=lambda things: {**WRITTEN, "rrule": "FREQ=DAILY;COUNT=3"}, status=201),
        Call(body=lambda things: {"title": "t", "all_day": True, "start_date": "2026-12-01"}, status=201),
    ],
    "events_read": [Call(path=event, missing={"start_ms": {404}})],
    "events_update": [
        Call(path=event, body=lambda things: {"title": "u"}, missing={"start_ms": {404}}),
        Call(
            path=lambda things: {"item_id": things.series["id"]},
            body=lambda things: {"title": "u"},
            missing={"start_ms": {404}, "exdates": {404}},
        ),
    ],
    "events_delete": [Call(path=event, status=202, missing={"start_ms": {404}})],
    "events_duplicate": [Call(by="person", path=event, status=201, missing={"start_ms": {404}})],
    "revisions_list": [Call(path=event)],
    "revisions_restore": [Call(by="person", path=lambda things: event(things) | {"number": 1})],
    "reminders_list": [Call(query=lambda things: WINDOW, missing={"calendar": {404}})],
    "reminders_create": [Call(body=lambda things: {"title": "t", "due_ms": NINE_MS}, status=201)],
    "reminders_read": [Call(path=reminder, missing={"start_ms": {404}})],
    "reminders_update": [Call(path=reminder, body=lambda things: {"title": "u"}, missing={"start_ms": {404}})],
    "reminders_delete": [Call(path=reminder, status=202, missing={"start_ms": {404}})],
    "reminders_complete": [Call(path=reminder)],
    "reminder_revisions_list": [Call(path=reminder)],
    "reminder_revisions_restore": [Call(by="person", path=lambda things: reminder(things) | {"number": 1})],
    "mobile_calendar_request": [
        mobile("calendar", "list"),
        mobile("reminder", "list"),
        mobile("calendar", "create", lambda things: WRITTEN),
        mobile("calendar", "update", renamed("event")),
        mobile("reminder", "create", lambda things: {"title": "t"}),
        mobile("reminder", "complete", lambda things: {"id": things.reminder["id"]}),
    ],
}
