"""Deliveries of a schedule (family R)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.schedules.actions.history import retention
from apps.schedules.api.asking import ask
from apps.schedules.api.schedules import ASKING, ERRORS
from apps.schedules.queries.deliveries import deliveries_page
from apps.schedules.queries.tasks import find_task
from apps.schedules.rules.errors import ScheduleNotFound
from apps.schedules.rules.history import read_limit


class Deliveries(ApiView):
    """What was delivered of a schedule."""

    scopes = {"GET": "schedule.read", "DELETE": "schedule.delete"}

    @extend_schema(
        operation_id="schedules_deliveries",
        parameters=[
            OpenApiParameter("limit", int, required=True, description="1 to 100"),
            OpenApiParameter("before", str, description="the `messageId` of the oldest one already seen"),
        ],
        responses={200: dict, **ERRORS},
    )
    def get(self, request: Any, session_ref: str, task_ref: str) -> Response:
        """List deliveries, newest first."""
        query: dict[str, Any] = {"limit": whole(request.query_params.get("limit"))}
        if "before" in request.query_params:
            query["before"] = request.query_params["before"]
        read_limit(query["limit"])
        try:
            held = find_task(by=request.user, session_ref=session_ref, ref=task_ref)
        except ScheduleNotFound as error:
            error.extra["id"] = task_ref
            raise
        return Response(deliveries_page(held.task, request=query, retention=retention()))

    @extend_schema(
        operation_id="schedules_purge_deliveries",
        parameters=[OpenApiParameter("expires_in_s", int)],
        responses={200: dict, **ASKING},
    )
    def delete(self, request: Any, session_ref: str, task_ref: str) -> Response:
        """Ask a person to purge the delivery records that are not shown any more."""
        return ask(request, contract="schedules.purge_deliveries", session_ref=session_ref, ref=task_ref, missing={})


def whole(text: str | None) -> object:
    """Return a query parameter as a number if it is one; the rules say what is wrong with anything else."""
    if text is not None and text.isascii() and text.isdecimal() and len(text) <= 16:
        return int(text)
    return text
