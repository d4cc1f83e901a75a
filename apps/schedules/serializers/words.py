"""Words of the cards about schedules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.core.contracts import Words

Facts = Mapping[str, Any]
_DATETIME_RANGE_MS = (-62_135_596_800_000 + 86_400_000, 253_402_300_799_999 - 86_400_000)


def deletion_words(facts: Facts, zone: ZoneInfo) -> Words:
    """Say what the deletion of a schedule does."""
    names = {"title": facts["title"], "rule": rule_words(facts.get("record"))}
    gone = _("It will not remind again (%(rule)s); its history goes too.") % names
    kept = _("Reminders that were sent already stay in the session.")
    return Words(
        question=_("Delete the schedule '%(title)s'?") % names,
        consequence=f"{gone} {kept}",
        confirm=_("Delete the schedule '%(title)s'") % names,
        keep=_("Keep it"),
        lines=(*_lines(facts, zone), (_("Deliveries so far"), str(facts["deliveries"]))),
    )


def purge_words(facts: Facts, zone: ZoneInfo) -> Words:
    """Say what the purge of old delivery records does."""
    count = facts["hidden"]
    goes = ngettext(
        "%(count)d old delivery record goes for good.", "%(count)d old delivery records go for good.", count
    )
    return Words(
        question=_("Purge the old delivery records of '%(title)s'?") % {"title": facts["title"]},
        consequence=goes % {"count": count} + " " + _("The schedule itself stays."),
        confirm=_("Purge old records of '%(title)s'") % {"title": facts["title"]},
        keep=_("Keep them"),
        lines=_lines(facts, zone),
    )


def _lines(facts: Facts, zone: ZoneInfo) -> tuple[tuple[str, str], ...]:
    lines = [
        (_("Session"), facts.get("session_title") or facts["session"]),
        (_("When"), rule_words(facts.get("record"))),
        (_("Reminder"), facts["prompt"]),
    ]
    if facts["next_ms"] is not None:
        shown = _("paused") if facts["paused"] else moment_words(facts["next_ms"], zone=zone)
        lines.append((_("Next run"), shown))
    if facts["last_ms"] is not None:
        lines.append((_("Last delivered"), moment_words(facts["last_ms"], zone=zone)))
    return tuple(lines)


def moment_words(instant_ms: int, *, zone: ZoneInfo) -> str:
    """Return an instant as local day and time."""
    low, high = _DATETIME_RANGE_MS
    if not low <= instant_ms <= high:
        return _("at the end of time")
    moment = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=instant_ms)).astimezone(zone)
    return f"{date_format(moment, 'DATE_FORMAT')} {date_format(moment, 'TIME_FORMAT')}"


def rule_words(record: Mapping[str, Any] | None) -> str:
    """Return when a schedule runs, in words."""
    if record is None:
        return _("its rule cannot be read")
    kind = record["kind"]
    if kind in ("after", "at"):
        return _("once")
    if kind == "every":
        return duration_words(record["everySeconds"])
    names = {"zone": record["timeZone"], "time": record.get("time", "").removesuffix(".000").removesuffix(":00")}
    if kind == "daily":
        return _("every day at %(time)s (%(zone)s)") % names
    if kind == "weekly":
        days = ", ".join(_weekday(number) for number in record["weekdays"])
        return _("every %(days)s at %(time)s (%(zone)s)") % {**names, "days": days}
    return _("by the cron rule %(rule)s (%(zone)s)") % {**names, "rule": record["expression"]}


def duration_words(seconds: int) -> str:
    """Return how often something repeats, in the largest unit that fits."""
    if seconds % 86_400 == 0:
        count = seconds // 86_400
        return ngettext("every day", "every %(count)d days", count) % {"count": count}
    if seconds % 3_600 == 0:
        count = seconds // 3_600
        return ngettext("every hour", "every %(count)d hours", count) % {"count": count}
    if seconds % 60 == 0:
        count = seconds // 60
        return ngettext("every minute", "every %(count)d minutes", count) % {"count": count}
    return ngettext("every second", "every %(count)d seconds", seconds) % {"count": seconds}


def _weekday(number: int) -> str:
    # The first of January 2024 was a Monday.
    return date_format(datetime(2024, 1, number, tzinfo=UTC), "l")
