"""Opaque ids, the titles that lists print, and the errors of this room."""

from __future__ import annotations

import hashlib

from apps.calendars.rules.mobile_values import clean_text
from apps.core.errors import Conflict, Denied, InvalidField, NotFound, SaysoError

UNTITLED = "(untitled)"
TITLE_UNITS = 500
DAY_MS = 86_400_000
LONG_MS = 25 * 3_600_000
"""Rows that last longer than a day are looked up apart, so that a window never scans far back."""
HORIZONS_MS = ((92 * DAY_MS, 400 * DAY_MS), (7 * DAY_MS, 28 * DAY_MS), (DAY_MS // 2, DAY_MS))
"""How far back and ahead of a moment occurrences have rows: as far as no more than `ROWS_MAX` lie within."""
ROWS_MAX = 1_200
WRITES_PER_MINUTE = 20
KIND_OF_CAPABILITY = {"calendar": "VEVENT", "reminder": "VTODO"}
NAME_OF_KIND = {"VEVENT": "event", "VTODO": "reminder"}
MINUTE_MS = 60_000
NAME_MAX = 200


class ItemNotFound(NotFound):
    """There is no such item with this title and time; list again and use what is listed."""

    code = "calendar_item_not_found"


class CalendarReadOnly(Denied):
    """This calendar is read-only; nothing was changed."""

    code = "calendar_permission_denied"


class CalendarNotFound(NotFound):
    """There is no such calendar."""

    code = "calendar_not_found"


class CalendarExists(Conflict):
    """There is already a calendar of this name."""

    code = "calendar_exists"


class LastCalendar(Conflict):
    """The default calendar stays; make another one the default first."""

    code = "calendar_is_default"


class UidTaken(Conflict):
    """The other calendar already holds an item with the same UID."""

    code = "uid_taken"


class RevisionNotFound(NotFound):
    """There is no such revision."""

    code = "revision_not_found"


class Unavailable(SaysoError):
    """This calendar cannot be reached now."""

    code = "calendar_unavailable"
    status = 503


def slot_hash(slot: str) -> str:
    """Return the part of an occurrence's id that stands for its slot."""
    return hashlib.sha256(slot.encode("utf-8", "replace")).hexdigest()[:16]


def occurrence_id(object_id: str, *, slot: str) -> str:
    """Return the opaque id of one occurrence of a series."""
    return f"{object_id}.{slot_hash(slot)}"


def split_id(item_id: str) -> tuple[str, str]:
    """Return the object's id and the slot's hash, the latter empty for a whole item."""
    object_id, _, part = item_id.partition(".")
    return object_id, part


def uid_key(uid: str) -> str:
    """Return what a UID is unique by: its hash, because a UID may be longer than an index entry."""
    return hashlib.sha256(uid.encode("utf-8", "replace")).hexdigest()


def listed_title(title: str) -> str:
    """Return a title as lists print it: trimmed, at most 500 units, never empty."""
    return clean_text(title, units=TITLE_UNITS) or UNTITLED


def same_title(title: str, *, given: str) -> bool:
    """Tell whether a given title is the one that lists print."""
    return listed_title(title) == given


def check_calendar_name(value: object) -> str:
    """Return a calendar's name: 1 to 200 characters without blanks around."""
    name = value.strip() if isinstance(value, str) else ""
    if not name or len(name) > NAME_MAX:
        raise InvalidField("name", f"name must be a text of 1 to {NAME_MAX} characters")
    return name


def check_colour(value: object) -> str:
    """Return a colour such as #3b6ea5."""
    digits = value.removeprefix("#") if isinstance(value, str) and value.startswith("#") else ""
    if len(digits) not in (3, 6) or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
        raise InvalidField("colour", "colour must be a colour such as #3b6ea5")
    return f"#{digits.lower()}"
