"""Tokens and devices."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.actions import create_token, revoke_token
from apps.accounts.models import Profile
from apps.accounts.queries import tokens_of
from apps.accounts.rules import SCOPES
from apps.core.errors import SaysoError
from apps.core.values import now_ms
from apps.web.serializers.frame import device_words, sentence_of
from apps.web.views.person import signed_in

HERE = "/tokens/"
DAY_MS = 86_400_000
LONGEST_DAYS = 3650
USUAL_SCOPES = frozenset(
    {
        "calendar.read",
        "calendar.write",
        "calendar.delete",
        "reminder.read",
        "reminder.write",
        "reminder.delete",
        "schedule.read",
        "schedule.write",
        "schedule.delete",
        "session.read",
        "session.append",
        "session.delete",
        "confirmation.read",
    }
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def tokens_page(request: Any) -> HttpResponse:
    """Show the tokens; a POST makes one and shows its secret this once."""
    secret, label = "", ""
    if request.method == "POST":
        label = request.POST.get("label", "")
        if not is_lifetime(request.POST.get("days", "")):
            messages.error(request, _("A token lasts a day or longer; one that never ends leaves the field empty."))
            return redirect(HERE)
        try:
            secret = make(request, label)
        except SaysoError as error:
            messages.error(request, sentence_of(error.own_code, error.message))
            return redirect(HERE)
    mine = [token for token in tokens_of(profile_id=request.caller.profile_id) if token.kind != "device"]
    context = {
        "section": "tokens",
        "tokens": mine,
        "secret": secret,
        "label": label,
        "groups": scope_groups(),
        "may_make": request.caller.role == "owner",
        "device_words": device_words(),
        "now_ms": now_ms(),
    }
    return render(request, "tokens.html", context)


def is_lifetime(days: str) -> bool:
    """Tell whether a form's text says how long a token lasts: nothing, or a number of days from one on."""
    return not days or (days.isascii() and days.isdecimal() and int(days[:5]) > 0)


def make(request: Any, label: str) -> str:
    """Make a token and return its secret."""
    days = request.POST.get("days", "")
    lasts_ms = min(int(days[:5]), LONGEST_DAYS) * DAY_MS if days else None
    _token, secret = create_token(
        user=request.user,
        profile=Profile.objects.get(pk=request.caller.profile_id),
        label=label,
        scopes=request.POST.getlist("scope"),
        kind="person" if request.POST.get("kind") == "person" else "agent",
        session=request.POST.get("session", "").strip()[:512],
        expires_at_ms=now_ms() + lasts_ms if lasts_ms else None,
        by=request.caller,
    )
    return secret


def scope_groups() -> list[dict[str, Any]]:
    """Return the scopes by what they are about, for the form."""
    titles = {
        "calendar": _("Calendar"),
        "reminder": _("Reminders"),
        "schedule": _("Schedules"),
        "session": _("Sessions"),
        "capture": _("Captures"),
        "page": _("Pages"),
        "artifact": _("Artifacts"),
        "confirmation": _("Confirmations"),
    }
    verbs = {
        "read": _("read"),
        "write": _("add and change"),
        "delete": _("ask to delete"),
        "append": _("append"),
        "purge": _("ask to purge"),
    }
    groups: dict[str, list[dict[str, Any]]] = {}
    for scope in SCOPES:
        subject, _dot, verb = scope.partition(".")
        if subject in titles:
            entry = {"name": scope, "title": verbs[verb], "usual": scope in USUAL_SCOPES}
            groups.setdefault(subject, []).append(entry)
    return [{"title": titles[subject], "scopes": scopes} for subject, scopes in groups.items()]


@require_POST
@signed_in
def end_token(request: Any, token_id: str) -> HttpResponse:
    """End a token at once, with what it asked for."""
    token = revoke_token(token_id=token_id, by=request.caller, now_ms=now_ms())
    messages.success(request, _("The token “%(label)s” has ended.") % {"label": token.label})
    return redirect(HERE)
