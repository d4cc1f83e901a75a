"""Words of the cards about lists, whole calendars, imports and phones."""

from __future__ import annotations

from typing import Any

from django.utils import formats
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.calendars.queries.bodies import local
from apps.calendars.serializers.changes import change_lines
from apps.calendars.serializers.days import Facts, days_of
from apps.calendars.serializers.lines import going, lines_of, names_of
from apps.core.contracts import Words


def listing_words(facts: Facts, zone: Any) -> Words:
    """Say what an agent would read."""
    span = {
        "first": days_of(facts, zone)[0],
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
    names = names_of(facts, zone)
    goes = f" {going(facts)}" if facts.get("goes") else ""
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
