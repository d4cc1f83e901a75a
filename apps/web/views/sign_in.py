"""Signing in and out."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import authenticate, login, logout
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.actions import announce_logout, check_login_allowed, note_login, set_person
from apps.accounts.api import address_of
from apps.accounts.rules import LoginThrottled
from apps.core.text import storable
from apps.core.values import now_ms
from apps.web.views.person import back_to

NAME_LENGTH = 150
PASSWORD_LENGTH = 4096


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the form, or try the name and password; a wrong name and a wrong password look alike."""
    if request.user.is_authenticated:
        return redirect(back_to(request))
    if request.method != "POST":
        return form(request)
    name = request.POST.get("username", "").strip()[:NAME_LENGTH]
    password = request.POST.get("password", "")[:PASSWORD_LENGTH]
    account, address = f"account:{name.lower()}", f"address:{address_of(request)}"
    try:
        check_login_allowed(subjects=[account, address], now_ms=now_ms())
    except LoginThrottled as error:
        return form(request, name=name, wait_s=error.extra["retry_after_s"])
    user: Any = authenticate(request, username=name, password=password) if storable(name + password) else None
    # A good sign-in clears its own account only: else one known account would clear the address for guessing others.
    subjects = [account] if user is not None else [account, address]
    note_login(subjects=subjects, succeeded=user is not None, now_ms=now_ms())
    if user is None:
        return form(request, name=name, wrong=True)
    login(request, user)
    if not user.language and "HTTP_ACCEPT_LANGUAGE" in request.META:
        set_person(user=user, language=get_language() or "en")
    return redirect(back_to(request))


def form(request: HttpRequest, *, name: str = "", wrong: bool = False, wait_s: int = 0) -> HttpResponse:
    """Return the form with what was wrong."""
    context = {"name": name, "wrong": wrong, "wait_s": wait_s, "next": back_to(request)}
    response = render(request, "sign_in.html", context, status=429 if wait_s else 200)
    if wait_s:
        response["Retry-After"] = str(wait_s)
    return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End this sign-in, and the sockets that it opened."""
    user_id = request.user.pk
    logout(request)
    if user_id is not None:
        announce_logout(user_id=user_id)
    return redirect("/login/")


def no_profile(request: HttpRequest) -> HttpResponse:
    """Tell a person who is signed in, but belongs to no profile, whom to ask."""
    return render(request, "no_profile.html")


def admin_sign_in(request: HttpRequest, extra_context: Any = None) -> HttpResponse:
    """Send the admin's visitors to the one sign-in, which is throttled."""
    if request.user.is_authenticated:
        raise PermissionDenied
    return redirect(f"/login/?next={back_to(request, '/admin/')}")


def admin_password(request: HttpRequest, extra_context: Any = None) -> HttpResponse:
    """Send those who want another password to the one place for it."""
    return redirect("/settings/")
