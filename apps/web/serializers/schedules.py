"""What the page of schedules says."""

from __future__ import annotations

from django.utils.translation import gettext as _


def schedule_words() -> dict[str, object]:
    """Return the words of the page of schedules."""
    return {**_list_words(), **_rule_words(), **_detail_words(), **_form_words()}


def _list_words() -> dict[str, object]:
    return {
        "saved": _("Saved."),
        "review_again": _("Try again"),
        "offline_list": _("This could not be loaded. Try again."),
        "none_yet": _("No schedule yet"),
        "none_yet_more": _("An agent or you can let a session be reminded: once, every day, or by a rule."),
        "none_found": _("Nothing here."),
        "next_in": _("in {time}"),
        "next_now": _("due now"),
        "overdue": _("due {time} ago"),
        "last_ran": _("last {at}"),
        "paused": _("paused"),
        "inactive": _("ended"),
        "undelivered": _("not delivered"),
        "quarantined": _("left alone"),
        "of_session": _("in “{name}”"),
        "unreadable": _("This schedule cannot be read. It is left alone; the others go on."),
    }


def _rule_words() -> dict[str, object]:
    return {
        "rule_once": _("once"),
        "rule_every": {
            "days": _("every {count} days"),
            "days_one": _("every day, counted from its start"),
            "hours": _("every {count} hours"),
            "hours_one": _("every hour"),
            "minutes": _("every {count} minutes"),
            "minutes_one": _("every minute"),
            "seconds": _("every {count} seconds"),
        },
        "rule_daily": _("every day at {time}"),
        "rule_weekly": _("every {days} at {time}"),
        "rule_cron": _("by the cron rule {rule}"),
        "rule_zone": _("{rule} ({zone})"),
    }


def _detail_words() -> dict[str, object]:
    return {
        "when": _("When"),
        "next_run": _("Next run"),
        "next_paused": _("{at}, but it is paused"),
        "no_next": _("none, it has ended"),
        "session_of": _("Session"),
        "says": _("Reminder"),
        "runs_so_far": _("Runs so far"),
        "missed_so_far": _("Left out so far"),
        "if_missed": _("After a pause of the server"),
        "missed": {
            "latest": _("only the latest of the missed runs"),
            "skip": _("none that is older than {time}"),
            "each": _("each of the missed runs"),
        },
        "ends": _("Ends"),
        "ends_until": _("after {at}"),
        "ends_runs": _("after {count} runs"),
        "problem": _("Could not be delivered"),
        "problem_line": _("{count} tries. Next try {at}."),
        "problem_plain": _("{count} tries."),
        "pause": _("Pause"),
        "resume": _("Resume"),
        "resumed": _("It goes on."),
        "is_paused": _("It is paused."),
        "ran": _("Sent now."),
        "skipped_next": _("The next run is left out."),
        "delivered": _("Delivered {at}"),
        "delivered_for": _("for {at}"),
        "delivered_by_hand": _("by hand"),
        "missed_count": _("{count} runs before it were left out"),
        "missed_count_one": _("1 run before it was left out"),
        "outcomes": {
            "skipped": _("Left out by somebody"),
            "dropped": _("Too old to be sent"),
            "repeated": _("Had been delivered before"),
        },
        "none_delivered": _("Nothing was delivered yet."),
        "pruned": _("Earlier records are not shown any more."),
        "earlier_unknown": _("What came before was not recorded."),
        "cursor_gone": _("The list changed meanwhile; it was read anew."),
        "title_edit": _("Change the schedule"),
        "title_new": _("New schedule"),
    }


def _form_words() -> dict[str, object]:
    return {
        "no_session": _("There is no session yet that could be reminded."),
        "title_missing": _("Give it a title and say what it reminds of."),
        "preview_none": _("Say when, and the next runs appear here."),
        "note_gap": _("{at} is left out: the clock jumps over it."),
        "note_overlap": _("{at} comes twice that day: it runs the first time only."),
        "note_more": _("and {count} more of that kind"),
        "cron_as": _("Kept as {rule}"),
        "conflict": _("It was changed meanwhile. Nothing of yours is saved yet."),
        "conflict_row": _("{name}: now “{theirs}”, yours “{mine}”"),
        "field_title": _("Title"),
        "field_prompt": _("Reminder"),
        "field_rule": _("When"),
        "field_next": _("Next run"),
        "ended_meanwhile": _("It has ended meanwhile and cannot be changed any more."),
    }
