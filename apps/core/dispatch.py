"""The view base of the API: DRF's contract with a shorter way through it.

DRF builds parsers, negotiators and authenticators anew for every request and renders through a template response;
Django wraps the whole in handlers and responses of its own. Our API has one form in and one form out, so this base
keeps what a view sees (request, permissions, errors, schema) and leaves the rest out: about half a millisecond a
request. The server calls `answered`; Django's own way in (its test client) comes through `dispatch`.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import Any, ClassVar

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.core.responses import JSON_TYPE, Response, api_answer
from apps.core.strict_json import strict_json
from apps.core.waiting import Answer

log = logging.getLogger("django.request")
SERVER_ERROR = b'{"code":"server_error","detail":"Something went wrong on the server."}'


class ApiRequest:
    """One request as a view of the API sees it; what only DRF's own request has is made when it is asked for."""

    body_error: Exception | None = None
    """What was wrong with the body when somebody looked into it before the view."""

    def __init__(self, request: HttpRequest, view: ApiView) -> None:
        """Wrap one request for one view."""
        self._request = request
        self.view = view
        self.META = request.META
        self.method = request.method
        self.path = request.path

    def __getattr__(self, name: str) -> Any:
        return getattr(self.full, name)

    @cached_property
    def full(self) -> Request:
        """Return DRF's request, for forms and uploads."""
        parts = self.view.parts
        return Request(
            self._request,
            parsers=parts.parsers,
            authenticators=parts.authenticators,
            negotiator=parts.negotiator,
            parser_context={"view": self.view, "encoding": "utf-8", "kwargs": self.view.kwargs, "request": self},
        )

    @cached_property
    def user(self) -> Any:
        """Return the caller, or None; raises for a credential that is no good."""
        for authenticator in self.view.parts.authenticators:
            found = authenticator.authenticate(self)  # type: ignore[arg-type]
            if found is not None:
                return found[0]
        return None

    @cached_property
    def data(self) -> Any:
        """Return the parsed body; plain JSON takes the short way, anything else DRF's."""
        return strict_json(self._request.body) if self.is_json else self.full.data

    @cached_property
    def content_type(self) -> str:
        """Return the body's media type as it was declared."""
        return str(self.META.get("CONTENT_TYPE", ""))

    @cached_property
    def is_json(self) -> bool:
        """Tell whether the body is declared to be JSON."""
        return self.content_type.partition(";")[0].strip().lower() == JSON_TYPE

    @property
    def query_params(self) -> Any:
        """Return the query parameters."""
        return self._request.GET

    @property
    def GET(self) -> Any:  # noqa: N802 (Django's name)
        """Return the query parameters under Django's name."""
        return self._request.GET

    @property
    def COOKIES(self) -> Any:  # noqa: N802 (Django's name)
        """Return the cookies."""
        return self._request.COOKIES


class Parts:
    """What a view class needs for each request, made once."""

    def __init__(self, view: APIView) -> None:
        """Make the parsers, authenticators, permissions and the negotiator of a view."""
        self.parsers = view.get_parsers()
        self.authenticators = view.get_authenticators()
        self.permissions = view.get_permissions()
        self.negotiator = view.get_content_negotiator()


class ApiView(APIView):
    """A view of the API."""

    _parts: ClassVar[dict[type, Parts]] = {}

    @property
    def parts(self) -> Parts:
        """Return what was made once for this class of views."""
        found = self._parts.get(type(self))
        if found is None:
            found = self._parts[type(self)] = Parts(self)
        return found

    @classmethod
    def answered(cls, request: HttpRequest, match: ResolverMatch) -> Answer:
        """Return the finished answer to a request that was resolved to this view."""
        view = cls(**match.func.view_initkwargs)  # type: ignore[attr-defined]
        try:
            view.setup(request, *match.args, **match.kwargs)
            return api_answer(view.respond(request, *match.args, **match.kwargs))
        except Exception:
            log.exception("Internal Server Error: %s", request.path)
            return api_answer(Response(orjson.Fragment(SERVER_ERROR), status=500))

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer where Django is the server."""
        response = self.respond(request, *args, **kwargs)
        if isinstance(response, HttpResponse) and not hasattr(response, "data"):
            return response
        answer = api_answer(response)
        plain = HttpResponse(answer.body, status=answer.status)
        for name, value in answer.headers:
            plain[name.decode()] = value.decode("latin1")
        for held in ("deferral", "stream"):
            if getattr(answer, held) is not None:
                setattr(plain, held, getattr(answer, held))
        return plain

    def respond(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Authenticate, check rights, call the handler; errors become answers here."""
        self.args, self.kwargs = args, kwargs
        self.headers: dict[str, str] = {}
        wrapped = ApiRequest(request, self)
        self.request = wrapped  # type: ignore[assignment]
        try:
            wrapped.user  # noqa: B018 (authenticates)
            for permission in self.parts.permissions:
                if not permission.has_permission(wrapped, self):  # type: ignore[arg-type]
                    self.permission_denied(wrapped)  # type: ignore[arg-type]
            name = (request.method or "").lower()
            known = name in self.http_method_names
            handler = getattr(self, name, None) if known else None
            return (handler or self.http_method_not_allowed)(wrapped, *args, **kwargs)  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001 (the one exception handler decides)
            return self.handle_exception(error)
