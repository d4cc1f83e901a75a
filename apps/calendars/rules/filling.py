"""What is stored beside an object's text: its columns and its occurrence rows, reckoned without the database."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from apps.calendars.rules.columns import columns_of
from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.occurrences import count_occurrences
from apps.calendars.rules.parts import Part
from apps.calendars.rules.placements import is_endless
from apps.calendars.rules.projection import Row, project
from apps.calendars.rules.series import read_object
from apps.calendars.rules.targets import (
    DAY_MS,
    HORIZONS_MS,
    LONG_MS,
    ROWS_MAX,
    slot_hash,
)
from apps.calendars.rules.values import date_text
from apps.calendars.rules.zones import iana_zone

EVERYWHERE_MS = 2**53
_ENDLESS_LOOK, _COUNTED_MOST = 60, 100_000
_WORDS = ("title", "location", "notes", "status", "priority", "attendees", "alarm_minutes", "completed", "completed_ms")
_COLUMNS = (
    *("title", "location", "notes", "transparent", "all_day", "recurring", "rrule", "priority", "attendees"),
    *("alarm_minutes", "completed", "completed_ms", "start_ms", "end_ms", "first_ms", "last_ms"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """Columns by name, and rows of (slot, hash, at, until, long, start, end, all_day, first day, end day, words)."""

    columns: dict[str, Any]
    rows: list[tuple[Any, ...]]


def filled(stored: StoredObject, *, now_ms: int) -> Filled:
    """Return columns and occurrence rows of an object, the rows within a horizon around a moment."""
    found = columns_of(stored=stored)
    first = found.first
    columns: dict[str, Any] = {name: getattr(found, name) for name in _COLUMNS}
    columns |= {
        "ics": stored.ics,
        "digest": hashlib.sha256(stored.ics.encode()).hexdigest(),
        "owner_zone": stored.owner_zone,
        "status": found.status[:40],
        "zone": found.zone[:200],
        "sequence": min(found.sequence, 2**62),
        "first_title": "" if first is None else first.title,
        "first_start_ms": None if first is None else (first.start_ms if stored.kind == "VEVENT" else first.end_ms),
        "occurrences": _count(stored) if found.recurring else 1,
        "changed_at_ms": now_ms,
    }
    horizon, projected = _projected(columns, stored=stored, now_ms=now_ms)
    return Filled(columns=columns | horizon, rows=_dressed(columns, stored, projected))


def _count(stored: StoredObject) -> int | None:
    """Return how many occurrences a series has; of an endless one it is enough to see that it goes on."""
    endless = is_endless(series=read_object(stored=stored))
    return count_occurrences(stored=stored, cap=_ENDLESS_LOOK if endless else _COUNTED_MOST)


def _projected(columns: dict[str, Any], *, stored: StoredObject, now_ms: int) -> tuple[dict[str, Any], list[Row]]:
    """Return the horizon and the bare rows within it; a short series is kept whole, a dense one in a short horizon."""
    count = columns["occurrences"]
    if not columns["recurring"] or (count is not None and count <= ROWS_MAX):
        rows = project(stored=stored, horizon_start_ms=-EVERYWHERE_MS, horizon_end_ms=EVERYWHERE_MS)
        return {"rows_from_ms": None, "rows_to_ms": None, "extend_at_ms": None}, rows
    for back, ahead in HORIZONS_MS:
        low, high = now_ms - back, now_ms + ahead
        rows = project(stored=stored, horizon_start_ms=low, horizon_end_ms=high, limit=ROWS_MAX + 1)
        if len(rows) <= ROWS_MAX:
            over = columns["last_ms"] is not None and columns["last_ms"] < low
            extend_at_ms = None if over else now_ms + (high - now_ms) // 2
            return {"rows_from_ms": low, "rows_to_ms": high, "extend_at_ms": extend_at_ms}, rows
    # Too many even within a day: no rows at all, every window is expanded when somebody looks.
    return {"rows_from_ms": now_ms, "rows_to_ms": now_ms, "extend_at_ms": None}, []


def _dressed(columns: dict[str, Any], stored: StoredObject, projected: list[Row]) -> list[tuple[Any, ...]]:
    series = read_object(stored=stored)
    parts = [series.master, *(override.part for override in series.overrides.values())]
    said: dict[int, tuple[str, bool]] = {}
    found = []
    for slot, start, end, number, first, last in projected:
        if number not in said:
            said[number] = _said(columns, parts[number])
        words, all_day = said[number]
        dates = ("", "")
        if all_day:
            dates = day_texts(start, end_ms=end, owner_zone=stored.owner_zone)
        long = first is not None and last is not None and last - first > LONG_MS
        found.append((slot, slot_hash(slot), first, last, long, start, end, all_day, *dates, words))
    return found


def _said(columns: dict[str, Any], part: Part | None) -> tuple[str, bool]:
    """Return what a component says differently from the columns, as JSON, and whether it is all-day."""
    if part is None:
        return "", False
    details = part.details
    words = {name: getattr(details, name) for name in _WORDS if getattr(details, name) != columns[name]}
    if "status" in words:
        words["status"] = words["status"][:40]
        if words["status"] == columns["status"]:
            del words["status"]
    if part.anchor_zone.name[:200] != columns["zone"]:
        words["zone"] = part.anchor_zone.name[:200]
    return (json.dumps(words, sort_keys=True, ensure_ascii=False) if words else ""), part.all_day


def day_texts(start_ms: int | None, *, end_ms: int | None, owner_zone: str) -> tuple[str, str]:
    """Return first day and day after the last of an all-day item."""
    zone = iana_zone(owner_zone)
    first, last = ("" if ms is None else date_text(zone.to_wall(ms) // DAY_MS) for ms in (start_ms, end_ms))
    return first, last
