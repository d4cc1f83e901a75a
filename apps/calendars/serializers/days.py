"""Days and times as a card says them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import formats
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.calendars.queries.bodies import local

Facts = Mapping[str, Any]


def days_of(facts: Facts, zone: ZoneInfo) -> tuple[str, str]:
    """Return the day of the start in full, with its weekday, and short; both empty without one."""
    day = _day(facts, zone)
    return day_texts_in(day, get_language()) if day is not None else ("", "")


@lru_cache(maxsize=4096)
def day_texts_in(day: date, language: str | None) -> tuple[str, str]:
    """Return a day in full and short in the active language, which the argument names so that it can be remembered."""
    # Translators: date formats of Django, as in "Tuesday, 1 December 2026" and "1 December".
    return formats.date_format(day, _("l, j F Y")), formats.date_format(day, _("j F"))


def _day(facts: Facts, zone: ZoneInfo) -> date | None:
    if facts.get("all_day") and facts.get("start_date"):
        try:
            return date.fromisoformat(facts["start_date"])
        except ValueError:
            return None
    if facts.get("start_ms") is None:
        return None
    moment = local(facts["start_ms"], zone=str(facts["time_zone"]) if facts.get("all_day") else zone.key)
    return moment.date()


def clock(ms: int, zone: ZoneInfo) -> str:
    """Return hours and minutes of an instant."""
    return f"{local(ms, zone=zone.key):%H:%M}"


def when(facts: Facts, zone: ZoneInfo, *, day: str | None = None) -> str:
    """Return local day and time with the zone, as one text; `day` is the day in full where it is known already."""
    if day is None:
        day = days_of(facts, zone)[0]
    if not day:
        return _("no time")
    if facts.get("all_day"):
        last = facts.get("last_day")
        if last and last != facts.get("start_date"):
            # Translators: date format of Django, as in "1 December 2026".
            until = formats.date_format(date.fromisoformat(last), _("j F Y"))
            return _("%(day)s to %(last)s, all day") % {"day": day, "last": until}
        return _("%(day)s, all day") % {"day": day}
    start = clock(facts["start_ms"], zone)
    end = facts.get("end_ms")
    if end is not None and end != facts["start_ms"]:
        if local(end, zone=zone.key).date() == local(facts["start_ms"], zone=zone.key).date():
            start = f"{start}–{clock(end, zone)}"
        else:
            until = formats.date_format(local(end, zone=zone.key).date(), _("j F Y"))
            start = f"{start} – {until} {clock(end, zone)}"
    return _("%(day)s, %(time)s (%(zone)s)") % {"day": day, "time": start, "zone": zone.key}
