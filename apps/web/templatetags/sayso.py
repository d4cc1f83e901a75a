"""What templates need beyond Django's own: the frame of a page, moments, words of states."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.schedules.queries.fired import last_fired
from apps.web.queries import waiting_count
from apps.web.serializers import frame as words

register = template.Library()
THEME_COOKIE = "sayso_theme"


@register.simple_tag(takes_context=True)
def frame(context: Any) -> dict[str, Any]:
    """Return what the frame of every page shows: theme, profiles, how many cards wait, the words of our scripts."""
    request = context["request"]
    theme = request.COOKIES.get(THEME_COOKIE, "")
    caller = getattr(request, "caller", None)
    user = getattr(request, "user", None)
    return {
        "theme": theme if theme in ("light", "dark") else "",
        "caller": caller,
        "places": getattr(request, "places", []),
        "count": waiting_count(places=request.places) if caller else 0,
        "fired": last_fired() if caller else 0,
        "words": words.frame_words() if caller else {},
        "zone_unknown": bool(caller and user is not None and not user.time_zone),
    }


@register.filter
def moment(ms: int | None) -> str:
    """Return a moment in the person's zone, with the day of the week."""
    if ms is None:
        return ""
    return format_date(local(ms), pgettext("a moment; see Django's date format letters", "D j M Y, H:i"))


@register.filter
def machine_time(ms: int | None) -> str:
    """Return a moment as `<time datetime>` wants it."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds") if ms is not None else ""


def local(ms: int) -> datetime:
    """Return a moment in the zone in force."""
    return datetime.fromtimestamp(ms / 1000, timezone.get_current_timezone())


@register.filter
def state_word(state: str) -> str:
    """Return the short name of a state."""
    return words.state_words().get(state, state)


@register.filter
def state_sentence(state: str) -> str:
    """Return what a state means."""
    return words.state_sentences().get(state, "")


@register.filter
def code_sentence(code: str) -> str:
    """Return the sentence for a code, or nothing."""
    return words.code_sentences().get(code, "")


@register.filter
def role_word(role: str) -> str:
    """Return the name of a role."""
    return {"owner": _("Owner"), "decider": _("Decider"), "viewer": _("Viewer")}.get(role, role)
