"""Words of this room's cards in the viewer's language, and the shapes of the REST endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import formats
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from rest_framework import serializers

from apps.calendars.queries.bodies import local
from apps.core.contracts import Words

Facts = Mapping[str, Any]


def title_of(facts: Facts) -> str:
    """Return the title, or that there is none."""
    return facts.get("title") or _("(untitled)")


def long_day(facts: Facts, zone: ZoneInfo) -> str:
    """Return weekday and full date of the start; empty without one."""
    day = _day(facts, zone)
    return day_texts_in(day, get_language())[0] if day is not None else ""


def short_day(facts: Facts, zone: ZoneInfo) -> str:
    """Return day and month of the start; empty without one."""
    day = _day(facts, zone)
    return day_texts_in(day, get_language())[1] if day is not None else ""


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


def when(facts: Facts, zone: ZoneInfo) -> str:
    """Return local day and time with the zone, as one text."""
    day = long_day(facts, zone)
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


def _names(facts: Facts, zone: ZoneInfo) -> dict[str, str]:
    return {
        "title": title_of(facts),
        "day": long_day(facts, zone),
        "short": short_day(facts, zone),
        "when": when(facts, zone),
        "calendar": str(facts.get("calendar", "")),
    }


def _remaining(facts: Facts) -> str:
    remain = facts.get("remain")
    if remain is None:
        return _("The series goes on without an end; all its other occurrences stay.")
    if remain == 0:
        return _("It is the last one: the series stays as an empty series.")
    return ngettext(
        "%(count)d other occurrence of the series stays.", "%(count)d other occurrences of the series stay.", remain
    ) % {"count": remain}


def _going(facts: Facts) -> str:
    goes = facts.get("goes")
    if goes is None:
        return _("All occurrences go, without an end.")
    return ngettext("%(count)d occurrence goes.", "%(count)d occurrences go.", goes) % {"count": goes}


def _delete_labels(names: Mapping[str, str]) -> tuple[str, str]:
    if not names["day"]:
        return _("Delete '%(title)s'?") % names, _("Delete '%(title)s'") % names
    return _("Delete '%(title)s' on %(day)s?") % names, _("Delete '%(title)s' on %(short)s") % names


def event_words(facts: Facts, zone: Any) -> Words:
    """Say what the deletion of one event or reminder does."""
    names = _names(facts, zone)
    question, confirm = _delete_labels(names)
    return Words(
        question=question,
        consequence=_("%(when)s, in the calendar '%(calendar)s', goes for good.") % names + _also(facts, zone),
        confirm=confirm,
        keep=_("Keep it"),
        lines=(*lines_of(facts, zone, when_text=names["when"]), *change_lines(facts, zone)),
    )


def occurrence_words(facts: Facts, zone: Any) -> Words:
    """Say what the deletion of one occurrence does."""
    if facts.get("leaves_nothing"):
        return event_words(facts, zone)
    names = _names(facts, zone)
    question, confirm = _delete_labels(names)
    gone = _("Only this one of the series goes: %(when)s, in the calendar '%(calendar)s'.") % names
    return Words(
        question=question,
        consequence=f"{gone} {_remaining(facts)}{_also(facts, zone)}",
        confirm=confirm,
        keep=_("Keep it"),
        undo=_("The series as it was stays among its revisions; a person can restore it."),
        lines=(*lines_of(facts, zone), *change_lines(facts, zone)),
    )


def series_words(facts: Facts, zone: Any) -> Words:
    """Say what the deletion of a series does."""
    names = _names(facts, zone)
    return Words(
        question=_("Delete the whole series '%(title)s'?") % names,
        consequence=_("The series in the calendar '%(calendar)s' goes for good.") % names + " " + _going(facts),
        confirm=_("Delete the series '%(title)s'") % names,
        keep=_("Keep it"),
        lines=((_("First occurrence"), names["when"]), *lines_of(facts, zone)[1:]),
    )


def reminder_words(facts: Facts, zone: Any) -> Words:
    """Say what the deletion of a reminder does."""
    if facts.get("what") == "reminder_series":
        return series_words(facts, zone)
    return occurrence_words(facts, zone) if facts.get("what") == "reminder_occurrence" else event_words(facts, zone)


def following_words(facts: Facts, zone: Any) -> Words:
    """Say what the deletion of an occurrence and all later ones does."""
    names = _names(facts, zone)
    remain = facts.get("remain")
    kept = ngettext("%(count)d earlier occurrence stays.", "%(count)d earlier occurrences stay.", remain or 0)
    return Words(
        question=_("Delete '%(title)s' on %(day)s and all later ones?") % names,
        consequence=f"{_going(facts)} {kept % {'count': remain or 0}}{_also(facts, zone)}",
        confirm=_("Delete '%(title)s' from %(short)s on") % names,
        keep=_("Keep them"),
        undo=_("The series as it was stays among its revisions; a person can restore it."),
        lines=(*lines_of(facts, zone), *change_lines(facts, zone)),
    )


def reduction_words(facts: Facts, zone: Any) -> Words:
    """Say what an update does that takes several occurrences away."""
    names = _names(facts, zone)
    return Words(
        question=_("Take occurrences out of '%(title)s'?") % names,
        consequence=f"{_going(facts)} {_remaining(facts)}",
        confirm=_("Take them out of '%(title)s'") % names,
        keep=_("Keep them"),
        undo=_("The series as it was stays among its revisions; a person can restore it."),
        lines=(*lines_of(facts, zone), *change_lines(facts, zone)),
    )


def move_words(facts: Facts, zone: Any) -> Words:
    """Say what a move to another calendar does."""
    names = {**_names(facts, zone), "to": str(facts.get("to", ""))}
    return Words(
        question=_("Move '%(title)s' out of the calendar '%(calendar)s'?") % names,
        consequence=_("It goes from '%(calendar)s' and is in '%(to)s' from then on.") % names,
        confirm=_("Move '%(title)s' to '%(to)s'") % names,
        keep=_("Keep it where it is"),
        undo=_("It can be moved back."),
        lines=(*lines_of(facts, zone), *change_lines(facts, zone)),
    )


def update_words(facts: Facts, zone: Any) -> Words:
    """Say what a change does."""
    names = _names(facts, zone)
    return Words(
        question=_("Change '%(title)s'?") % names,
        consequence=_("These fields get other values; everything else stays."),
        confirm=_("Change '%(title)s'") % names,
        keep=_("Keep it as it is"),
        undo=_("The item as it was stays among its revisions; a person can restore it."),
        lines=(*lines_of(facts, zone)[:2], *change_lines(facts, zone)),
    )


def completion_words(facts: Facts, zone: Any) -> Words:
    """Say what completing a reminder does."""
    names = _names(facts, zone)
    done = bool(facts.get("after", {}).get("completed", True))
    return Words(
        question=(_("Mark '%(title)s' as done?") if done else _("Open '%(title)s' again?")) % names,
        consequence=_("The reminder stays in the calendar '%(calendar)s'.") % names,
        confirm=(_("Mark '%(title)s' as done") if done else _("Open '%(title)s' again")) % names,
        keep=_("Keep it as it is"),
        undo=_("It can be changed back."),
        lines=(*lines_of(facts, zone)[:2], *change_lines(facts, zone)),
    )


def creation_words(facts: Facts, zone: Any) -> Words:
    """Say what a new item is."""
    names = _names(facts, zone)
    return Words(
        question=_("Add '%(title)s' to the calendar '%(calendar)s'?") % names,
        consequence=_("It is added: %(when)s.") % names,
        confirm=_("Add '%(title)s'") % names,
        keep=_("Do not add it"),
        undo=_("It can be deleted again."),
        lines=lines_of(facts, zone),
    )


def listing_words(facts: Facts, zone: Any) -> Words:
    """Say what an agent would read."""
    span = {
        "first": long_day(facts, zone),
        "last": formats.date_format(local(facts["end_ms"], zone=zone.key).date(), _("l, j F Y")),
    }
    events = facts.get("capability") == "calendar"
    return Words(
        question=_("Show your events to this agent?") if events else _("Show your reminders to this agent?"),
        consequence=_("It reads everything from %(first)s to %(last)s once; nothing is changed.") % span,
        confirm=_("Show them once"),
        keep=_("Do not show them"),
        undo=_("What was shown cannot be taken back."),
    )


def calendar_words(facts: Facts, zone: Any) -> Words:
    """Say what the deletion of a calendar does."""
    names = {"title": str(facts["title"])}
    events = ngettext("%(count)d event", "%(count)d events", facts["events"]) % {"count": facts["events"]}
    todos = ngettext("%(count)d reminder", "%(count)d reminders", facts["reminders"]) % {"count": facts["reminders"]}
    return Words(
        question=_("Delete the calendar '%(title)s' with everything in it?") % names,
        consequence=_("It goes for good, with %(events)s and %(reminders)s.") % {"events": events, "reminders": todos},
        confirm=_("Delete the calendar '%(title)s'") % names,
        keep=_("Keep it"),
    )


def import_words(facts: Facts, zone: Any) -> Words:
    """Say what an imported component would take away from a stored item."""
    names = _names(facts, zone)
    goes = f" {_going(facts)}" if facts.get("goes") else ""
    return Words(
        question=_("Let an imported file change '%(title)s'?") % names,
        consequence=_("The imported version replaces the one in the calendar '%(calendar)s' and takes something away.")
        % names
        + goes,
        confirm=_("Replace '%(title)s'") % names,
        keep=_("Keep it as it is"),
        undo=_("The item as it was stays among its revisions; a person can restore it."),
        lines=(*lines_of(facts, zone), *change_lines(facts, zone)),
    )


def device_words(facts: Facts, zone: Any) -> Words:
    """Say what a phone is asked; its own app shows the card."""
    return Words(question=_("Ask the phone?"), consequence="", confirm=_("Ask"), keep=_("Keep it"))


def _also(facts: Facts, zone: ZoneInfo) -> str:
    lines = [label for label, _value in change_lines(facts, zone)]
    return " " + _("It also changes: %(fields)s.") % {"fields": ", ".join(lines)} if lines else ""


def _labels() -> dict[str, str]:
    return {
        "title": _("Title"),
        "notes": _("Notes"),
        "location": _("Where"),
        "start_ms": _("Start"),
        "end_ms": _("End"),
        "due_ms": _("Due"),
        "all_day": _("All day"),
        "reminder_minutes": _("Alarm, minutes before"),
        "priority": _("Priority"),
        "completed": _("Done"),
        "rrule": _("Repeats"),
        "calendar": _("Calendar"),
    }


def change_lines(facts: Facts, zone: ZoneInfo) -> tuple[tuple[str, str], ...]:
    """Return each changed field with its value before and after."""
    before, after = facts.get("before") or {}, facts.get("after") or {}
    if not before:
        return ()
    labels = _labels()
    return tuple(
        (labels.get(name, name), f"{_value(name, before.get(name), zone)} → {_value(name, after.get(name), zone)}")
        for name in before
    )


def _value(name: str, value: Any, zone: ZoneInfo) -> str:
    if value is None:
        return _("(nothing)")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if name.endswith("_ms"):
        moment = local(value, zone=zone.key)
        return f"{formats.date_format(moment.date(), _('l, j F Y'))}, {moment:%H:%M}"
    return str(value)


class ItemSerializer(serializers.Serializer[Any]):
    """An event or a reminder, as written."""

    id = serializers.CharField(required=False, help_text="as list gave it, in mobile requests other than create")
    title = serializers.CharField(required=False)
    start_ms = serializers.IntegerField(required=False, help_text="events: Unix milliseconds or ISO 8601 with offset")
    end_ms = serializers.IntegerField(required=False)
    due_ms = serializers.IntegerField(required=False, allow_null=True, help_text="reminders")
    all_day = serializers.BooleanField(required=False)
    notes = serializers.CharField(required=False, allow_null=True)
    location = serializers.CharField(required=False, allow_null=True)
    reminder_minutes = serializers.IntegerField(required=False, allow_null=True)
    priority = serializers.IntegerField(required=False, min_value=0, max_value=9)
    completed = serializers.BooleanField(required=False)
    rrule = serializers.CharField(required=False, allow_null=True)
    exdates = serializers.ListField(child=serializers.IntegerField(), required=False)
    time_zone = serializers.CharField(required=False)
    calendar = serializers.CharField(required=False, help_text="id or name")


class CalendarSerializer(serializers.Serializer[Any]):
    """A calendar."""

    id = serializers.CharField(read_only=True)
    name = serializers.CharField(max_length=200)
    colour = serializers.CharField(required=False)
    is_default = serializers.BooleanField(required=False)
    read_only = serializers.BooleanField(required=False)  # type: ignore[assignment]


class MobileRequestSerializer(serializers.Serializer[Any]):
    """A mobile-calendar request."""

    session_id = serializers.CharField()
    capability = serializers.ChoiceField(choices=["calendar", "reminder"])
    action = serializers.ChoiceField(choices=["list", "create", "update", "delete", "complete"])
    purpose = serializers.CharField()
    start_ms = serializers.IntegerField(required=False)
    end_ms = serializers.IntegerField(required=False)
    include_completed = serializers.BooleanField(required=False)
    limit = serializers.IntegerField(required=False)
    item = ItemSerializer(required=False, help_text="delete: exactly the id, title and start_ms (due_ms) of list")
    timeout_ms = serializers.IntegerField(required=False)
    expires_in_s = serializers.IntegerField(required=False)
