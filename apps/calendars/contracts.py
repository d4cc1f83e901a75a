"""The contracts of the calendars room."""

from __future__ import annotations

from apps.calendars import serializers as words
from apps.calendars.actions import calendars, importing, listing, removing, writing
from apps.calendars.queries import previews
from apps.core.contracts import Contract

_EVENT = {"id": "0190", "title": "Dentist", "start_ms": 1796112000000}
_OCCURRENCE = {"id": "0190.1f2e", "title": "Stand-up", "start_ms": 1796286600000}
_REMINDER = {"id": "0191", "title": "Buy milk", "due_ms": 1796144400000}

DELETE_EVENT = Contract(
    name="calendars.delete_event",
    scope="calendar.delete",
    preview=previews.single_deletion,
    act=removing.delete_item,
    words=words.event_words,
    example=_EVENT,
    recheck=previews.check_call_writable,
)
DELETE_SERIES = Contract(
    name="calendars.delete_series",
    scope="calendar.delete",
    preview=previews.series_deletion,
    act=removing.delete_item,
    words=words.series_words,
    example=_EVENT,
    louder=True,
    recheck=previews.check_call_writable,
)
DELETE_OCCURRENCE = Contract(
    name="calendars.delete_occurrence",
    scope="calendar.delete",
    preview=previews.occurrence_deletion,
    act=removing.delete_occurrence,
    words=words.occurrence_words,
    example=_OCCURRENCE,
    recheck=previews.check_call_writable,
)
DELETE_FOLLOWING = Contract(
    name="calendars.delete_following",
    scope="calendar.delete",
    preview=previews.following_deletion,
    act=removing.delete_following,
    words=words.following_words,
    example=_OCCURRENCE,
    louder=True,
    recheck=previews.check_call_writable,
)
DELETE_REMINDER = Contract(
    name="calendars.delete_reminder",
    scope="reminder.delete",
    preview=previews.reminder_deletion,
    act=removing.delete_reminder,
    words=words.reminder_words,
    example=_REMINDER,
    recheck=previews.check_call_writable,
)
REMOVE_BY_UPDATE = Contract(
    name="calendars.remove_by_update",
    scope="calendar.delete",
    preview=previews.reduction,
    act=writing.reduce_item,
    words=words.reduction_words,
    example={"id": "0190", "change": {"rrule": "FREQ=WEEKLY;COUNT=2"}},
    policy="update",
    louder=True,
    recheck=previews.check_call_writable,
)
MOVE_EVENT = Contract(
    name="calendars.move_event",
    scope="calendar.delete",
    preview=previews.move,
    act=writing.move_item,
    words=words.move_words,
    example={"id": "0190", "calendar": "0192", "change": {"calendar": "0192"}},
    policy="update",
    recheck=previews.check_call_movable,
)
MOVE_REMINDER = Contract(
    name="calendars.move_reminder",
    scope="reminder.delete",
    preview=previews.move,
    act=writing.move_item,
    words=words.move_words,
    example={"id": "0191", "calendar": "0192", "change": {"calendar": "0192"}},
    policy="update",
    recheck=previews.check_call_movable,
)
DELETE_CALENDAR = Contract(
    name="calendars.delete_calendar",
    scope="calendar.delete",
    preview=previews.calendar_deletion,
    act=calendars.delete_calendar,
    words=words.calendar_words,
    example={"id": "0192"},
    louder=True,
    recheck=previews.check_calendar_may_go,
)
UPDATE_EVENT = Contract(
    name="calendars.update_event",
    scope="calendar.write",
    preview=previews.update,
    act=writing.update_item,
    words=words.update_words,
    example={"id": "0190", "change": {"location": "Room 2"}},
    policy="update",
    recheck=previews.check_call_writable,
)
UPDATE_REMINDER = Contract(
    name="calendars.update_reminder",
    scope="reminder.write",
    preview=previews.update,
    act=writing.update_item,
    words=words.update_words,
    example={"id": "0191", "change": {"priority": 1}},
    policy="update",
    recheck=previews.check_call_writable,
)
COMPLETE_REMINDER = Contract(
    name="calendars.complete_reminder",
    scope="reminder.write",
    preview=previews.update,
    act=writing.complete_item,
    words=words.completion_words,
    example={"id": "0191", "change": {"completed": True}},
    policy="complete",
    recheck=previews.check_call_writable,
)
CREATE_EVENT = Contract(
    name="calendars.create_event",
    scope="calendar.write",
    preview=previews.creation,
    act=writing.create_item,
    words=words.creation_words,
    example={"calendar": "0192", "item": {"title": "Flight", "start_ms": 1796623200000, "end_ms": 1796630400000}},
    policy="create",
    recheck=previews.check_call_writable,
)
CREATE_REMINDER = Contract(
    name="calendars.create_reminder",
    scope="reminder.write",
    preview=previews.creation,
    act=writing.create_item,
    words=words.creation_words,
    example={"calendar": "0192", "item": {"title": "Buy milk"}},
    policy="create",
    recheck=previews.check_call_writable,
)
LIST_EVENTS = Contract(
    name="calendars.list_items",
    scope="calendar.read",
    preview=previews.listing,
    act=listing.list_items,
    words=words.listing_words,
    example={"capability": "calendar", "start_ms": 1796112000000, "end_ms": 1796716800000, "limit": 50},
    policy="list",
)
LIST_REMINDERS = Contract(
    name="calendars.list_reminders",
    scope="reminder.read",
    preview=previews.listing,
    act=listing.list_items,
    words=words.listing_words,
    example={
        "capability": "reminder",
        "start_ms": 1796112000000,
        "end_ms": 1796716800000,
        "limit": 50,
        "include_completed": False,
    },
    policy="list",
)
REMOVE_BY_IMPORT = Contract(
    name="calendars.remove_by_import",
    scope="calendar.delete",
    preview=previews.replacement,
    act=importing.replace_item,
    words=words.import_words,
    example={"id": "0190", "ics": "BEGIN:VCALENDAR"},
    louder=True,
    recheck=previews.check_call_writable,
)
DEVICE_REQUEST = Contract(
    name="calendars.device_request",
    scope="calendar.read",
    preview=previews.device_request,
    act=listing.answered_by_device,
    words=words.device_words,
    example={"request": {"capability": "calendar", "action": "list", "purpose": "p", "limit": 50}},
)

ALL = (
    DELETE_EVENT,
    DELETE_SERIES,
    DELETE_OCCURRENCE,
    DELETE_FOLLOWING,
    DELETE_REMINDER,
    REMOVE_BY_UPDATE,
    MOVE_EVENT,
    MOVE_REMINDER,
    DELETE_CALENDAR,
    UPDATE_EVENT,
    UPDATE_REMINDER,
    COMPLETE_REMINDER,
    CREATE_EVENT,
    CREATE_REMINDER,
    LIST_EVENTS,
    LIST_REMINDERS,
    REMOVE_BY_IMPORT,
    DEVICE_REQUEST,
)
