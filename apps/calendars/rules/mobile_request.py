"""Normalizing a mobile-calendar request (contracts/calendars.md section 3, rulings 6 and 7)."""

from __future__ import annotations

import math
from typing import Any

from apps.calendars.rules.mobile_values import (
    DAY_MS,
    EARLIEST_MS,
    HOUR_MS,
    LONGEST_SPAN_MS,
    MINUTE_MS,
    InvalidRequest,
    bool_field,
    clean_text,
    id_field,
    int_field,
    length,
    named,
    pick,
    text_field,
    time_field,
    trim,
    truthy,
)
from apps.core.errors import InvalidField

PURPOSE_UNITS = 240
ID_UNITS = 512
TITLE_UNITS = 500
NOTES_UNITS = 4000
LOCATION_UNITS = 500
CALENDAR_UNITS = 200
RRULE_UNITS = 1000
LIMIT_DEFAULT = 50
LIMIT_MAX = 100
EXDATES_MAX = 1000
ALARM_MAX_MINUTES = 43_200
CALENDAR_ACTIONS = ("list", "create", "update", "delete")
REMINDER_ACTIONS = (*CALENDAR_ACTIONS, "complete")
SPAN_NAMES = (("start_ms", "startMs"), ("end_ms", "endMs"))
ALARM_NAMES = ("reminder_minutes", "reminderMinutes")

Item = dict[str, Any]


def normalize_request(body: Any, *, now_ms: int, recurrence: bool = False) -> dict[str, Any]:
    """Return the clean request; raise `InvalidRequest` with the contract's sentence or `InvalidField`.

    `recurrence` lets an update's item carry `rrule` and `exdates`, which the mobile door drops (section 3.6).
    """
    body = body if isinstance(body, dict) else {}
    capability = trim(body["capability"]) if isinstance(body.get("capability"), str) else ""
    if capability not in ("calendar", "reminder"):
        raise InvalidRequest("capability must be calendar or reminder")
    action = trim(body["action"]) if isinstance(body.get("action"), str) else ""
    if action not in (CALENDAR_ACTIONS if capability == "calendar" else REMINDER_ACTIONS):
        raise InvalidRequest(f"Unsupported {capability} action")
    purpose = text_field(body.get("purpose"), name="purpose", units=PURPOSE_UNITS)
    if not purpose:
        raise InvalidRequest("purpose is required")
    limit = body.get("limit")
    limit = LIMIT_DEFAULT if limit is None else int_field(limit, name="limit", low=1, high=LIMIT_MAX)
    result: dict[str, Any] = {"capability": capability, "action": action, "purpose": purpose, "limit": limit}
    if action == "list":
        return result | _window(body, capability, now_ms)
    item = body.get("item")
    if not isinstance(item, dict):
        raise InvalidRequest
    result["item"] = normalize_item(item, capability=capability, action=action, now_ms=now_ms, recurrence=recurrence)
    return result


def _window(body: Item, capability: str, now_ms: int) -> Item:
    start = body.get("start_ms")
    if start is None:
        start = now_ms if capability == "calendar" else now_ms - DAY_MS
    else:
        start = time_field(start, name="start_ms", now_ms=now_ms)
    end = body.get("end_ms")
    end = start + 7 * DAY_MS if end is None else time_field(end, name="end_ms", now_ms=now_ms)
    window = {"start_ms": start, "end_ms": _within_span(end, start)}
    if capability == "reminder":
        window["include_completed"] = bool_field(body.get("include_completed"), name="include_completed") or False
    return window


def _within_span(end: int, start: int) -> int:
    return min(max(end, start + MINUTE_MS), start + LONGEST_SPAN_MS)


def normalize_item(item: Item, *, capability: str, action: str, now_ms: int, recurrence: bool = False) -> Item:
    """Return the clean item of create, update, complete or delete."""
    if action == "delete":
        return _deletion(item, capability)
    result: Item = {}
    _take_id(item, result, action)
    _take_texts(item, result, action)
    if capability == "calendar":
        _take_span(item, result, action, now_ms)
        _take_all_day(item, result, action)
        _take_alarm(item, result, action)
    else:
        _take_due(item, result, action, now_ms)
        _take_priority(item, result, action)
    if action != "complete":
        _take_calendar(item, result)
        if recurrence and capability == "calendar":
            _take_recurrence(item, result, action, now_ms)
    else:
        result["completed"] = bool_field(item.get("completed"), name="completed") is not False
    if action == "update" and len(result) < 2:
        raise InvalidRequest
    return result


def _blank(value: Any, action: str) -> bool:
    """Tell whether a value counts as not given: null, and on update a blank text."""
    return value is None or (action == "update" and isinstance(value, str) and not trim(value))


def _take_id(item: Item, result: Item, action: str) -> None:
    name, value = pick(item, names=("id", "event_id", "reminder_id"))
    found = id_field(value, name=named(name, canonical="id"))
    if found:
        result["id"] = found
    elif action != "create":
        raise InvalidRequest


def _take_texts(item: Item, result: Item, action: str) -> None:
    if action != "complete":
        title = text_field(item.get("title"), name="title", units=TITLE_UNITS)
        if title:
            result["title"] = title
        elif action == "create":
            raise InvalidRequest
    for name, units in (("notes", NOTES_UNITS), ("location", LOCATION_UNITS)):
        text = text_field(item.get(name), name=name, units=units)
        if text:
            result[name] = text
        elif action == "update" and name in item and item[name] is None:
            result[name] = None


def _take_span(item: Item, result: Item, action: str, now_ms: int) -> None:
    for names in SPAN_NAMES:
        name, value = pick(item, names=names)
        if not _blank(value, action):
            result[names[0]] = time_field(value, name=named(name, canonical=names[0]), now_ms=now_ms)
    if action == "create":
        start = result.setdefault("start_ms", now_ms + 5 * MINUTE_MS)
        result.setdefault("end_ms", start + HOUR_MS)
    if "start_ms" in result and "end_ms" in result:
        result["end_ms"] = _within_span(result["end_ms"], result["start_ms"])


def _take_all_day(item: Item, result: Item, action: str) -> None:
    found = [bool_field(item.get(name), name=named(name, canonical="all_day")) for name in ("all_day", "allDay")]
    if action == "create" or any(value is not None for value in found):
        result["all_day"] = True in found


def _take_alarm(item: Item, result: Item, action: str) -> None:
    name, value = pick(item, names=ALARM_NAMES)
    if not _blank(value, action):
        field = named(name, canonical="reminder_minutes")
        result["reminder_minutes"] = int_field(value, name=field, low=0, high=ALARM_MAX_MINUTES)
    elif action == "create":
        result["reminder_minutes"] = 0
    elif value is None and any(alias in item for alias in ALARM_NAMES):
        result["reminder_minutes"] = None


def _take_due(item: Item, result: Item, action: str, now_ms: int) -> None:
    name, value = pick(item, names=("due_ms", "dueMs"))
    if not _blank(value, action):
        result["due_ms"] = time_field(value, name=named(name, canonical="due_ms"), now_ms=now_ms)
    elif value is None and action == "update" and ("due_ms" in item or "dueMs" in item):
        result["due_ms"] = None


def _take_priority(item: Item, result: Item, action: str) -> None:
    value = item.get("priority")
    if not _blank(value, action):
        result["priority"] = int_field(value, name="priority", low=0, high=9)
    elif action == "create":
        result["priority"] = 0


def _take_calendar(item: Item, result: Item) -> None:
    calendar = text_field(item.get("calendar"), name="calendar", units=CALENDAR_UNITS)
    if calendar:
        result["calendar"] = calendar


def _take_recurrence(item: Item, result: Item, action: str, now_ms: int) -> None:
    if "rrule" in item:
        rule = text_field(item["rrule"], name="rrule", units=RRULE_UNITS).removeprefix("RRULE:")
        if rule:
            result["rrule"] = rule
        elif action == "update" and item["rrule"] is None:
            result["rrule"] = None
    dates = item.get("exdates")
    if dates is None:
        return
    if not isinstance(dates, list) or len(dates) > EXDATES_MAX:
        raise InvalidField("exdates", f"exdates must be a list of at most {EXDATES_MAX} times")
    found = [time_field(value, name="exdates", now_ms=now_ms) for value in dates]
    if found:
        result["exdates"] = list(dict.fromkeys(found))


def _deletion(item: Item, capability: str) -> Item:
    """Take exactly what was listed: no coercion, no aliases, nothing invented (section 3.5)."""
    result: Item = {
        "id": _exact_text(item.get("id"), ID_UNITS),
        "title": _exact_text(item.get("title"), TITLE_UNITS),
    }
    if capability == "calendar":
        start = item.get("start_ms")
        if start is None or not _finite(start) or start < EARLIEST_MS:
            raise InvalidRequest
        result["start_ms"] = start
    else:
        due = item.get("due_ms")
        if due is not None:
            if not _finite(due):
                raise InvalidRequest
            result["due_ms"] = due
    return result


def _exact_text(value: Any, units: int) -> str:
    if not isinstance(value, str) or length(value) > units or not trim(value):
        raise InvalidRequest
    return trim(value)


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def session_id_of(value: Any) -> str:
    """Return the session that a request names, as trimmed text; empty when it names none."""
    return clean_text(value, units=ID_UNITS) if truthy(value) else ""
