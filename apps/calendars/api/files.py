"""Import and export of whole calendars."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import quote

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.rules import Caller
from apps.calendars.actions.importing import Asking, check_import, finish_import, import_cancelled, import_objects
from apps.calendars.actions.performing import recalled_answer
from apps.calendars.api.carrying import current_owner, payload_of, purpose_of
from apps.calendars.api.jobs import Steps, run_job, worker_lines
from apps.calendars.models import Calendar
from apps.calendars.queries.calendars import texts_of
from apps.calendars.queries.items import find_calendar
from apps.calendars.rules.components import Cancellation, StoredObject
from apps.calendars.rules.filling import Filled
from apps.calendars.rules.import_report import Report
from apps.calendars.rules.limits import DEFAULT
from apps.confirmations.api import idempotency_key
from apps.confirmations.rules import EXPIRES_ASYNC_S, check_expires
from apps.confirmations.serializers import ErrorSerializer
from apps.core.api import StrictJSONParser, body_of, rendering_of
from apps.core.errors import InvalidField, SaysoError
from apps.core.values import now_ms

CHUNK_OBJECTS, CHUNK_ROWS = 100, 2_000


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


class FileRefused(SaysoError):
    """This file was refused as a whole; nothing of it was stored."""


class CalendarImport(APIView):
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
        parameters=[OpenApiParameter("replace", bool, description="what the file lacks goes, once a person agrees")],
        request={"text/calendar": str, "application/json": dict, "multipart/form-data": dict},
        responses={200: OpenApiResponse(dict, description="the report"), 400: ErrorSerializer, 404: ErrorSerializer},
    )
    def post(self, request: Any, calendar_id: str) -> Response:
        """Store what is new, update what is newer, and ask for whatever would be lost; the answer is the report."""
        by: Caller = request.user
        if rendering_of(request) is not None:
            return run_job(request, work=unused, render=report_response)
        owner = current_owner(by)
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
            report = await imported(steps, by, calendar, asking, data, options, replaces)
            return await steps.lane(
                lambda: finish_import(by=by, report=report.body(), key=key, payload=payload, now_ms=now_ms())
            )

        return run_job(request, work=work, render=report_response)


async def unused(steps: Steps) -> Any:
    """Stand in for the work of a job that runs already."""


async def imported(
    steps: Steps,
    by: Caller,
    calendar: Calendar,
    asking: Asking,
    data: bytes,
    options: dict[str, Any],
    replaces: bool,
) -> Report:
    """Read a file in the worker and store it chunk by chunk."""
    lines = worker_lines("import", options=options, parts=[data])
    about = json.loads(await steps.aside(lambda: next(lines)))
    if about["error"]:
        raise FileRefused(f"The file was refused: {about['error'].replace('_', ' ')}.", code=about["error"])
    report = Report(about=about, calendar={"id": calendar.pk, "name": calendar.name})
    portions = chunks(lines)
    while chunk := await steps.aside(lambda: next(portions, None)):
        stored = partial(import_objects, by=by, calendar=calendar, objects=chunk, asking=asking)
        report.add(await steps.lane(stored))
    cancelled = [Cancellation(**each) for each in about["cancellations"]]
    missing = set(about["uids"]) if replaces and about["method"] != "CANCEL" else None
    report.add(
        await steps.lane(
            lambda: import_cancelled(
                by=by, calendar=calendar, cancellations=cancelled, kept_uids=missing, asking=asking
            )
        )
    )
    return report


def chunks(lines: Iterator[bytes]) -> Iterator[list[tuple[StoredObject, Filled]]]:
    """Yield the objects of a file in portions that keep the lane busy for a moment only."""
    chunk: list[tuple[StoredObject, Filled]] = []
    rows = 0
    for line in lines:
        found = json.loads(line)
        chunk.append((StoredObject(**found["stored"]), Filled(columns=found["columns"], rows=found["rows"])))
        rows += len(found["rows"])
        if len(chunk) >= CHUNK_OBJECTS or rows >= CHUNK_ROWS:
            yield chunk
            chunk, rows = [], 0
    if chunk:
        yield chunk


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


class CalendarExport(APIView):
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
