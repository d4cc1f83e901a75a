"""What the calendar and the reminders say."""

from __future__ import annotations

from django.utils.translation import gettext as _


def shared_words() -> dict[str, str]:
    """Return the words of both pages."""
    return {
        "untitled": _("(untitled)"),
        "saved": _("Saved."),
        "asked": _("It waits for a decision."),
        "version_by": _("{action}, {by}, {at}"),
        "restore": _("Restore"),
        "restored": _("The earlier version is back."),
        "action_update": _("before a change"),
        "action_complete": _("before it was ticked off"),
        "action_import": _("before an import"),
        "action_restore": _("before a restore"),
        "action_delete": _("before dates were deleted"),
        "action_other": _("before: {action}"),
        "bin": _("Ask to delete “{title}”"),
        "title_missing": _("Give it a title."),
        "none_found": _("Nothing found."),
        "nothing": _("Nothing here."),
        "review_again": _("Try again"),
        "not_found": _("That is not here any more."),
        "offline_list": _("This could not be loaded. Try again."),
        "truncated": _("There is more than is shown. Look at a shorter time or search."),
    }


def calendar_words() -> dict[str, object]:
    """Return the words of the calendar."""
    return {
        **shared_words(),
        "all_day": _("all day"),
        "all_hours": _("Hours of the week"),
        "more": _("{count} more"),
        "new_on": _("New event on {day}"),
        "day_events": _("{day}, {count} events"),
        "new_event": _("New event"),
        "edit_event": _("Event"),
        "copy_event": _("Copy of an event"),
        "date_missing": _("Give it a first and a last day."),
        "end_early": _("The end lies before the start."),
        "zone_unknown": _("This time zone is not known."),
        "alarm_none": _("None"),
        "alarm_minutes": _("{count} min before"),
        "alarm_hours": _("{count} h before"),
        "alarm_days": _("{count} d before"),
        "new_calendar": _("New calendar"),
        "edit_calendar": _("Calendar “{name}”"),
        "default": _("default"),
        "read_only": _("read-only"),
        "show": _("Show “{name}”"),
        "edit": _("Change “{name}”"),
        "search_results": _("Found for “{text}”"),
        "repeats": _("repeats"),
        "importing": _("Importing…"),
        "import_done": _(
            "{imported} imported, {unchanged} unchanged, {skipped} left out, {waiting} waiting for your tick."
        ),
        "import_clean": _("Every item came in as it was."),
        "import_file": _("Choose a file first."),
        "import_codes": import_words(),
        "outcome_asked": _("Waits for your tick."),
        "outcome_refused": _("Not imported."),
    }


def import_words() -> dict[str, str]:
    """Return the sentence for each code of an import report."""
    return {
        "alarm_absolute_on_series": _("An alarm at a fixed time fires once, not for each date."),
        "bad_dtstart": _("The start cannot be read; left out."),
        "cancel_pending_approval": _("The file cancels it; that waits for your tick."),
        "date_without_value_param": _("A date was written without its type; taken as a date."),
        "dtstart_not_in_rrule": _("The start is no date of its own rule; it counts as the first."),
        "due_before_start": _("Due before its start; the due time counts."),
        "duration_invalid": _("The duration cannot be read; ignored."),
        "duration_negative": _("The duration is negative; ignored."),
        "encoding_not_utf8": _("The file is not UTF-8; read as Windows-1252."),
        "end_not_after_start": _("The end is not after the start; the start counts."),
        "exdate_no_match": _("An exception fits no date; it is kept and excludes nothing."),
        "exdate_type_mismatch": _("An exception was written as another type; matched by its day."),
        "no_dtstart": _("There is no start; left out."),
        "not_kept": _("Sayso keeps events and reminders only; left out."),
        "override_duplicate": _("One date was changed twice; the newer one counts."),
        "override_excluded": _("A changed date is excluded as well; it stays away."),
        "override_rrule_ignored": _("A rule inside one changed date was ignored."),
        "override_without_master": _("A changed date without its series; kept as a single event."),
        "property_dropped": _("One property cannot be read; left out."),
        "rrule_too_dense": _("The rule is too dense; left out."),
        "rrule_too_frequent": _("It repeats every minute or second; left out."),
        "series_empty": _("Every date is excluded; kept as an empty series."),
        "truncated": _("The file is cut off; nothing was imported."),
        "tz_partial_definition": _("The time zone was only half described; the known rules count."),
        "tz_redefined": _("The file describes its time zone itself; its rules count."),
        "tz_unknown": _("The time zone is unknown; the profile's zone is used."),
        "tz_windows_name": _("A Windows time zone was translated."),
        "uid_duplicate": _("Two items have the same identity; the newer one counts."),
        "uid_missing": _("It has no identity; one was made from its content."),
        "until_type_mismatch": _("The end of the rule was written as another type."),
        "value_type_mismatch": _("A value has another type than it says; the day was kept."),
    }


def reminder_words() -> dict[str, object]:
    """Return the words of the reminders."""
    return {
        **shared_words(),
        "overdue": _("Overdue"),
        "today": _("Today"),
        "later": _("Coming up"),
        "undated": _("Without a date"),
        "done": _("Done"),
        "due": _("due {at}"),
        "done_at": _("done {at}"),
        "tick_off": _("Tick off “{title}”"),
        "open_again": _("Open “{title}” again"),
        "new_reminder": _("New reminder"),
        "edit_reminder": _("Reminder"),
        "priority_high": _("high"),
        "priority_middle": _("medium"),
        "priority_low": _("low"),
        "edit": _("Change “{name}”"),
        "nothing_open": _("Nothing is open. Well done."),
    }
