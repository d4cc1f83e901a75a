"""A requester's own confirmations as they change."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema

from apps.accounts.rules import Caller
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.waiting import Stream


class ConfirmationEvents(ApiView):
    """The caller's confirmations as Server-Sent Events."""

    scopes = {"GET": "confirmation.read"}

    @extend_schema(
        operation_id="confirmations_events",
        responses={(200, "text/event-stream"): OpenApiResponse(description="events")},
    )
    def get(self, request: Any) -> Response:
        """Stream each change of the caller's own confirmations."""
        caller: Caller = request.user
        response = Response(status=200, content_type="text/event-stream")
        response["Cache-Control"] = "no-store"
        response["X-Accel-Buffering"] = "no"
        # A person who is signed out, disabled or changed elsewhere: the client comes back and is looked at anew.
        ends = (f"user:{caller.user_id}", *((f"token:{caller.token_id}",) if caller.token_id else ()))
        response.stream = Stream(key=f"requester:{caller.ref}", ends=ends, event=event_facts)
        return response


def event_facts(message: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a requester's stream shows of an announcement."""
    if not str(message["event"]).startswith("confirmation."):
        return None
    facts = {"confirmation_id": message["confirmation"], "state": message["state"]}
    return {**facts, "receipt_id": message["receipt"]} if message["receipt"] else facts
