"""The webhook of a session (family R)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema

from apps.confirmations.serializers import ErrorSerializer
from apps.core.api import body_of
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.ledger.api import once
from apps.schedules.actions.hooking import secret_of, set_webhook
from apps.schedules.api.schedules import ERRORS
from apps.schedules.queries.hooks import webhook_of
from apps.schedules.serializers.bodies import webhook_body
from apps.schedules.serializers.shapes import WebhookSerializer


class SessionWebhook(ApiView):
    """Where a session's reminders are sent."""

    scopes = {"GET": "schedule.read", "PUT": "schedule.write"}

    @extend_schema(operation_id="sessions_webhook", responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, session_ref: str) -> Response:
        """Show the address and how it goes."""
        return Response(webhook_body(webhook_of(by=request.user, session_ref=session_ref)))

    @extend_schema(operation_id="sessions_webhook_set", request=WebhookSerializer, responses={200: dict, **ERRORS})
    @once
    def put(self, request: Any, session_ref: str) -> Response:
        """Set the address (which makes a new secret, shown this once), or switch it on or off."""
        body = body_of(request)
        webhook = set_webhook(by=request.user, session_ref=session_ref, request=body, now_ms=now_ms())
        shown = webhook_body(webhook)
        return Response({**shown, "secret": secret_of(webhook)} if "url" in body else shown)
