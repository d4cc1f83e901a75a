"""What the endpoints of this room share: how they read a body and a query, and how they fail."""

from __future__ import annotations

import json
import re
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter

from apps.captures.rules import InvalidRequest, check_id
from apps.captures.serializers import failure_body, json_bytes
from apps.core.api import error_response
from apps.core.dispatch import ApiView
from apps.core.errors import SaysoError
from apps.core.responses import JSON_TYPE, Response

SCOPE = OpenApiParameter("scope_id", str, required=True, description="the scope")
AFTER = OpenApiParameter("after", int, description="positions greater than this one, 0 or more")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_DIGITS = 16


class CaptureView(ApiView):
    """A view of this room; a failure is `{error: {code, message}}`."""

    def error_response(self, error: SaysoError) -> Response:
        """Return a failure in this room's form, with the headers of every other."""
        response = error_response(error)
        response.data = failure_body(error)
        return response


def exact(body: Any) -> HttpResponse:
    """Return an answer with what was captured, numbers of any size included."""
    return HttpResponse(json_bytes(body), content_type=JSON_TYPE)


def captured_json(request: Any) -> Any:
    """Return the JSON of a body: anything that is Unicode may be captured, a NUL too; 422 for what is no JSON.

    What is not a finite number stays to be refused under the name of its member.
    """
    data = request._request.body
    try:
        return json.loads(data.decode("utf-8"), parse_constant=float)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("The body must be JSON in UTF-8.", field="body") from error


def check_unicode(request: Any, *, body: Any) -> None:
    """Refuse the member of a body that has text which is not Unicode, however deep."""
    if not isinstance(body, dict) or not _SURROGATE.search(request._request.body):
        return
    for name, value in body.items():
        try:
            json.dumps([name, value], ensure_ascii=False).encode()
        except (UnicodeEncodeError, RecursionError) as error:
            shown = name.encode("ascii", "replace").decode()[:60]
            raise InvalidRequest(f"{shown} has text that is not Unicode.", field=shown) from error


def scope_param(request: Any) -> str:
    """Return the scope that a query names."""
    return check_id("scope_id", value=request.query_params.get("scope_id", ""))


def number_param(request: Any, name: str, *, default: int | None = None) -> int | None:
    """Return a query parameter as a whole number; its range is the rules' concern."""
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS):
        raise InvalidRequest(f"{name} must be a whole number.", field=name)
    return int(text)
