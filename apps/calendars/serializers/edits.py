"""Words of the cards that create and change events and reminders."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from apps.calendars.serializers.changes import change_lines
from apps.calendars.serializers.days import Facts
from apps.calendars.serializers.lines import going, lines_of, names_of, remaining
from apps.core.contracts import Words


def reduction_words(facts: Facts, zone: Any) -> Words:
    """Say what an update does that takes several occurrences away."""
    names = names_of(facts, zone)
    return Words(
        question=_("Take occurrences out of '%(title)s'?") % names,
        consequence=f"{going(facts)} {remaining(facts)}",
        confirm=_("Take them out of '%(title)s'") % names,
        keep=_("Keep them"),
        undo=_("The series as it was stays among its revisions; a person can restore it."),
        lines=(*lines_of(facts, zone), *change_lines(facts, zone)),
    )


def move_words(facts: Facts, zone: Any) -> Words:
    """Say what a move to another calendar does."""
    names = {**names_of(facts, zone), "to": str(facts.get("to", ""))}
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
    names = names_of(facts, zone)
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
    names = names_of(facts, zone)
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
    names = names_of(facts, zone)
    return Words(
        question=_("Add '%(title)s' to the calendar '%(calendar)s'?") % names,
        consequence=_("It is added: %(when)s.") % names,
        confirm=_("Add '%(title)s'") % names,
        keep=_("Do not add it"),
        undo=_("It can be deleted again."),
        lines=lines_of(facts, zone),
    )
