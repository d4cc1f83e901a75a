"""What was sent lately."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.schedules.queries.fired import fired_after
from apps.sessions.rules.hosts import check_count


class Fired(ApiView):
    """The reminders that were sent after a moment."""

    scopes = {"GET": "schedule.read"}

    @extend_schema(
        operation_id="schedules_fired",
        parameters=[OpenApiParameter("after", int, required=True, description="`next` of the answer before")],
        responses={200: dict},
    )
    def get(self, request: Any) -> Response:
        """List reminders of all sessions that were sent after `after`, the newest first, at most 20 of them."""
        after = check_count(request.query_params.get("after") or 0, name="after")
        return Response(fired_after(by=request.user, after=after))
