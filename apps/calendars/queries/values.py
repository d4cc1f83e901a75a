"""The values that reads hand out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Shown(NamedTuple):
    """One item as lists and previews show it: a single event or reminder, or one occurrence of a series.

    For a whole series (`whole`) the times are those of its first occurrence. Dates: `start_date` is the first day,
    `end_date` the day after the last. A tuple, because a week makes a thousand of them and a frozen dataclass takes
    five times as long.
    """

    object_id: str
    kind: str
    slot: str
    slot_hash: str
    whole: bool
    recurring: bool
    title: str
    location: str
    notes: str
    start_ms: int | None
    end_ms: int | None
    all_day: bool
    start_date: str
    end_date: str
    zone: str
    alarm_minutes: int | None
    attendees: int
    status: str
    priority: int
    completed: bool
    completed_ms: int | None
    calendar_id: str
    rrule: str = ""

    @property
    def id(self) -> str:
        """Return the opaque id under which agents know it."""
        return f"{self.object_id}.{self.slot_hash}" if self.recurring and not self.whole else self.object_id

    @property
    def is_event(self) -> bool:
        """Tell events from reminders."""
        return self.kind == "VEVENT"

    @property
    def at_ms(self) -> int | None:
        """Return what it is listed by: an event's start, a reminder's due time."""
        return self.start_ms if self.kind == "VEVENT" else self.end_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An item with the stored object that it belongs to."""

    shown: Shown
    uid: str
    version: int
    digest: str
    occurrences: int | None
    series_title: str
    owner_zone: str
    calendar_name: str
    read_only: bool

    @property
    def target_kind(self) -> str:
        """Return what an action on it acts on."""
        base = "event" if self.shown.is_event else "reminder"
        if not self.shown.recurring:
            return base
        return f"{base}_series" if self.shown.whole else f"{base}_occurrence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """What the room needs to know of a profile."""

    profile_id: str
    zone: str
    calendars: str
    policies: dict[str, Any]
