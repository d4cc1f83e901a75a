"""Authentication and rights of API requests."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission

from apps.accounts.actions import touch_token
from apps.accounts.queries import caller_of_session, caller_of_token
from apps.accounts.rules import Caller, check_scope
from apps.core.errors import Denied, SaysoError, Unauthorized
from apps.core.values import now_ms

UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class CsrfFailed(Denied):
    """This request did not come from a page of this server."""

    code = "csrf_failed"


class CallerAuthentication(BaseAuthentication):
    """A bearer token, else the session cookie of a person with its CSRF token."""

    def authenticate(self, request: Any) -> tuple[Caller, None] | None:
        """Return the caller, or None for a request without any credential."""
        authorization = request.META.get("HTTP_AUTHORIZATION", "")
        if authorization:
            return self.by_token(request, authorization), None
        caller = person_of(request._request)
        if caller is None:
            return None
        if request.method in UNSAFE:
            check_same_site(request._request)
        return caller, None

    def by_token(self, request: Any, authorization: str) -> Caller:
        """Return the token's caller; 401 for a bad one, 403 for a profile that it may not use."""
        scheme, _, secret = authorization.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise Unauthorized
        moment = now_ms()
        found = caller_of_token(secret=secret.strip(), now_ms=moment, profile_name=named_profile(request))
        if found is None:
            raise Unauthorized
        caller, last_used_ms = found
        touch_token(token_id=caller.token_id, last_used_ms=last_used_ms, now_ms=moment)
        return caller

    def authenticate_header(self, request: Any) -> str:
        """Name the scheme of a 401."""
        return 'Bearer realm="sayso"'


def named_profile(request: Any) -> str:
    """Return the profile that a request names: header, query or body member, the first that is not blank."""
    header = request.META.get("HTTP_X_HERMES_PROFILE", "").strip()
    if header:
        return str(header)
    query = request.GET.get("profile", "").strip() if hasattr(request, "GET") else ""
    if query:
        return str(query)
    if "profile" in getattr(request, "profile_sources", ()) or request.path.startswith("/api/studio/"):
        if not mentions(request, "profile"):
            return ""
        try:
            data = request.data
        except SaysoError as error:
            # The framework forgets a body that failed; the view tells of it, after the token was looked at.
            request.body_error = error
            return ""
        value = data.get("profile") if isinstance(data, dict) else None
        return value.strip() if isinstance(value, str) else ""
    return ""


def mentions(request: Any, member: str) -> bool:
    """Tell whether the raw body may have a member of that name; an escape in it may spell anything."""
    raw = request._request.body
    return member.encode() in raw or b"\\u" in raw


def person_of(request: HttpRequest) -> Caller | None:
    """Return the person signed in on a plain request, for the profile it names."""
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    if not key:
        return None
    name = request.META.get("HTTP_X_HERMES_PROFILE", "").strip() or request.COOKIES.get("sayso_profile", "")
    return caller_of_session(session_key=key, profile_name=name) or (
        caller_of_session(session_key=key) if name and "HTTP_X_HERMES_PROFILE" not in request.META else None
    )


def check_same_site(request: HttpRequest) -> None:
    """Raise unless a cookie request comes from our own page and carries the CSRF token."""
    site = request.META.get("HTTP_SEC_FETCH_SITE")
    origin = request.META.get("HTTP_ORIGIN")
    if site is not None and site != "same-origin":
        raise CsrfFailed
    if (site is None or origin is not None) and not origin_is_ours(request, origin):
        raise CsrfFailed
    checker = CsrfViewMiddleware(_nothing)
    checker.process_request(request)
    if checker.process_view(request, _nothing, (), {}) is not None:
        raise CsrfFailed


def _nothing(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def origin_is_ours(request: HttpRequest, origin: str | None) -> bool:
    """Tell whether an Origin header names the public origin of this server."""
    if not origin or origin == "null":
        return False
    parts = urlsplit(origin)
    return f"{parts.scheme}://{parts.netloc}".lower() in settings.SAYSO_ORIGINS


def address_of(request: HttpRequest) -> str:
    """Return where a request comes from; behind a trusted proxy what that proxy says, not what its client wrote."""
    if settings.SAYSO_TRUSTED_PROXY:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")[-1].strip()
        if forwarded:
            return str(forwarded)
    return str(request.META.get("REMOTE_ADDR", ""))


class CallerScheme(OpenApiAuthenticationExtension):
    """Describes both credentials in the OpenAPI schema."""

    target_class = CallerAuthentication
    name = ["bearer", "session"]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        """Return the bearer token and the session cookie."""
        return [
            {"type": "http", "scheme": "bearer"},
            {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
        ]


class HasScope(BasePermission):
    """Lets a caller in whose credential has the view's scope; `scopes` of a view maps methods to scopes."""

    def has_permission(self, request: Any, view: Any) -> bool:
        """Raise the right error, or return True."""
        caller = request.user
        if not isinstance(caller, Caller):
            raise Unauthorized
        scopes: dict[str, str] = getattr(view, "scopes", {})
        # HEAD runs what GET runs, and its length tells of the content.
        scope = scopes.get("GET" if request.method == "HEAD" else request.method, "")
        if scope:
            check_scope(by=caller, scope=scope)
        return True


class Anybody(BasePermission):
    """Lets everybody in; only for views that show nothing of anybody."""

    def has_permission(self, request: Any, view: Any) -> bool:
        """Return True."""
        return True


class HumanOnly(BasePermission):
    """Lets only a person in a browser in."""

    def has_permission(self, request: Any, view: Any) -> bool:
        """Raise for tokens."""
        caller = request.user
        if not isinstance(caller, Caller):
            raise Unauthorized
        if not caller.is_human:
            raise Denied("Only a person in a browser may do this.", code="not_a_decider")
        return True
