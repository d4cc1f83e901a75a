"""Calendars over REST (family R)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema

from apps.calendars.actions.calendars import create_calendar, update_calendar
from apps.calendars.actions.planning import Plan
from apps.calendars.api.carrying import ASKING, carry_out, json_body
from apps.calendars.api.items import EXPIRES
from apps.calendars.queries.calendars import calendar_body, calendars_of
from apps.calendars.serializers import CalendarSerializer
from apps.confirmations.serializers import ErrorSerializer
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.ledger.api import once


class CalendarList(ApiView):
    """The calendars of the caller's profile."""

    scopes = {"GET": "calendar.read", "POST": "calendar.write"}

    @extend_schema(operation_id="calendars_list", responses={200: dict})
    def get(self, request: Any) -> Response:
        """List the calendars, the default one first."""
        return Response({"calendars": calendars_of(profile_id=request.user.profile_id)})

    @extend_schema(
        operation_id="calendars_create",
        request=CalendarSerializer,
        responses={201: CalendarSerializer, 409: ErrorSerializer},
    )
    @once
    def post(self, request: Any) -> Response:
        """Make a calendar."""
        body = json_body(request)
        row = create_calendar(
            by=request.user,
            name=body.get("name"),
            colour=body.get("colour"),
            read_only=body.get("read_only"),
            is_default=body.get("is_default"),
            now_ms=now_ms(),
        )
        return Response(calendar_body(row), status=201)


class CalendarDetail(ApiView):
    """One calendar."""

    scopes = {"PATCH": "calendar.write", "DELETE": "calendar.delete"}

    @extend_schema(
        operation_id="calendars_update",
        request=CalendarSerializer,
        responses={200: CalendarSerializer, 404: ErrorSerializer, 409: ErrorSerializer},
    )
    @once
    def patch(self, request: Any, calendar_id: str) -> Response:
        """Change name or colour, close it for writes, or make it the default."""
        row = update_calendar(by=request.user, calendar_id=calendar_id, changes=json_body(request), now_ms=now_ms())
        return Response(calendar_body(row))

    @extend_schema(
        operation_id="calendars_delete",
        parameters=[EXPIRES],
        responses={200: dict, **ASKING},
    )
    def delete(self, request: Any, calendar_id: str) -> Response:
        """Ask a person to delete the calendar with everything in it."""

        def plan() -> Plan:
            return Plan(contract="calendars.delete_calendar", arguments={"id": calendar_id}, asks=True)

        return carry_out(request, capability="calendar", plan=plan)
