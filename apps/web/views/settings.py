"""Settings: the person, the profile with its policies and members, the password, every sign-in."""

from __future__ import annotations

import zoneinfo
from typing import Any

from django.contrib import messages
from django.contrib.auth import logout, password_validation, update_session_auth_hash
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from apps.accounts.actions import (
    announce_logout,
    change_password,
    check_login_allowed,
    note_login,
    remove_member,
    set_member,
    set_person,
    set_policies,
    sign_out_everywhere,
)
from apps.accounts.models import Profile
from apps.accounts.queries import members_of
from apps.accounts.rules import DEFAULT_POLICIES, POLICY_NAMES, LoginThrottled
from apps.core.values import now_ms
from apps.web.views.person import PROFILE_COOKIE, back_to, keep_cookie, signed_in

HERE = "/settings/"


@signed_in
def settings_page(request: Any) -> HttpResponse:
    """Show everything that can be set."""
    profile = Profile.objects.get(pk=request.caller.profile_id)
    context = {
        "section": "settings",
        "profile": profile,
        "policies": policy_rows({**DEFAULT_POLICIES, **profile.policies}),
        "members": members_of(profile_id=profile.pk),
        "zones": sorted(zoneinfo.available_timezones() - {"localtime", "Factory"}),
        "weekdays": list(WEEKDAYS.items()),
        "is_owner": request.caller.role == "owner",
    }
    return render(request, "settings.html", context)


def policy_rows(policies: dict[str, str]) -> list[dict[str, str]]:
    """Return each policy with its words."""
    words = {
        "list": (_("Look"), _("List events and reminders.")),
        "create": (_("Add"), _("Add events and reminders.")),
        "update": (_("Change"), _("Change events and reminders. Every earlier version is kept.")),
        "complete": (_("Tick off"), _("Mark reminders as done.")),
    }
    return [{"name": n, "value": policies[n], "title": words[n][0], "help": words[n][1]} for n in POLICY_NAMES]


@require_POST
@signed_in
def save_person(request: Any) -> HttpResponse:
    """Keep the person's own zone, language and week start."""
    start = request.POST.get("week_start", "")
    language = request.POST.get("language", "")
    set_person(
        user=request.user,
        time_zone=request.POST.get("time_zone", ""),
        language=language,
        week_start=int(start) if start in set("0123456") else None,
    )
    with override(request.user.language or "en"):
        messages.success(request, _("Saved."))
    response = redirect(HERE)
    keep_cookie(response, "django_language", request.user.language or "en")
    return response


@require_POST
@signed_in
def save_zone(request: Any) -> HttpResponse:
    """Keep the browser's zone for a person who has none yet; never change one that was chosen."""
    if not request.user.time_zone:
        set_person(user=request.user, time_zone=request.POST.get("time_zone", ""))
    return HttpResponse(status=204)


@require_POST
def choose_language(request: Any) -> HttpResponse:
    """Change the language from the frame."""
    language = request.POST.get("language", "")
    response = redirect(back_to(request))
    if language in ("en", "zh-hans"):
        if request.user.is_authenticated:
            set_person(user=request.user, language=language)
        keep_cookie(response, "django_language", language)
    return response


@require_POST
@signed_in
def choose_profile(request: Any) -> HttpResponse:
    """Look at another of the person's profiles."""
    response = redirect(back_to(request))
    name = request.POST.get("profile", "")
    if any(place.profile_name == name for place in request.places):
        keep_cookie(response, PROFILE_COOKIE, name)
    return response


@require_POST
@signed_in
def save_profile(request: Any) -> HttpResponse:
    """Keep what agents may do without asking, and where the profile's calendars live."""
    set_policies(
        by=request.caller,
        policies={name: request.POST[f"policy_{name}"] for name in POLICY_NAMES if f"policy_{name}" in request.POST},
        time_zone=request.POST.get("time_zone", ""),
        calendars=request.POST.get("calendars", ""),
    )
    messages.success(request, _("Saved."))
    return redirect(HERE)


@require_POST
@signed_in
def save_member(request: Any) -> HttpResponse:
    """Give a person a role in the profile."""
    name = request.POST.get("username", "").strip()[:150]
    set_member(by=request.caller, username=name, role=request.POST.get("role", ""))
    messages.success(request, _("Saved."))
    return redirect(HERE)


@require_POST
@signed_in
def drop_member(request: Any, user_id: int) -> HttpResponse:
    """Take a person out of the profile."""
    remove_member(by=request.caller, user_id=user_id, now_ms=now_ms())
    messages.success(request, _("They are no longer a member; their tokens for this profile have ended."))
    return redirect("/inbox/" if user_id == request.user.pk else HERE)


@sensitive_post_parameters("old", "new", "again")
@require_POST
@signed_in
def save_password(request: Any) -> HttpResponse:
    """Change the password; every other sign-in of the person ends."""
    new = request.POST.get("new", "")
    # A page that was left open must not let a passer-by guess at the speed of the machine.
    guesses = [f"password:{request.user.pk}"]
    try:
        check_login_allowed(subjects=guesses, now_ms=now_ms())
    except LoginThrottled as error:
        wait_s = error.extra["retry_after_s"]
        sentence = ngettext(
            "Too many failed tries. Wait %(wait_s)s second, then try again.",
            "Too many failed tries. Wait %(wait_s)s seconds, then try again.",
            wait_s,
        )
        messages.error(request, sentence % {"wait_s": wait_s})
        return redirect(HERE)
    known = request.user.check_password(request.POST.get("old", "")[:4096])
    note_login(subjects=guesses, succeeded=known, now_ms=now_ms())
    if not known:
        messages.error(request, _("The present password is another one."))
    elif new != request.POST.get("again", ""):
        messages.error(request, _("The two new passwords differ."))
    else:
        try:
            password_validation.validate_password(new[:4096], request.user)
        except ValidationError as error:
            for sentence in error.messages:
                messages.error(request, sentence)
            return redirect(HERE)
        change_password(user=request.user, password=new)
        update_session_auth_hash(request, request.user)
        announce_logout(user_id=request.user.pk)
        messages.success(request, _("The password is changed. Everywhere else you are signed out."))
    return redirect(HERE)


@require_POST
@signed_in
def leave_everywhere(request: Any) -> HttpResponse:
    """End every sign-in of the person, this one too."""
    sign_out_everywhere(user=request.user)
    logout(request)
    messages.success(request, _("You are signed out everywhere."))
    return redirect("/login/")
