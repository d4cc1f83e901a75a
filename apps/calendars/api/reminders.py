"""Reminders over REST (family R)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.calendars.actions.planning import Plan, plan_change
from apps.calendars.api.carrying import ASKING, carry_out, json_body, owner_now
from apps.calendars.api.items import EXPIRES, SCOPE, STATED, ItemDetail, Items
from apps.calendars.api.reckoning import reckoned, unused
from apps.calendars.api.windows import WINDOW, list_answer, window_of
from apps.calendars.queries.reminders import reminders
from apps.calendars.rules.mobile_request import normalize_item
from apps.calendars.rules.mobile_values import DAY_MS
from apps.calendars.serializers import CompletionSerializer, WrittenItemSerializer
from apps.confirmations.serializers import ErrorSerializer
from apps.core.api import rendering_of
from apps.core.jobs import run_job
from apps.core.responses import Response
from apps.core.values import now_ms


class ReminderList(Items):
    """The reminders, and new ones."""

    capability = "reminder"
    scopes = {"GET": "reminder.read", "POST": "reminder.write"}

    @extend_schema(
        operation_id="reminders_list",
        parameters=[*WINDOW, OpenApiParameter("include_completed", bool)],
        responses={200: dict},
    )
    def get(self, request: Any) -> Response:
        """List the reminders of a window; without a start also the overdue and the undated ones."""
        if rendering_of(request) is not None:
            return run_job(request, work=unused, render=Response)
        owner = owner_now(request.user)
        default = "start_ms" not in request.query_params
        window = window_of(request, default_start_ms=now_ms() - DAY_MS)

        def read() -> dict[str, Any]:
            found, more = reminders(
                profile_id=owner.profile_id,
                start_ms=window.start_ms,
                end_ms=window.end_ms,
                include_completed=request.query_params.get("include_completed") in ("true", "1"),
                with_open=default,
                limit=window.limit,
                calendar_id=window.calendar_id,
                text=window.text,
            )
            return list_answer(found, more=more, zone=owner.zone, by=request.user)

        return reckoned(request, read=read, render=Response)

    @extend_schema(
        operation_id="reminders_create",
        parameters=[EXPIRES],
        request=WrittenItemSerializer,
        responses={201: dict, **ASKING},
    )
    def post(self, request: Any) -> Response:
        """Make a reminder."""
        return self.created(request)


class ReminderDetail(ItemDetail):
    """One reminder."""

    capability = "reminder"
    scopes = {"GET": "reminder.read", "PATCH": "reminder.write", "DELETE": "reminder.delete"}

    @extend_schema(operation_id="reminders_read", parameters=[STATED], responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, item_id: str) -> Response:
        """Show the reminder."""
        return self.shown(request, item_id)

    @extend_schema(
        operation_id="reminders_update",
        parameters=[STATED, EXPIRES],
        request=WrittenItemSerializer,
        responses={200: dict, **ASKING},
    )
    def patch(self, request: Any, item_id: str) -> Response:
        """Change the fields that are given; what takes something away waits for a person."""
        return self.changed(request, item_id)

    @extend_schema(
        operation_id="reminders_delete", parameters=[STATED, EXPIRES, SCOPE], responses={200: dict, **ASKING}
    )
    def delete(self, request: Any, item_id: str) -> Response:
        """Ask a person to delete exactly this reminder."""
        return self.removed(request, item_id)


class ReminderComplete(Items):
    """Completing a reminder."""

    capability = "reminder"
    scopes = {"POST": "reminder.write"}

    @extend_schema(
        operation_id="reminders_complete",
        parameters=[EXPIRES],
        request=CompletionSerializer,
        responses={200: dict, **ASKING},
    )
    def post(self, request: Any, item_id: str) -> Response:
        """Mark as done, or open again with `completed: false`."""
        body = json_body(request)

        def plan() -> Plan:
            item = normalize_item({**body, "id": item_id}, capability="reminder", action="complete", now_ms=now_ms())
            return plan_change(by=request.user, item=item, capability="reminder", action="complete", now_ms=now_ms())

        return carry_out(request, capability="reminder", plan=plan)
