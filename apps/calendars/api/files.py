"""Import and export of whole calendars."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib.parse import quote

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.parsers import BaseParser, MultiPartParser

from apps.accounts.rules import Caller
from apps.calendars.actions.import_file import FileRefused, import_file
from apps.calendars.actions.importing import Asking, check_import, finish_import
from apps.calendars.actions.performing import recalled_answer
from apps.calendars.actions.working import worker_lines
from apps.calendars.api.carrying import owner_now, payload_of, purpose_of
from apps.calendars.api.items import EXPIRES
from apps.calendars.queries.calendars import texts_of
from apps.calendars.queries.items import find_calendar
from apps.calendars.rules.limits import DEFAULT
from apps.calendars.serializers import ImportSerializer, UploadSerializer
from apps.confirmations.api import idempotency_key
from apps.confirmations.rules import EXPIRES_ASYNC_S, check_expires
from apps.confirmations.serializers import ErrorSerializer
from apps.core.api import StrictJSONParser, body_of, rendering_of
from apps.core.dispatch import ApiView
from apps.core.errors import InvalidField
from apps.core.jobs import run_job
from apps.core.responses import Response
from apps.core.threads import Steps
from apps.core.values import now_ms


class CalendarTextParser(BaseParser):
    """Takes a file as it is."""

    media_type = "text/calendar"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> dict[str, Any]:
        """Return the octets as member `ics`."""
        return {"ics": stream.read()}


class OctetParser(CalendarTextParser):
    """Takes a file whose type the sender does not know."""

    media_type = "application/octet-stream"


class PlainTextParser(CalendarTextParser):
    """Takes a file that is sent as text."""

    media_type = "text/plain"


class CalendarImport(ApiView):
    """Importing an iCalendar file."""

    scopes = {"POST": "calendar.write"}
    parser_classes = [
        StrictJSONParser,
        MultiPartParser,
        CalendarTextParser,
        OctetParser,
        PlainTextParser,
    ]

    @extend_schema(
        operation_id="calendars_import",
        parameters=[
            OpenApiParameter("replace", bool, description="what the file lacks goes, once a person agrees"),
            EXPIRES,
        ],
        request={
            "application/json": ImportSerializer,
            "multipart/form-data": UploadSerializer,
            "text/calendar": OpenApiTypes.BINARY,
        },
        responses={200: OpenApiResponse(dict, description="the report"), 400: ErrorSerializer, 404: ErrorSerializer},
    )
    def post(self, request: Any, calendar_id: str) -> Response:
        """Store what is new, update what is newer, and ask for whatever would be lost; the answer is the report."""
        by: Caller = request.user
        if rendering_of(request) is not None:
            return run_job(request, work=unused, render=report_response)
        owner = owner_now(by)
        calendar = find_calendar(profile_id=by.profile_id, name=calendar_id)
        data, body = file_of(request)
        replaces = flag_of(request, body)
        key = idempotency_key(request)
        payload = payload_of(request, {"file": hashlib.sha256(data).hexdigest(), "replace": replaces})
        answer = recalled_answer(by=by, key=key, payload=payload)
        if answer is not None:
            return report_response(json.loads(answer))
        check_import(by=by, calendar=calendar)
        asking = Asking(
            purpose=purpose_of(body) or "Import of a file", expires_ms=lifetime_of(request, body), now_ms=now_ms()
        )
        options = {"owner_zone": owner.zone, "now_ms": asking.now_ms}

        async def work(steps: Steps) -> Any:
            report = await import_file(
                steps=steps,
                by=by,
                calendar=calendar,
                asking=asking,
                data=data,
                options=options,
                replaces=replaces,
            )
            return await steps.lane(
                lambda: finish_import(by=by, report=report.body(), key=key, payload=payload, now_ms=now_ms())
            )

        return run_job(request, work=work, render=report_response)


async def unused(steps: Steps) -> Any:
    """Stand in for the work of a job that runs already."""


def file_of(request: Any) -> tuple[bytes, dict[str, Any]]:
    """Return the file of an import request and the other members of its body."""
    if (request.content_type or "").startswith("multipart/"):
        upload = request.FILES.get("file")
        if upload is None:
            raise InvalidField("file", "file is required")
        return checked(upload.read()), {name: request.data.get(name) for name in ("replace", "purpose", "expires_in_s")}
    body = body_of(request)
    text = body.get("ics")
    if not isinstance(text, str | bytes) or not text:
        raise InvalidField("ics", "ics must be the text of an iCalendar file")
    return checked(text if isinstance(text, bytes) else text.encode()), body


def checked(data: bytes) -> bytes:
    """Return the octets; raise for more than an import takes."""
    if len(data) > DEFAULT.file_octets:
        raise FileRefused("The file is larger than 10 MB.", code="too_large", status=413)
    return data


def flag_of(request: Any, body: dict[str, Any]) -> bool:
    """Tell whether what the file lacks goes."""
    value = request.query_params.get("replace", body.get("replace"))
    if value in (None, "", False, "false", "0"):
        return False
    if value in (True, "true", "1", "on"):
        return True
    raise InvalidField("replace", "replace must be true or false")


def lifetime_of(request: Any, body: dict[str, Any]) -> int:
    """Return for how long an import's confirmations stay open."""
    value = body.get("expires_in_s", request.query_params.get("expires_in_s"))
    return (EXPIRES_ASYNC_S if value is None else check_expires(value)) * 1000


def report_response(report: dict[str, Any]) -> Response:
    """Return the report; the header names the first confirmation that it made."""
    response = Response(report)
    if report["confirmations"]:
        response["Location"] = f"/api/confirmations/{report['confirmations'][0]['confirmation_id']}"
    return response


class CalendarExport(ApiView):
    """Exporting a calendar as a file."""

    scopes = {"GET": "calendar.read"}

    @extend_schema(
        operation_id="calendars_export",
        responses={(200, "text/calendar"): OpenApiResponse(bytes), 404: ErrorSerializer},
    )
    def get(self, request: Any, calendar_id: str) -> Any:
        """Return everything in the calendar as iCalendar."""
        calendar = find_calendar(profile_id=request.user.profile_id, name=calendar_id)

        async def work(steps: Steps) -> bytes:
            texts = await steps.lane(lambda: texts_of(calendar_id=calendar.pk))
            lines = (json.dumps(text).encode() + b"\n" for text in texts)
            return await steps.aside(
                lambda: b"".join(worker_lines("export", options={"name": calendar.name}, parts=lines))
            )

        def render(data: bytes) -> Any:
            response = HttpResponse(data, content_type="text/calendar; charset=utf-8")
            response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(calendar.name, safe='')}.ics"
            return response

        return run_job(request, work=work, render=render)
