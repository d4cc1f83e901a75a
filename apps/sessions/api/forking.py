"""Forking over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from apps.confirmations.serializers import ErrorSerializer
from apps.core.api import body_of
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.ledger.api import once
from apps.sessions.actions.forking import fork_session
from apps.sessions.rules.shelving import check_boundary
from apps.sessions.serializers import SessionSerializer, session_body


class ForkSerializer(serializers.Serializer[Any]):
    """Where a fork ends what it copies, and how it is called."""

    id = serializers.CharField(required=False, max_length=512)
    boundary = serializers.IntegerField(required=False, min_value=0, help_text="the number of events to copy")


class SessionFork(ApiView):
    """A session that begins with a copy of this one's log."""

    scopes = {"POST": "session.append"}

    @extend_schema(
        operation_id="sessions_fork",
        request=ForkSerializer,
        responses={201: SessionSerializer, 404: ErrorSerializer, 409: ErrorSerializer, 422: ErrorSerializer},
    )
    @once
    def post(self, request: Any, session_ref: str) -> Response:
        """Copy the first `boundary` events, all of them by default, into a new session; this one must be live."""
        body = body_of(request)
        row = fork_session(
            by=request.user,
            ref=session_ref,
            child=body.get("id"),
            boundary=check_boundary(body.get("boundary")),
            now_ms=now_ms(),
        )
        return Response(session_body(row), status=201)
