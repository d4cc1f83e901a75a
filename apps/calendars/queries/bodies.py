"""Items as callers see them: everything that is needed to act on them is repeated."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from apps.calendars.queries.values import Shown
from apps.calendars.rules.mobile_values import EARLIEST_MS, cut, trim
from apps.calendars.rules.targets import listed_title
from apps.calendars.rules.zones import load_zoneinfo

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=256)
def zone_named(name: str) -> ZoneInfo:
    """Return the zone of the pinned database."""
    return load_zoneinfo(name)


def local(ms: int, *, zone: str) -> datetime:
    """Return an instant on the clock of a zone."""
    return (_EPOCH + timedelta(milliseconds=ms)).astimezone(zone_named(zone))


@lru_cache(maxsize=4096)
def day_before(day: str) -> str:
    """Return the day before an ISO date."""
    try:
        return (date.fromisoformat(day) - timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return day


def item_body(shown: Shown, *, zone: str, calendar: str) -> dict[str, Any]:
    """Return an item as list, create, update and complete answer it (rulings 9 and 10)."""
    title = listed_title(shown.title)
    body: dict[str, Any] = {"id": shown.id, "title": title}
    if not trim(shown.title):
        body["title_missing"] = True
    if shown.notes:
        body["notes"] = cut(shown.notes, units=4000)
    if shown.location:
        body["location"] = cut(shown.location, units=500)
    if shown.is_event:
        _add_span(body, shown, zone)
        alarm = shown.alarm_minutes or 0
        body["reminderMinutes"] = body["reminder_minutes"] = alarm
    else:
        _add_due(body, shown, zone)
        body["priority"] = shown.priority
        body["completed"] = shown.completed
    body["time_zone"] = zone
    body["recurring"] = shown.recurring
    if shown.recurring and not shown.whole:
        body["series_id"] = shown.object_id
    if shown.whole and shown.rrule:
        body["rrule"] = shown.rrule
    body["calendar"] = calendar
    if shown.attendees:
        body["attendees"] = shown.attendees
    return body


def _add_span(body: dict[str, Any], shown: Shown, zone: str) -> None:
    start, end = shown.start_ms, shown.end_ms
    if start is None:
        return
    end = start if end is None else end
    begins = local(start, zone=zone)
    body["startMs"] = body["start_ms"] = start
    body["endMs"] = body["end_ms"] = end
    body["allDay"] = body["all_day"] = shown.all_day
    body["start"] = begins.isoformat(timespec="seconds")
    body["end"] = local(end, zone=zone).isoformat(timespec="seconds")
    body["weekday"] = WEEKDAYS[begins.weekday()]
    if shown.all_day:
        body["start_date"], body["last_day"] = shown.start_date, day_before(shown.end_date)
    if start < EARLIEST_MS:
        body["deletable"] = False


def _add_due(body: dict[str, Any], shown: Shown, zone: str) -> None:
    due = shown.end_ms
    if shown.start_ms is not None:
        body["startMs"] = body["start_ms"] = shown.start_ms
    if due is not None:
        at = local(due, zone=zone)
        body["dueMs"] = body["due_ms"] = due
        body["due"] = body["start"] = at.isoformat(timespec="seconds")
        body["weekday"] = WEEKDAYS[at.weekday()]
        if shown.all_day:
            body["due_date"] = at.date().isoformat()
    if shown.completed_ms is not None:
        body["completed_ms"] = shown.completed_ms


def facts_of(shown: Shown, *, zone: str, calendar: str) -> dict[str, Any]:
    """Return what a card shows of an item, free of language."""
    facts: dict[str, Any] = {
        "title": shown.title if trim(shown.title) else "",
        "all_day": shown.all_day,
        "time_zone": zone,
        "calendar": calendar,
        "recurring": shown.recurring,
    }
    at = shown.at_ms
    if at is not None:
        facts["start_ms"] = at
        facts["start"] = local(at, zone=zone).isoformat(timespec="minutes")[:16]
    if shown.is_event and shown.end_ms is not None:
        facts["end_ms"] = shown.end_ms
    if shown.all_day and shown.is_event:
        facts["start_date"], facts["last_day"] = shown.start_date, day_before(shown.end_date)
    if shown.location:
        facts["location"] = shown.location
    if shown.notes:
        facts["notes"] = shown.notes
    if shown.attendees:
        facts["attendees"] = shown.attendees
    return facts
