"""What our scripts say, in the person's language, and the sentences that people see for machine codes."""

from __future__ import annotations

from django.utils.translation import gettext as _


def state_words() -> dict[str, str]:
    """Return the short name of each state of a confirmation."""
    return {
        "pending": _("Waiting for you"),
        "executing": _("Under way"),
        "executed": _("Done"),
        "denied": _("Kept"),
        "expired": _("Expired"),
        "withdrawn": _("Withdrawn"),
        "changed": _("Changed meanwhile"),
        "failed": _("Failed"),
        "uncertain": _("Not certain"),
    }


def state_sentences() -> dict[str, str]:
    """Return what each state means for the person."""
    return {
        "pending": _("Nothing happens before you decide."),
        "executing": _("You agreed; it is being carried out."),
        "executed": _("It was agreed to and done."),
        "denied": _("It was turned down. Nothing was changed."),
        "expired": _("Nobody decided in time. Nothing was changed."),
        "withdrawn": _("The request was taken back. Nothing was changed."),
        "changed": _(
            "It had changed after it was shown, so nothing was deleted. If it still matters, it will be asked anew."
        ),
        "failed": _("It could not be done. Nothing was changed."),
        "uncertain": _("It is not known whether it was done. Please look at the calendar itself before asking again."),
    }


def code_sentences() -> dict[str, str]:
    """Return the sentence for each code that a page may meet."""
    return {
        "not_acknowledged": _("Tick the box first."),
        "digest_mismatch": _("The card changed meanwhile. Read it again, then decide."),
        "nonce_used": _("This decision had been sent before. Read the card again, then decide."),
        "already_ended": _("This was decided already."),
        "not_a_decider": _("Only an owner or decider of this profile may decide."),
        "unauthorized": _("You are signed out. Sign in to go on."),
        "csrf_failed": _("This page is too old. Load it again."),
        "permission_denied": _("You may not do this in this profile."),
        "not_found": _("That is not here any more."),
        "too_many_pending": _("Too many requests are waiting already. Decide some of them first."),
        "denied_recently": _("This was turned down a moment ago. It can be asked again in a while."),
        "login_throttled": _("Too many failed tries. Wait a little."),
        "last_owner": _("A profile needs at least one owner."),
        "too_large": _("This is larger than the server accepts."),
        "calendar_item_not_found": _("This item is not there any more, or it changed. Load the page again."),
        "calendar_permission_denied": _("This calendar is read-only."),
        "calendar_not_found": _("This calendar is not there any more."),
        "calendar_exists": _("There is already a calendar of this name."),
        "calendar_is_default": _("The default calendar stays. Make another one the default first."),
        "uid_taken": _("The other calendar already holds this item."),
        "revision_not_found": _("This earlier version is not there any more."),
        "removal_not_exact": _("This would have removed something that was not shown, so nothing was changed."),
        "no_such_occurrence": _("The series has no such date."),
        "not_a_series": _("This does not repeat."),
        "rrule_invalid": _("This way of repeating cannot be used."),
        "time_invalid": _("This time cannot be used."),
        "unreadable": _("This file cannot be read."),
        "too_slow": _("This file takes too long to work on."),
        "invalid_time_zone": _("This is not a known time zone."),
        "member_not_found": _("There is no person by that name on this server."),
        "TARGET_NOT_FOUND": _("It is not there any more."),
        "TURN_NOT_CLOSED": _("This turn is not finished yet. Try again when it has ended."),
        "TURN_COMPACTED": _(
            "This turn cannot be removed on its own any more, because it was summarised together with others."
        ),
        "SESSION_LIVE": _(
            "This session, or a subagent of it, is open in an agent host. Close it there or here first, then delete it."
        ),
        "AGENT_BUSY": _("The agent is at work. Nothing was changed; try again in a moment."),
        "DELETE_FAILED": _("It could not be deleted. Nothing was changed."),
        "archive_refused": _("It cannot be archived while something in it is active."),
        "session_not_found": _("This session is not there any more."),
    }


def sentence_of(code: str, message: str) -> str:
    """Return the sentence for a code in the person's language, else what the error itself says."""
    return code_sentences().get(code) or message


def device_words() -> dict[str, str]:
    """Return the words of the list of phones."""
    return {
        "device_none": _("No phone is paired yet."),
        "device_online": _("there now"),
        "device_offline": _("not there now"),
        "device_paired": _("Paired {at}"),
        "device_used": _("last used {at}"),
        "device_end": _("Unpair"),
        "device_end_sure": _("Press again to unpair"),
        "device_ended": _("{name} is unpaired."),
        "pair_until": _("Good once, for {time} more."),
        "pair_over": _("This code is over. Make a new one."),
    }


def frame_words() -> dict[str, object]:
    """Return the words of every page: the dialog, the notices, the connection."""
    return {
        "states": state_words(),
        "sentences": state_sentences(),
        "codes": code_sentences(),
        "title_count": _("({count}) {title}"),
        "new_card": _("New request: {question}"),
        "review": _("Review"),
        "later": _("Later"),
        "close": _("Close"),
        "no_undo": _("This cannot be undone."),
        "asked_by": _("Asked by"),
        "asked_by_person": _("You or a colleague, in the browser"),
        "kind_agent": _("agent"),
        "kind_person": _("in the browser"),
        "kind_device": _("device"),
        "session": _("session {name}"),
        "run": _("run {name}"),
        "left": _("{time} left"),
        "left_none": _("The time is up"),
        "remind_half": _("Half of the time is over: {question}"),
        "remind_last": _("Only {time} left: {question}"),
        "days": _("{count} d"),
        "hours": _("{count} h"),
        "minutes": _("{count} min"),
        "seconds": _("{count} s"),
        "ended_by": _("{state}: {question} ({by}, {at})"),
        "ended": _("{state}: {question}"),
        "decided_by": _("Decided by {by}, {at}"),
        "receipt": _("Receipt"),
        "scroll_first": _("Read to the end; then the box can be ticked."),
        "sending": _("Sending your decision…"),
        "not_sent": _("Your decision did not reach the server, so nothing was decided. Try again."),
        "unknown_sent": _(
            "It is not known whether your decision arrived. As soon as the connection is back, this card says so."
        ),
        "offline": _("The connection is interrupted. What you see may be old."),
        "online": _("Connected again."),
        "signed_out": _("You are signed out."),
        "sign_in": _("Sign in"),
        "failed": _("That did not work. Try again."),
        "fired_in": _("Reminder sent to the session “{name}”"),
        "fired_look": _("Look"),
        "due_event": _("Alarm of an event, {at}"),
        "due_reminder": _("Reminder, due {at}"),
        "due_missed": _("{count} earlier ones were missed"),
        "copied": _("Copied"),
        "copy": _("Copy"),
    }
