"""The values that travel between the iCalendar rules and the rest of Sayso."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["VEVENT", "VTODO"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """Everything with one UID: master, overrides and the VTIMEZONEs they need, as RFC 5545 text with CRLF.

    `owner_zone` is the IANA name in which floating and all-day values are judged.
    """

    uid: str
    kind: Kind
    ics: str
    owner_zone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportNote:
    """One line of the import report; `line` counts from 1 in the file as it came."""

    code: str
    uid: str
    summary: str
    line: int
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancellation:
    """One component of a METHOD:CANCEL file; without `slot` it names the whole series.

    `slot` is written as the file has it; `removal.cancelled_slot` finds the stored slot it means.
    """

    uid: str
    slot: str | None
    this_and_future: bool
    summary: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedCalendar:
    """What one file holds; `error` refuses the file as a whole and leaves everything else empty.

    `ignored` names components that Sayso does not keep, such as VJOURNAL.
    """

    method: str | None
    name: str
    objects: tuple[StoredObject, ...]
    skipped: tuple[ImportNote, ...]
    warnings: tuple[ImportNote, ...]
    ignored: tuple[ImportNote, ...]
    cancellations: tuple[Cancellation, ...]
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One occurrence; instants in Unix milliseconds.

    All-day: `start_ms` and `end_ms` are local midnights in the owner's zone and `end_date` is exclusive.
    VTODO: start is DTSTART, end is DUE, either may be None; a DUE date is that day itself, not exclusive.
    `slot` is the original start in DTSTART's own form, also for a moved occurrence.
    """

    uid: str
    kind: Kind
    slot: str
    start_ms: int | None
    end_ms: int | None
    all_day: bool
    start_date: str | None
    end_date: str | None
    title: str
    location: str
    notes: str
    categories: tuple[str, ...]
    status: str
    transparent: bool
    is_override: bool
    recurring: bool
    zone: str
    alarm_minutes: int | None
    alarms: int
    attendees: int
    priority: int
    completed: bool
    completed_ms: int | None
