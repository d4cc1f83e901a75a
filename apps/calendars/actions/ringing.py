"""Alarm clocks: one for each object that may ring, looked at when its time comes."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from django.db import transaction

from apps.calendars.models import AlarmClock, CalendarObject
from apps.calendars.queries.ringing import due_clocks, next_alarm_ms
from apps.calendars.rules.alarms import Alarm
from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.ringing import LOOKS_MS, firings_between, may_ring, next_firing_ms
from apps.calendars.rules.targets import occurrence_id
from apps.core import rows
from apps.core.announce import announce
from apps.core.threads import Turn
from apps.core.timers import MORE

log = logging.getLogger("sayso.alarms")

AT_ONCE = 20
AGAIN_MS = 86_400_000
"""When an object that could not be reckoned is looked at again."""
_SET = (
    "insert into calendars_alarmclock (object_id, profile_id, at_ms, since_ms) values (%s, %s, %s, %s)"
    " on conflict (object_id) do update set at_ms = excluded.at_ms"
)
_SET_ANEW = _SET + ", since_ms = excluded.since_ms"
_MOVE = "update calendars_alarmclock set at_ms = %s, since_ms = %s where object_id = %s"
_DROP = "delete from calendars_alarmclock where object_id = %s"


def set_clocks(objects: Sequence[CalendarObject], *, edited: bool) -> None:
    """Let the dispatcher look at objects that were just written: what rings next is reckoned there, not here.

    An `edited` one rings for what comes from now on; one that was only reckoned anew for all that was not told yet.
    """
    ringing = [row for row in objects if may_ring(kind=row.kind, ics=row.ics)]
    silent = [row for row in objects if not may_ring(kind=row.kind, ics=row.ics)]
    if silent:
        rows.execute_many(_DROP, [(row.pk,) for row in silent])
    if ringing:
        statement = _SET_ANEW if edited else _SET
        rows.execute_many(
            statement, [(row.pk, row.profile_id, row.changed_at_ms, row.changed_at_ms) for row in ringing]
        )
        announce("calendar.alarm", deadline=min(row.changed_at_ms for row in ringing))


def drop_clock(object_id: str) -> None:
    """Forget an object that goes."""
    rows.execute(_DROP, [object_id])


def ring_due(*, now_ms: int) -> str | None:
    """Tell the pages what is due, for one turn of the lane; returns `MORE` when something is left."""
    turn = Turn()
    while True:
        with transaction.atomic():
            found = due_clocks(now_ms=now_ms, limit=AT_ONCE)
            for clock in found:
                _ring(clock, now_ms=now_ms)
        if len(found) < AT_ONCE:
            return None
        if turn.over():
            due = next_alarm_ms()
            return MORE if due is not None and due <= now_ms else None


def _ring(clock: AlarmClock, *, now_ms: int) -> None:
    row = CalendarObject.objects.get(pk=clock.object_id)
    stored = StoredObject(uid=row.uid, kind=row.kind, ics=row.ics, owner_zone=row.owner_zone)  # type: ignore[arg-type]
    try:
        fired = firings_between(stored=stored, start_ms=clock.since_ms + 1, end_ms=now_ms + 1)
        following = next_firing_ms(stored=stored, after_ms=now_ms)
    except Exception:
        # One object that cannot be reckoned must not silence the others, nor lose what it has not told yet.
        log.exception("the alarms of %s cannot be reckoned", row.pk)
        rows.execute(_MOVE, [now_ms + AGAIN_MS, clock.since_ms, row.pk])
        return
    if fired:
        _tell(row, fired)
    if following is None and (row.last_ms is None or row.last_ms > now_ms + LOOKS_MS[-1]):
        following = now_ms + LOOKS_MS[-1]
    if following is None:
        drop_clock(row.pk)
    else:
        # A clock that was set back must not ring again for what has rung.
        rows.execute(_MOVE, [following, max(now_ms, clock.since_ms), row.pk])


def _tell(row: CalendarObject, fired: Sequence[Alarm]) -> None:
    """Announce the newest of what fired; what was missed before it is counted."""
    last = fired[-1]
    announce(
        "alarm.due",
        profile=row.profile_id,
        kind="event" if row.kind == "VEVENT" else "reminder",
        item=occurrence_id(row.pk, slot=last.slot) if row.recurring and last.slot else row.pk,
        title=last.title,
        at=last.at_ms,
        missed=len(fired) - 1,
    )
