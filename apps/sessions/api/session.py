"""One session over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema

from apps.confirmations.serializers import ErrorSerializer, PendingSerializer
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.sessions import queries
from apps.sessions.api.asking import EXPIRES, ask_to_delete
from apps.sessions.serializers import SessionSerializer, session_body


class SessionDetail(ApiView):
    """One session."""

    scopes = {"GET": "session.read", "DELETE": "session.delete"}

    @extend_schema(operation_id="sessions_read", responses={200: SessionSerializer})
    def get(self, request: Any, session_ref: str) -> Response:
        """Show the session."""
        return Response(session_body(queries.session_of(by=request.user, ref=session_ref)))

    @extend_schema(
        operation_id="sessions_delete",
        parameters=[EXPIRES],
        responses={200: dict, 202: PendingSerializer, 403: ErrorSerializer, 404: ErrorSerializer, 409: ErrorSerializer},
    )
    def delete(self, request: Any, session_ref: str) -> Response:
        """Delete the session for good with its subagents, once a person agreed."""
        return ask_to_delete(request, ref=session_ref)
