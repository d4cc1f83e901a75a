"""Finding one item by its opaque id, from columns and occurrence rows alone wherever they suffice."""

from __future__ import annotations

import json
from typing import Any

import orjson
from django.db import connection

from apps.calendars.models import Calendar, CalendarObject
from apps.calendars.queries.values import Found, Owner, Shown
from apps.calendars.rules.components import Occurrence, StoredObject
from apps.calendars.rules.filling import day_texts
from apps.calendars.rules.occurrences import expand
from apps.calendars.rules.targets import CalendarNotFound, ItemNotFound, slot_hash, split_id
from apps.calendars.rules.values import DAY_MS
from apps.core import rows

_OBJECT = (
    "o.id, o.kind, o.recurring, o.title, o.location, o.notes, o.zone, o.alarm_minutes, o.attendees, o.status,"
    " o.priority, o.completed, o.completed_ms, o.calendar_id, o.rrule"
)
_ROW = "r.slot, r.slot_hash, r.start_ms, r.end_ms, r.all_day, r.start_date, r.end_date, r.words"
_STORE = (
    "o.uid, o.version, o.digest, o.occurrences, o.owner_zone, c.name, c.read_only, o.first_start_ms, o.first_title,"
    " o.all_day, o.start_ms, o.end_ms"
)
_FIND = (
    "select {object}, {row}, {store} from calendars_calendarobject o"
    " join calendars_calendar c on c.id = o.calendar_id"
    " left join calendars_occurrence r on r.object_id = o.id and {match}"
    " where o.id = %s and o.profile_id = %s"
)
_FIND_SLOT = _FIND.format(object=_OBJECT, row=_ROW, store=_STORE, match="r.slot_hash = %s")
_FIND_WHOLE = _FIND.format(object=_OBJECT, row=_ROW, store=_STORE, match="not o.recurring")
OBJECT_COLUMNS, ROW_COLUMNS = _OBJECT, _ROW


def shown_of(columns: tuple[Any, ...]) -> Shown:
    """Return an item from the object's columns followed by the row's."""
    object_id, kind, recurring, title, location, notes, zone, alarm, attendees, status, priority, done = columns[:12]
    completed_ms, calendar_id, rrule, slot, hashed, start, end, all_day, start_date, end_date, words = columns[12:23]
    shown = Shown(
        object_id,
        kind,
        slot,
        hashed,
        False,
        bool(recurring),
        title,
        location,
        notes,
        start,
        end,
        bool(all_day),
        start_date,
        end_date,
        zone,
        alarm,
        attendees,
        status,
        priority,
        bool(done),
        completed_ms,
        calendar_id,
        rrule,
    )
    return with_words(shown, words=words) if words else shown


def with_words(shown: Shown, *, words: str) -> Shown:
    """Return the item with what its own component says differently from the series."""
    return shown._replace(**orjson.loads(words))


def find_item(
    *, profile_id: str, item_id: str, near_ms: float | None = None, lock: bool = False, kind: str = ""
) -> Found:
    """Return an item by its id; raise `ItemNotFound`.

    `near_ms` helps to find an occurrence outside the horizon; it is not compared here.
    """
    object_id, hashed = split_id(item_id)
    sql, arguments = (_FIND_SLOT, [hashed, object_id, profile_id]) if hashed else (_FIND_WHOLE, [object_id, profile_id])
    if lock and connection.vendor == "postgresql":
        sql += " for update of o"
    columns = rows.execute(sql, arguments).fetchone()
    if columns is None or (kind and columns[1] != kind):
        raise ItemNotFound
    recurring, has_row = bool(columns[2]), columns[16] is not None
    if hashed and not recurring:
        raise ItemNotFound
    if has_row:
        shown = shown_of(columns)
    elif hashed:
        shown = _outside_rows(profile_id=profile_id, columns=columns, hashed=hashed, near_ms=near_ms)
    else:
        shown = _whole(columns)
    return _found(shown, columns)


def _found(shown: Shown, columns: tuple[Any, ...]) -> Found:
    uid, version, digest, occurrences, owner_zone, name, read_only = columns[23:30]
    return Found(
        shown=shown,
        uid=uid,
        version=version,
        digest=digest,
        occurrences=occurrences,
        series_title=columns[3],
        owner_zone=owner_zone,
        calendar_name=name,
        read_only=bool(read_only),
    )


def _whole(columns: tuple[Any, ...]) -> Shown:
    """Return a whole series, or a single item that has no row."""
    first_start, first_title, all_day, start, end = columns[30:35]
    recurring = bool(columns[2])
    if recurring and first_start is not None:
        length = end - start if start is not None and end is not None else 0
        is_todo = columns[1] == "VTODO"
        start, end = (first_start - length, first_start) if is_todo else (first_start, first_start + length)
    dates = day_texts(start, end_ms=end, owner_zone=columns[27]) if all_day else ("", "")
    shown = shown_of((*columns[:15], "", "", start, end, all_day, *dates, ""))
    return shown._replace(whole=recurring, title=shown.title or first_title or "")


def _outside_rows(*, profile_id: str, columns: tuple[Any, ...], hashed: str, near_ms: float | None) -> Shown:
    if near_ms is None:
        raise ItemNotFound
    stored = stored_object(profile_id=profile_id, object_id=columns[0])
    at = int(near_ms)
    # First exactly there: of a dense series the days around hold more than anybody should look at.
    for low, high, limit in ((at, at + 1, 2_000), (at - DAY_MS, at + 2 * DAY_MS, 10_000)):
        for each in expand(stored=stored, window_start_ms=low, window_end_ms=high, limit=limit):
            if slot_hash(each.slot) == hashed:
                return shown_from(each, columns=columns)
    raise ItemNotFound


def shown_from(each: Occurrence, *, columns: tuple[Any, ...]) -> Shown:
    """Return an item from an occurrence that was expanded just now."""
    return Shown(
        object_id=columns[0],
        kind=columns[1],
        slot=each.slot,
        slot_hash=slot_hash(each.slot),
        whole=False,
        recurring=each.recurring,
        title=each.title,
        location=each.location,
        notes=each.notes,
        start_ms=each.start_ms,
        end_ms=each.end_ms,
        all_day=each.all_day,
        start_date=each.start_date or "",
        end_date=each.end_date or "",
        zone=each.zone,
        alarm_minutes=each.alarm_minutes,
        attendees=each.attendees,
        status=each.status,
        priority=each.priority,
        completed=each.completed,
        completed_ms=each.completed_ms,
        calendar_id=columns[13],
        rrule=columns[14],
    )


def stored_object(*, profile_id: str, object_id: str) -> StoredObject:
    """Return an object's text for the rules; raise `ItemNotFound`."""
    row = (
        CalendarObject.objects.filter(pk=object_id, profile_id=profile_id)
        .values_list("uid", "kind", "ics", "owner_zone")
        .first()
    )
    if row is None:
        raise ItemNotFound
    uid, kind, ics, owner_zone = row
    return StoredObject(uid=uid, kind=kind, ics=ics, owner_zone=owner_zone)  # type: ignore[arg-type]


def owner_of(*, profile_id: str) -> Owner:
    """Return zone, kind of calendars and policies of a profile."""
    return _owner(profile_id, rows.execute(_OWNER, [profile_id]).fetchone())


def owner_and_staleness(*, profile_id: str) -> tuple[Owner, bool]:
    """Return the profile's settings, and whether objects were judged in another zone of the owner than it has now."""
    found = rows.execute(_OWNER_AND_STALENESS, [profile_id]).fetchone()
    return _owner(profile_id, found), bool(found[3])


_OWNER = "select time_zone, calendars, policies from accounts_profile where id = %s"
_STALE = "exists (select 1 from calendars_calendarobject o where o.profile_id = p.id and o.owner_zone {} p.time_zone)"
_OWNER_AND_STALENESS = (
    f"select p.time_zone, p.calendars, p.policies, {_STALE.format('<')} or {_STALE.format('>')}"  # noqa: S608 (own text)
    " from accounts_profile p where p.id = %s"
)


def _owner(profile_id: str, found: tuple[Any, ...]) -> Owner:
    zone, calendars, policies = found[:3]
    return Owner(
        profile_id=profile_id,
        zone=zone,
        calendars=calendars,
        policies=json.loads(policies) if isinstance(policies, str) else dict(policies),
    )


def calendar_names(*, profile_id: str) -> dict[str, str]:
    """Return the names of a profile's calendars by id."""
    found = rows.execute("select id, name from calendars_calendar where profile_id = %s", [profile_id])
    return dict(found.fetchall())


def find_calendar(*, profile_id: str, name: str = "") -> Calendar:
    """Return a calendar by id or name, or the default one; raise `CalendarNotFound`."""
    if name:
        found = rows.fetch(Calendar, "profile_id = %s and id = %s", [profile_id, name]) or rows.fetch(
            Calendar, "profile_id = %s and name = %s", [profile_id, name]
        )
    else:
        found = rows.fetch(Calendar, "profile_id = %s order by is_default desc, created_at_ms, id", [profile_id])
    if found is None:
        raise CalendarNotFound
    return found


def next_extension_ms() -> int | None:
    """Return when the next series needs its rows moved on."""
    return (
        CalendarObject.objects.filter(extend_at_ms__isnull=False)
        .order_by("extend_at_ms")
        .values_list("extend_at_ms", flat=True)
        .first()
    )
