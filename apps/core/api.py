"""The shared edge: errors become responses, answers become JSON, pages get their middleware."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import orjson
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.module_loading import import_string
from rest_framework import exceptions
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import JSONParser
from rest_framework.renderers import BaseRenderer
from rest_framework.response import Response as FrameworkResponse
from rest_framework.utils.mediatypes import media_type_matches

from apps.core.errors import InvalidField, SaysoError
from apps.core.responses import API_PATHS, Response
from apps.core.strict_json import strict_json
from apps.core.text import storable
from apps.core.waiting import SCOPE_KEY, Deferral, Rendering

log = logging.getLogger("sayso.api")
JSON_TYPE = "application/json"
PROBES = frozenset({"/healthz", "/readyz"})


class OrjsonRenderer(BaseRenderer):
    """Renders answers as JSON with orjson."""

    media_type = JSON_TYPE
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """Return the bytes; None is an empty body."""
        return b"" if data is None else orjson.dumps(data, default=str)


class FirstRenderer(BaseContentNegotiation):
    """Answers in the one form there is, whatever a client says it would like."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """Return the parser for the body's media type, or None."""
        return next((parser for parser in parsers if media_type_matches(parser.media_type, request.content_type)), None)

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        """Return the view's first renderer."""
        return renderers[0], renderers[0].media_type


class StrictJSONParser(JSONParser):
    """Parses JSON of any shape that both databases can keep."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the value; 400 names the first member that cannot be kept."""
        return strict_json(stream.read())


def body_of(request: Any) -> dict[str, Any]:
    """Return the request's JSON object; an empty body counts as `{}`."""
    failed = getattr(request, "body_error", None)
    if failed is not None:
        raise failed
    data = request.data
    if data is None or data == "":
        return {}
    if not isinstance(data, dict):
        raise InvalidField("body", "must be a JSON object")
    return dict(data.items())


def rendering_of(request: Any) -> Rendering | None:
    """Return the marker of the second pass, if this is one."""
    inner = getattr(request, "_request", request)
    scope = getattr(inner, "scope", None)
    return scope.get(SCOPE_KEY) if scope else None


def defer(response: Response, deferral: Deferral) -> Response:
    """Let the waiting layer hold this answer; without one (tests, WSGI) the response itself is sent."""
    response.deferral = deferral
    return response


def error_body(error: SaysoError) -> dict[str, Any]:
    """Return the failure body of family R: `{code, detail, ...}`."""
    return {"code": error.own_code, "detail": error.message, **error.extra}


def error_response(error: SaysoError) -> Response:
    """Return a failure of family R, with `Retry-After` where waiting helps."""
    response = Response(error_body(error), status=error.own_status)
    if "retry_after_s" in error.extra:
        response["Retry-After"] = str(error.extra["retry_after_s"])
    if error.own_status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="sayso"'
    return response


def handle_exception(error: Exception, context: dict[str, Any]) -> Any:
    """Render every error of an API view in the family of its view; the one exception handler of the project."""
    view = context.get("view")
    answer = _error_answer(error, view)
    if answer is None or hasattr(view, "answered"):
        return answer
    # A view of a library (the schema) goes DRF's own way.
    return FrameworkResponse(answer.data, status=answer.status_code, headers=dict(answer.items()))


def _error_answer(error: Exception, view: Any) -> Response | None:
    shape: Callable[[SaysoError], Response] = getattr(view, "error_response", error_response)
    if isinstance(error, SaysoError):
        return shape(error)
    if isinstance(error, exceptions.APIException):
        return shape(_from_framework(error))
    if isinstance(error, RequestDataTooBig):
        return shape(SaysoError("The request body is larger than this server accepts.", code="too_large", status=413))
    from django.core.exceptions import PermissionDenied
    from django.http import Http404

    if isinstance(error, Http404):
        return shape(SaysoError("There is nothing here by that name.", code="not_found", status=404))
    if isinstance(error, PermissionDenied):
        return shape(SaysoError("You may not do this here.", code="permission_denied", status=403))
    return None


def _from_framework(error: exceptions.APIException) -> SaysoError:
    code = {400: "invalid", 401: "unauthorized", 403: "permission_denied", 404: "not_found"}.get(error.status_code)
    detail = error.detail
    if isinstance(detail, dict):
        field, problems = next(iter(detail.items()))
        problem = problems[0] if isinstance(problems, list) else problems
        return SaysoError(f"{field}: {problem}", code="invalid_field", status=error.status_code, field=field)
    sentence = str(detail[0] if isinstance(detail, list) else detail)
    return SaysoError(sentence, code=code or str(error.default_code), status=error.status_code)


def is_page(path: str) -> bool:
    """Tell pages from the API and from the probes, which ask by whatever name or address reaches this server."""
    if path in PROBES:
        return False
    return not path.startswith(API_PATHS) or path.startswith("/api/docs")


PAGES_OF_ERRORS = {
    400: {"code": "invalid", "detail": "This request cannot be read."},
    404: {"code": "not_found", "detail": "There is nothing here by that name."},
    500: {"code": "server_error", "detail": "Something went wrong on the server."},
}


def nul_in(members: QueryDict) -> SaysoError | None:
    """Return what is wrong with the members of an address or a form when one holds a NUL, which is then named."""
    for name, values in members.lists():
        if any("\x00" in value for value in values):
            known = storable(name)
            return InvalidField(name[:60], "holds a character that cannot be stored") if known else UNSTORABLE
        if "\x00" in name:
            return UNSTORABLE
    return None


UNSTORABLE = SaysoError("This holds a character that cannot be stored.", code="invalid")


def nul_refused(error: SaysoError) -> HttpResponse:
    """Return the answer to a request that one of the databases could not keep."""
    return HttpResponse(orjson.dumps(error_body(error)), status=400, content_type=JSON_TYPE)


def as_json(response: HttpResponseBase) -> HttpResponseBase:
    """Return an error page that Django made for an API address as what a program can read."""
    body = PAGES_OF_ERRORS.get(response.status_code)
    if body is None or not response.headers.get("Content-Type", "").startswith("text/html"):
        return response
    return HttpResponse(orjson.dumps(body), status=response.status_code, content_type=JSON_TYPE)


class PageMiddleware:
    """Runs the middleware of pages for pages only: `/api/` needs no session, no CSRF cookie and no language file."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Build the inner chain from `SAYSO_PAGE_MIDDLEWARE`."""
        self.bare = get_response
        self.view_hooks: list[Callable[..., Any]] = []
        chain: Any = get_response
        for name in reversed(settings.SAYSO_PAGE_MIDDLEWARE):
            chain = import_string(name)(chain)
            if hasattr(chain, "process_view"):
                self.view_hooks.insert(0, chain.process_view)
        self.chain = chain

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer through the inner chain, or bare for `/api/`; one with a NUL in its address or form is refused."""
        if "\x00" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return nul_refused(nul_in(request.GET) or UNSTORABLE)
        if not is_page(request.path_info):
            response: HttpResponseBase = as_json(self.bare(request))
            response.headers.setdefault("Cache-Control", "no-store")
            response.headers.setdefault("X-Content-Type-Options", "nosniff")
            response.headers.setdefault("Referrer-Policy", "no-referrer")
            return response
        if request.method == "POST" and (error := nul_in(request.POST)) is not None:
            return nul_refused(error)
        try:
            return self.chain(request)  # type: ignore[no-any-return]
        finally:
            # The lane is one thread: the language of a page must not stay for the next request.
            translation.deactivate()

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """Run the view hooks of the inner chain for pages."""
        if not is_page(request.path_info):
            return None
        for hook in self.view_hooks:
            answer: HttpResponse | None = hook(request, view, args, kwargs)
            if answer is not None:
                return answer
        return None
