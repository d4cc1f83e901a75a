"""What the pages of sessions say."""

from __future__ import annotations

from django.utils.translation import gettext as _


def shared_session_words() -> dict[str, object]:
    """Return the words of both pages."""
    return {
        "review_again": _("Try again"),
        "offline_list": _("This could not be loaded. Try again."),
        "live": _("live"),
        "running": _("running"),
        "archived": _("archived"),
        "pinned": _("pinned"),
        "subagent": _("subagent of {name}"),
        "fork": _("fork of {name}"),
        "events": _("{count} events"),
        "events_one": _("1 event"),
        "no_events": _("no events yet"),
        "menu": _("Menu of “{name}”"),
        "pin": _("Pin"),
        "unpin": _("Unpin"),
        "archive": _("Archive"),
        "unarchive": _("Take out of the archive"),
        "export_jsonl": _("Export the log (JSONL)"),
        "export_markdown": _("Export as text (Markdown)"),
        "close_where_open": _("Close it where it is open"),
        "closing": _("The host was asked to close it."),
        "closed": _("It is closed."),
        "still_open": _("It is still open. Its host did not let go."),
        "close_then_delete": _("Close it, then ask to delete"),
        "delete": _("Delete…"),
        "archive_done": _("“{name}” is archived."),
        "unarchive_done": _("“{name}” is out of the archive."),
        "pin_done": _("“{name}” is pinned."),
        "unpin_done": _("“{name}” is not pinned any more."),
        "gone": _("“{name}” is deleted."),
    }


def list_words() -> dict[str, object]:
    """Return the words of the list."""
    return {
        **shared_session_words(),
        "pinned_group": _("Pinned"),
        "none_yet": _("No session yet"),
        "none_yet_more": _("As soon as an agent opens one, it appears here by itself."),
        "none_found": _("Nothing found."),
    }


def session_words() -> dict[str, object]:
    """Return the words of a session's page."""
    return {
        **shared_session_words(),
        "turn": _("Turn {number}"),
        "turn_open": _("Turn {number}, still being written"),
        "roles": {
            "user": _("Person"),
            "assistant": _("Assistant"),
            "system": _("System"),
            "developer": _("Developer"),
            "tool": _("Tool"),
            "program": _("Program"),
            "summary": _("In the place of earlier messages"),
        },
        "reasoning": _("Reasoning"),
        "call": _("Tool call: {name}"),
        "result": _("Result of {name}"),
        "result_plain": _("Tool result"),
        "result_failed": _("failed"),
        "rewritten": _("shortened later"),
        "attachment": _("Attachment"),
        "attachment_of": _("{name}, {facts}"),
        "other": _("Other content: {name}"),
        "other_plain": _("Other content"),
        "empty": _("Nothing."),
        "show_all": _("Show all {count} characters"),
        "cut": _("This is the beginning. An export holds all of it."),
        "show_entry": _("Show what it holds"),
        "entries": _("{count} more entries of the log"),
        "entries_one": _("1 more entry of the log"),
        "title_set": _("Titled"),
        "long": _("An entry of {count} characters"),
        "not_seen": _("no longer seen by the model"),
        "turn_ended": {
            "aborted": _("This turn was stopped."),
            "interrupted": _("This turn was cut off."),
            "blocked": _("This turn was blocked."),
            "error": _("This turn ended with an error."),
            "max-tokens": _("This turn ended at the limit of its length."),
        },
        "turn_ended_other": _("This turn ended otherwise: {kind}"),
        "removed": _("Turn {number} was removed from what the model sees, {at}."),
        "removed_stored": _("Its words are still stored in the log."),
        "removed_show": _("Show what is stored"),
        "removed_hide": _("Hide it again"),
        "bin_turn": _("Ask to remove turn {number} from what the model sees"),
        "bin_running": _("Not while the session is at work"),
        "older": _("Show earlier rows"),
        "nothing_said": _("Nothing was said yet."),
        "nothing_seen": _("The model sees nothing yet."),
        "removal_done": _("Turn {number} is removed from what the model sees."),
        "is_running": _("The agent is at work."),
        "is_live": _("Open in an agent host."),
    }
