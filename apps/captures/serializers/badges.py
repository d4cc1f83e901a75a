"""What people read about the coverage of a capture: three states, with the reason in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.captures.rules import Interpretation
from apps.captures.rules.coverage import CHARACTER_LIMIT, COMPLETE, FIELD_BYTE_LIMIT, PARTIAL, TRANSCRIPT_BYTE_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A state with its name and its reason."""

    status: str
    label: str
    reason: str


def badge_of(found: Interpretation) -> Badge:
    """Return how a declaration is shown; `unknown` because of silence reads differently from one that says so."""
    label, reason = _words_of(found)
    return Badge(status=found.status, label=label, reason=reason)


def _words_of(found: Interpretation) -> tuple[str, str]:
    if found.status == COMPLETE:
        return _("Complete"), _("Nothing was dropped for lack of room, says the capturer.")
    if found.status == PARTIAL:
        return _("Partial"), _losses(found.reasons)
    if found.problem == "missing":
        return _("Unknown"), _("Not declared: the capturer said nothing about what it kept.")
    if found.problem is not None:
        return _("Unknown"), _("The declaration cannot be used (%(problem)s).") % {"problem": found.problem}
    return _("Unknown"), _unmeasured(found.reasons)


def _unmeasured(reasons: Sequence[str]) -> str:
    said = _("Declared unknown: the capturer could not see all of it.")
    known = [reason for reason in reasons if reason in _words()]
    return f"{said} {_losses(known)}" if known else said


def _losses(reasons: Sequence[str]) -> str:
    words = _words()
    return " ".join(words[reason] for reason in reasons if reason in words)


def _words() -> dict[str, str]:
    return {
        CHARACTER_LIMIT: _("The text was longer than may be captured; its end was cut."),
        FIELD_BYTE_LIMIT: _("A part of it was longer than may be captured; that part was cut."),
        TRANSCRIPT_BYTE_LIMIT: _("There were more steps than may be captured; the oldest were left out."),
    }
