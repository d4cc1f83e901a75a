"""Schedules of a session, and of all sessions (family R)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from apps.accounts.rules import Caller
from apps.confirmations.serializers import ErrorSerializer, PendingSerializer
from apps.core.api import body_of
from apps.core.dispatch import ApiView
from apps.core.errors import InvalidField
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.core.waiting import Stream
from apps.ledger.api import once
from apps.schedules.actions.editing import create_schedule, update_schedule
from apps.schedules.actions.running import run_now, skip_next
from apps.schedules.api.asking import ask
from apps.schedules.api.naming import naming
from apps.schedules.queries.tasks import (
    beside,
    catalog_body,
    find_task,
    options_of,
    record_of,
    session_body,
    whole_body,
)
from apps.schedules.rules.options import options_json
from apps.schedules.rules.preview import preview_of
from apps.schedules.rules.records import record_json
from apps.schedules.rules.values import format_instant, in_range, parse_instant
from apps.schedules.serializers.bodies import preview_body
from apps.schedules.serializers.requests import CreateSerializer, PreviewRequestSerializer, UpdateSerializer
from apps.schedules.serializers.shapes import RecordSerializer, UpdatedSerializer
from apps.sessions.queries import session_of

ERRORS = dict.fromkeys((400, 403, 404, 409, 422), ErrorSerializer)
ASKING = {202: PendingSerializer, **dict.fromkeys((400, 403, 404, 409, 422, 429, 502), ErrorSerializer)}


class SessionSchedules(ApiView):
    """The schedules of a session."""

    scopes = {"GET": "schedule.read", "POST": "schedule.write"}

    @extend_schema(operation_id="schedules_list", responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, session_ref: str) -> Response:
        """List the active schedules in the order in which they were made; `beside` has by their ids what else is."""
        session = session_of(by=request.user, ref=session_ref)
        return Response(session_body(session=session, now_ms=now_ms()))

    @extend_schema(
        operation_id="schedules_create", request=CreateSerializer, responses={201: RecordSerializer, **ERRORS}
    )
    @naming
    @once
    def post(self, request: Any, session_ref: str) -> Response:
        """Make a schedule; the answer is its record."""
        held = create_schedule(by=request.user, session_ref=session_ref, request=body_of(request), now_ms=now_ms())
        return Response(record_json(record_of(held.task)), status=201)


class ScheduleDetail(ApiView):
    """One schedule."""

    scopes = {"GET": "schedule.read", "PATCH": "schedule.write", "DELETE": "schedule.delete"}

    @extend_schema(operation_id="schedules_read", responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, session_ref: str, task_ref: str) -> Response:
        """Show its record with its options, its state and what went wrong."""
        held = find_task(by=request.user, session_ref=session_ref, ref=task_ref)
        return Response(whole_body(held, now_ms=now_ms()))

    @extend_schema(
        operation_id="schedules_update", request=UpdateSerializer, responses={200: UpdatedSerializer, **ERRORS}
    )
    @naming
    @once
    def patch(self, request: Any, session_ref: str, task_ref: str) -> Response:
        """Change it, if it still is what `expected` says; options alone (such as a pause) need no `expected`."""
        held, updated = update_schedule(
            by=request.user, session_ref=session_ref, ref=task_ref, request=body_of(request), read_ms=now_ms
        )
        record = record_json(record_of(held.task))
        options = options_json(options_of(held.task))
        return Response({"id": held.task.ref, "updated": updated, "record": record, "options": options})

    @extend_schema(
        operation_id="schedules_delete",
        parameters=[OpenApiParameter("expires_in_s", int)],
        responses={200: dict, **ASKING},
    )
    def delete(self, request: Any, session_ref: str, task_ref: str) -> Response:
        """Ask a person to delete the schedule with its history."""
        return ask(
            request, contract="schedules.delete", session_ref=session_ref, ref=task_ref, missing={"deleted": False}
        )


class ScheduleRun(ApiView):
    """A run by hand."""

    scopes = {"POST": "schedule.write"}

    @extend_schema(operation_id="schedules_run", request=None, responses={200: dict, **ERRORS})
    @once
    def post(self, request: Any, session_ref: str, task_ref: str) -> Response:
        """Send the reminder now; its rule goes on as if nothing had happened."""
        held, message_id = run_now(by=request.user, session_ref=session_ref, ref=task_ref, read_ms=now_ms)
        record = record_json(record_of(held.task))
        return Response({"id": held.task.ref, "messageId": message_id, "record": record})


class ScheduleSkip(ApiView):
    """Passing over the next run."""

    scopes = {"POST": "schedule.write"}

    @extend_schema(operation_id="schedules_skip", request=None, responses={200: dict, **ERRORS})
    @once
    def post(self, request: Any, session_ref: str, task_ref: str) -> Response:
        """Leave the next occurrence out; the history says so."""
        held = skip_next(by=request.user, session_ref=session_ref, ref=task_ref, read_ms=now_ms)
        record = record_json(record_of(held.task))
        facts = beside(held.task, now_ms=now_ms())
        return Response({"id": held.task.ref, "status": held.task.status, "record": record, **facts})


class Catalog(ApiView):
    """The schedules of all sessions that the caller may see."""

    scopes = {"GET": "schedule.read"}

    @extend_schema(
        operation_id="schedules_catalog",
        parameters=[
            OpenApiParameter("status", str, enum=["active", "inactive"]),
            OpenApiParameter("undelivered", str, enum=["true"], description="only what failed or is left alone"),
            OpenApiParameter("after", str, description="the `next` of the page before"),
        ],
        responses={200: dict},
    )
    def get(self, request: Any) -> Response:
        """List all schedules by their next occurrence; `beside` has by their ids what is not in the record."""
        query = {name: request.query_params.get(name, "") for name in ("status", "undelivered", "after")}
        if query["status"] not in ("", "active", "inactive"):
            raise InvalidField("status", "status must be active or inactive")
        return Response(catalog_body(by=request.user, now_ms=now_ms(), query=query))


class SchedulePreview(ApiView):
    """What a rule would do."""

    scopes = {"POST": "schedule.read"}

    @extend_schema(operation_id="schedules_preview", request=PreviewRequestSerializer, responses={200: dict, **ERRORS})
    @naming
    def post(self, request: Any) -> Response:
        """Answer the canonical rule and its next occurrences with local times and notes; nothing is stored."""
        body, by = body_of(request), request.user
        zone = body.get("time_zone") if isinstance(body.get("time_zone"), str) else by.time_zone
        return Response(preview_body(preview_of(body, now_ms=moment_of(body), time_zone=str(zone))))


class ScheduleEvents(ApiView):
    """Changes of schedules as Server-Sent Events."""

    scopes = {"GET": "schedule.read"}

    @extend_schema(
        operation_id="schedules_events",
        responses={(200, "text/event-stream"): OpenApiResponse(description="`schedule.changed`, without contents")},
    )
    def get(self, request: Any) -> Response:
        """Stream `schedule.changed` whenever a schedule of the profile changed."""
        caller: Caller = request.user
        response = Response(status=200, content_type="text/event-stream")
        response["Cache-Control"] = "no-store"
        response["X-Accel-Buffering"] = "no"
        ends = (f"user:{caller.user_id}", *((f"token:{caller.token_id}",) if caller.token_id else ()))
        response.stream = Stream(key=f"schedules:{caller.profile_id}", ends=ends, event=lambda message: {})
        return response


def moment_of(body: dict[str, Any]) -> int:
    """Return the moment that a preview starts from: `now` as an instant or in milliseconds, else this very one."""
    given = body.get("now")
    if given is None:
        return now_ms()
    found = parse_instant(given) if isinstance(given, str) else given
    if isinstance(found, bool) or not isinstance(found, int) or not in_range(found):
        raise InvalidField("now", f"now must be written like {format_instant(0)}")
    return found
