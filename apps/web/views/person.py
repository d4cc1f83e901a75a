"""Who looks at a page: language, time zone, profile, and the gate before every page."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.http import url_has_allowed_host_and_scheme

from apps.accounts.queries import Place, SignedIn, caller_at, places_of
from apps.accounts.rules import Caller
from apps.core.errors import SaysoError
from apps.web.serializers.frame import sentence_of

PROFILE_COOKIE = "sayso_profile"
YEAR_S = 365 * 24 * 3600
HOMES = ("/settings/", "/tokens/")
"""Pages whose forms post below them."""

View = Callable[..., HttpResponse]


class PersonMiddleware:
    """Puts the person's profile, language and time zone in force."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Keep the rest of the chain."""
        self.get_response = get_response

    def __call__(self, request: Any) -> HttpResponse:
        """Answer in the person's language and zone."""
        name_origin(request)
        read_person(request)
        language = (request.user.is_authenticated and request.user.language) or translation.get_language() or "en"
        zone = ZoneInfo(request.caller.time_zone) if request.caller else None
        with translation.override(language), timezone.override(zone):
            request.LANGUAGE_CODE = translation.get_language()
            response = self.get_response(request)
        # An API view (the schema's page) leaves a caller, or nobody, in the place of the user.
        if getattr(request.user, "is_authenticated", False):
            response.headers.setdefault("Cache-Control", "no-store")
            # The dialog's socket reads the language from this cookie.
            if request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME) != language:
                keep_cookie(response, settings.LANGUAGE_COOKIE_NAME, language)
        return response


def name_origin(request: HttpRequest) -> None:
    """Name our own origin for a form of our own page, before the CSRF check.

    Browsers send `Origin: null` with forms of pages whose referrer policy is `no-referrer`, as ours is. A browser that
    sends `Sec-Fetch-Site` tells the truth there; on plain HTTP, where none does, the CSRF token and the `SameSite`
    cookie stand alone. Decisions do not come here: `/api/` has its own, stricter check.
    """
    if request.META.get("HTTP_ORIGIN") != "null":
        return
    site = request.META.get("HTTP_SEC_FETCH_SITE")
    if site == "same-origin" or (site is None and not request.is_secure()):
        request.META["HTTP_ORIGIN"] = f"{request.scheme}://{request.get_host()}"


def read_person(request: Any) -> None:
    """Put `caller` and `places` on the request: for the profile of the cookie, else the person's first."""
    request.caller, request.places = None, []
    if not request.user.is_authenticated:
        return
    request.places = places_of(user_id=request.user.pk)
    wanted = request.COOKIES.get(PROFILE_COOKIE, "")
    chosen = next((place for place in request.places if place.profile_name == wanted), None)
    chosen = chosen or next(iter(request.places), None)
    if chosen is not None:
        request.caller = caller_in(request, chosen)


def caller_in(request: Any, place: Place) -> Caller:
    """Return the caller that the person of a request is in one of their profiles."""
    user = request.user
    person = SignedIn(user_id=user.pk, username=user.get_username(), language=user.language, time_zone=user.time_zone)
    return caller_at(person=person, place=place)


def signed_in(view: View) -> View:
    """Let only people in who are signed in and belong to a profile; an error of a form becomes a message."""

    @wraps(view)
    def guarded(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path() if request.method == "GET" else "/inbox/")
        if request.caller is None:
            return redirect("/no-profile/")
        try:
            return view(request, *args, **kwargs)
        except SaysoError as error:
            if request.method == "GET":
                raise Http404 from error
            field = error.extra.get("field")
            messages.error(request, sentence_of(f"invalid_{field}" if field else error.own_code, error.message))
            home = next((page for page in HOMES if request.path.startswith(page)), "/inbox/")
            return redirect(back_to(request, home))

    return guarded


def back_to(request: HttpRequest, default: str = "/inbox/") -> str:
    """Return the page of ours that a form names as `next`, or the default."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    return target if is_ours(request, target) else default


def is_ours(request: HttpRequest, target: str) -> bool:
    """Tell whether a link is a path on this very server."""
    return target.startswith("/") and url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )


def keep_cookie(response: HttpResponse, name: str, value: str, *, readable: bool = False) -> None:
    """Set a cookie of a choice for a year; `readable` ones are for our scripts too."""
    response.set_cookie(
        name, value, max_age=YEAR_S, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE, httponly=not readable
    )
