"""Leases over REST, for hosts without a socket."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.confirmations.serializers import ErrorSerializer
from apps.core.api import body_of
from apps.core.dispatch import ApiView
from apps.core.errors import InvalidField
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.sessions.actions.leases import release_lease, take_lease
from apps.sessions.serializers.hosts import LeaseSerializer, LeaseTakeSerializer, lease_body


class SessionLease(ApiView):
    """A host's claim on a session, which makes the session live."""

    scopes = {"POST": "session.append", "DELETE": "session.append"}

    @extend_schema(
        operation_id="sessions_lease_take",
        request=LeaseTakeSerializer,
        responses={200: LeaseSerializer, 400: ErrorSerializer, 409: ErrorSerializer},
    )
    def post(self, request: Any, session_ref: str) -> Response:
        """Take the session for 60 seconds, or hold it for another 60."""
        row = take_lease(by=request.user, ref=session_ref, now_ms=now_ms(), lease_id=_lease_id(request))
        return Response(lease_body(row, ref=session_ref))

    @extend_schema(
        operation_id="sessions_lease_release",
        request=None,
        parameters=[
            OpenApiParameter("lease_id", str, description="only this lease; whichever the caller has, if absent")
        ],
        responses={200: dict},
    )
    def delete(self, request: Any, session_ref: str) -> Response:
        """Let the session go."""
        lease_id = str(request.query_params.get("lease_id", ""))
        released = release_lease(by=request.user, ref=session_ref, now_ms=now_ms(), lease_id=lease_id)
        return Response({"session_id": session_ref, "released": released})


def _lease_id(request: Any) -> str | None:
    value = body_of(request).get("lease_id")
    if value is not None and not isinstance(value, str):
        raise InvalidField("lease_id", "lease_id must be the id of a lease")
    return value
