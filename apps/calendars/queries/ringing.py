"""When the next alarm of any calendar is to be looked at."""

from __future__ import annotations

from django.db import connection

from apps.calendars.models import AlarmClock
from apps.core import rows


def next_alarm_ms() -> int | None:
    """Return when the next alarm clock wants to be looked at, or None."""
    found = rows.execute("select min(at_ms) from calendars_alarmclock").fetchone()[0]
    return None if found is None else int(found)


def due_clocks(*, now_ms: int, limit: int) -> list[AlarmClock]:
    """Lock and return the alarm clocks whose time has come; those that another dispatcher holds are left to it."""
    skip = " for update skip locked" if connection.vendor == "postgresql" else ""
    return rows.fetch_all(AlarmClock, f"at_ms <= %s order by at_ms limit {limit}{skip}", [now_ms])
