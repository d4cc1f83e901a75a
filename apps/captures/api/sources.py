"""Sources: capturing, reading, listing, asking to purge."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.accounts.rules import Caller
from apps.captures.actions.capturing import capture
from apps.captures.api.base import AFTER, SCOPE, CaptureView, captured_json, exact, number_param, scope_param
from apps.captures.contracts import PURGE
from apps.captures.queries.sources import journal_page, source_of
from apps.captures.rules import SourcePurged, check_id, check_request
from apps.captures.serializers import (
    CapturedSerializer,
    CaptureSerializer,
    FailureSerializer,
    SourceListSerializer,
    SourceSerializer,
    captured_body,
    json_bytes,
    list_body,
    source_body,
    tombstone_body,
)
from apps.confirmations.actions import submit
from apps.confirmations.api import ask_and_answer, idempotency_key, requested_wait, shape_r
from apps.confirmations.rules import EXPIRES_WAITING_S, Outcome
from apps.confirmations.serializers import ErrorSerializer, PendingSerializer
from apps.core.api import error_response
from apps.core.errors import SaysoError
from apps.core.responses import JSON_TYPE, Response
from apps.core.values import now_ms

STATUS_OF_FAILURE = {"not_found": 404, "source_purged": 409}
FAILURES = dict.fromkeys((401, 403, 404, 422), FailureSerializer)
CAPTURE_ANSWERS = {200: CapturedSerializer, 201: CapturedSerializer, 409: FailureSerializer, **FAILURES}
ASKING = {202: PendingSerializer, **dict.fromkeys((400, 403, 404, 409, 422, 429, 502), ErrorSerializer)}


def captured(request: Any) -> Response:
    """Store what the body says, or find it stored."""
    wanted = check_request(captured_json(request))
    outcome = capture(by=request.user, request=wanted, now_ms=now_ms(), key=idempotency_key(request))
    status = 201 if outcome.name == "created" else 200
    return Response(captured_body(outcome, request=wanted), status=status)


class SourceList(CaptureView):
    """The sources of a scope."""

    scopes = {"GET": "capture.read", "POST": "capture.write"}

    @extend_schema(
        operation_id="captures_list",
        parameters=[SCOPE, AFTER, OpenApiParameter("limit", int, description="at most so many, 1 or more")],
        responses={200: SourceListSerializer, **FAILURES},
    )
    def get(self, request: Any) -> HttpResponse:
        """List sources after a position in order; what was purged stands there as a tombstone."""
        scope_id = scope_param(request)
        page = journal_page(
            profile_id=request.user.profile_id,
            scope_id=scope_id,
            after=number_param(request, "after", default=0) or 0,
            limit=number_param(request, "limit"),
        )
        return exact(list_body(page, scope_id=scope_id))

    @extend_schema(operation_id="captures_capture", request=CaptureSerializer, responses=CAPTURE_ANSWERS)
    def post(self, request: Any) -> Response:
        """Capture one text under its identity: 201 when it is stored now, 200 when it was stored before."""
        return captured(request)


class SourceAlias(CaptureView):
    """The path that existing plugins post to."""

    scopes = {"POST": "capture.write"}

    @extend_schema(operation_id="captures_capture_v1", request=CaptureSerializer, responses=CAPTURE_ANSWERS)
    def post(self, request: Any) -> Response:
        """Capture one text, as `POST /api/captures/sources` does."""
        return captured(request)


class SourceDetail(CaptureView):
    """One source."""

    scopes = {"GET": "capture.read", "DELETE": "capture.purge"}

    def error_response(self, error: SaysoError) -> Response:
        """Return a failure in this room's form; what waits for a person fails as every other door of the gate."""
        return error_response(error) if self.request.method == "DELETE" else super().error_response(error)

    @extend_schema(
        operation_id="captures_read",
        parameters=[SCOPE],
        responses={200: SourceSerializer, 410: SourceSerializer, **FAILURES},
    )
    def get(self, request: Any, source_id: str) -> HttpResponse:
        """Read a source; a purged one answers 410 with its tombstone."""
        scope_id = scope_param(request)
        row = source_of(profile_id=request.user.profile_id, scope_id=scope_id, source_id=source_id)
        if row.payload is not None:
            return exact(source_body(row, scope_id=scope_id))
        gone = {**super().error_response(SourcePurged()).data, **tombstone_body(row, scope_id=scope_id)}
        return HttpResponse(json_bytes(gone), status=410, content_type=JSON_TYPE)

    @extend_schema(
        operation_id="captures_purge",
        parameters=[
            SCOPE,
            OpenApiParameter("expires_in_s", int, description="how long the request may wait for a person"),
            OpenApiParameter("purpose", str, description="why, in the requester's words; the person reads it"),
        ],
        responses={200: dict, **ASKING},
    )
    def delete(self, request: Any, source_id: str) -> Response:
        """Ask a person to purge the source; its tombstone stays."""
        by: Caller = request.user
        wait = requested_wait(request, default_hold_s=EXPIRES_WAITING_S)

        def ask() -> Outcome:
            arguments = {"scope_id": scope_param(request), "source_id": check_id("source_id", value=source_id)}
            return submit(
                by=by,
                contract=PURGE,
                arguments=arguments,
                expires_ms=wait.expires_ms,
                now_ms=now_ms(),
                purpose=request.query_params.get("purpose", "").strip(),
                key=idempotency_key(request),
                ids={"session": by.session} if by.session else {},
            )

        shape = partial(shape_r, status_of_failure=STATUS_OF_FAILURE)
        return ask_and_answer(request, wait=wait, ask=ask, shape=shape)
