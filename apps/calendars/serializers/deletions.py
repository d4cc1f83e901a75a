"""Words of the cards that delete events and reminders."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.calendars.serializers.changes import also, change_lines
from apps.calendars.serializers.days import Facts
from apps.calendars.serializers.lines import delete_labels, going, lines_of, names_of, remaining
from apps.core.contracts import Words


def event_words(facts: Facts, zone: Any) -> Words:
    """Say what the deletion of one event or reminder does."""
    names = names_of(facts, zone)
    question, confirm = delete_labels(names)
    return Words(
        question=question,
        consequence=_("%(when)s, in the calendar '%(calendar)s', goes for good.") % names + also(facts, zone),
        confirm=confirm,
        keep=_("Keep it"),
        lines=(*lines_of(facts, zone, when_text=names["when"]), *change_lines(facts, zone)),
    )


def occurrence_words(facts: Facts, zone: Any) -> Words:
    """Say what the deletion of one occurrence does."""
    if facts.get("leaves_nothing"):
        return event_words(facts, zone)
    names = names_of(facts, zone)
    question, confirm = delete_labels(names)
    gone = _("Only this one of the series goes: %(when)s, in the calendar '%(calendar)s'.") % names
    return Words(
        question=question,
        consequence=f"{gone} {remaining(facts)}{also(facts, zone)}",
        confirm=confirm,
        keep=_("Keep it"),
        undo=_("The series as it was stays among its revisions; a person can restore it."),
        lines=(*lines_of(facts, zone), *change_lines(facts, zone)),
    )


def series_words(facts: Facts, zone: Any) -> Words:
    """Say what the deletion of a series does."""
    names = names_of(facts, zone)
    return Words(
        question=_("Delete the whole series '%(title)s'?") % names,
        consequence=_("The series in the calendar '%(calendar)s' goes for good.") % names + " " + going(facts),
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
    names = names_of(facts, zone)
    remain = facts.get("remain")
    kept = ngettext("%(count)d earlier occurrence stays.", "%(count)d earlier occurrences stay.", remain or 0)
    return Words(
        question=_("Delete '%(title)s' on %(day)s and all later ones?") % names,
        consequence=f"{going(facts)} {kept % {'count': remain or 0}}{also(facts, zone)}",
        confirm=_("Delete '%(title)s' from %(short)s on") % names,
        keep=_("Keep them"),
        undo=_("The series as it was stays among its revisions; a person can restore it."),
        lines=(*lines_of(facts, zone), *change_lines(facts, zone)),
    )
