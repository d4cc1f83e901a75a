"""How a session stands, for its page."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema

from apps.confirmations.serializers import ErrorSerializer
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.sessions.queries import session_of
from apps.sessions.queries.transcript import standing
from apps.sessions.serializers.transcript import StandingSerializer


class Standing(ApiView):
    """How a session stands."""

    scopes = {"GET": "session.read"}

    @extend_schema(operation_id="sessions_standing", responses={200: StandingSerializer, 404: ErrorSerializer})
    def get(self, request: Any, session_ref: str) -> Response:
        """Show where the log is, whether a turn is open, what was removed, and where the session is listed."""
        session = session_of(by=request.user, ref=session_ref)
        return Response(standing(session=session, now_ms=now_ms()))
