"""The sentences and lines that several cards share."""

from __future__ import annotations

from collections.abc import Mapping
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.calendars.serializers.days import Facts, days_of, when


def title_of(facts: Facts) -> str:
    """Return the title, or that there is none."""
    return facts.get("title") or _("(untitled)")


def lines_of(facts: Facts, zone: ZoneInfo, *, when_text: str = "") -> tuple[tuple[str, str], ...]:
    """Return label and value of what a card shows."""
    lines = [(_("When"), when_text or when(facts, zone)), (_("Calendar"), str(facts.get("calendar", "")))]
    if facts.get("location"):
        lines.append((_("Where"), facts["location"]))
    if facts.get("attendees"):
        lines.append((_("Attendees"), str(facts["attendees"])))
    if facts.get("notes"):
        lines.append((_("Notes"), facts["notes"]))
    return tuple(lines)


def names_of(facts: Facts, zone: ZoneInfo) -> dict[str, str]:
    """Return the texts that the sentences of a card are made of."""
    day, short = days_of(facts, zone)
    return {
        "title": title_of(facts),
        "day": day,
        "short": short,
        "when": when(facts, zone, day=day),
        "calendar": str(facts.get("calendar", "")),
    }


def remaining(facts: Facts) -> str:
    """Say how much of a series stays."""
    remain = facts.get("remain")
    if remain is None:
        return _("The series goes on without an end; all its other occurrences stay.")
    if remain == 0:
        return _("It is the last one: the series stays as an empty series.")
    return ngettext(
        "%(count)d other occurrence of the series stays.", "%(count)d other occurrences of the series stay.", remain
    ) % {"count": remain}


def going(facts: Facts) -> str:
    """Say how many occurrences go."""
    goes = facts.get("goes")
    if goes is None:
        return _("All occurrences go, without an end.")
    return ngettext("%(count)d occurrence goes.", "%(count)d occurrences go.", goes) % {"count": goes}


def delete_labels(names: Mapping[str, str]) -> tuple[str, str]:
    """Return the question and the label of the button that deletes."""
    if not names["day"]:
        return _("Delete '%(title)s'?") % names, _("Delete '%(title)s'") % names
    return _("Delete '%(title)s' on %(day)s?") % names, _("Delete '%(title)s' on %(short)s") % names
