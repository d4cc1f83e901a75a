"""What a requester sees of its own requests."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.confirmations import actions, queries
from apps.confirmations.api.asking import outcome_now
from apps.confirmations.api.holding import answered, hold
from apps.confirmations.api.inbox import PAGE_SIZE
from apps.confirmations.rules import (
    check_wait_s,
)
from apps.confirmations.serializers import (
    ErrorSerializer,
    PollListSerializer,
    PollSerializer,
    poll_body,
)
from apps.core.api import rendering_of
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.values import now_ms


class ConfirmationList(ApiView):
    """What the caller asked for."""

    scopes = {"GET": "confirmation.read"}

    @extend_schema(operation_id="confirmations_list", responses={200: PollListSerializer})
    def get(self, request: Any) -> Response:
        """List the caller's own confirmations, newest first."""
        rows = queries.confirmations_of(by=request.user)[:PAGE_SIZE]
        return Response({"confirmations": [poll_body(queries.outcome_from(row)) for row in rows]})


class ConfirmationDetail(ApiView):
    """One of the caller's confirmations."""

    scopes = {"GET": "confirmation.read"}

    @extend_schema(
        operation_id="confirmations_read",
        parameters=[OpenApiParameter("wait", int, description="seconds to wait for a decision, 0 to 300")],
        responses={200: PollSerializer, 404: ErrorSerializer},
    )
    def get(self, request: Any, confirmation_id: str) -> Response:
        """Say where it stands; with `wait=N` as soon as it ended, at the latest after N seconds."""
        hold_ms = check_wait_s(request.query_params.get("wait")) * 1000
        outcome = outcome_now(by=request.user, confirmation_id=confirmation_id)
        response = answered(Response(poll_body(outcome)), outcome)
        rendering = rendering_of(request)
        if outcome.pending and hold_ms and (rendering is None or rendering.cause == "released"):
            return hold(request, outcome, response, until_ms=now_ms() + hold_ms, withdraws=False)
        return response

    @extend_schema(operation_id="confirmations_withdraw", responses={200: PollSerializer, 404: ErrorSerializer})
    def delete(self, request: Any, confirmation_id: str) -> Response:
        """Take the request back; one that ended stays as it is."""
        row = actions.withdraw(by=request.user, confirmation_id=confirmation_id, now_ms=now_ms())
        return Response(poll_body(queries.outcome_from(row)))
