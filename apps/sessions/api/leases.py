"""Leases over REST, for hosts without a socket."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.accounts.rules import Caller
from apps.confirmations.rules import check_wait_s
from apps.confirmations.serializers import ErrorSerializer
from apps.core.api import body_of, defer, rendering_of
from apps.core.dispatch import ApiView
from apps.core.errors import InvalidField
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.core.waiting import Deferral
from apps.sessions.actions.hosts import ask_close
from apps.sessions.actions.leases import release_lease, take_lease
from apps.sessions.queries import session_of
from apps.sessions.queries.leases import live_leases
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


class SessionClose(ApiView):
    """The wish that a session be closed where it is open."""

    scopes = {"POST": "session.append"}

    @extend_schema(
        operation_id="sessions_close",
        request=None,
        parameters=[OpenApiParameter("wait", int, description="seconds to wait for the host, 0 to 300")],
        responses={200: dict},
    )
    def post(self, request: Any, session_ref: str) -> Response:
        """Ask the host that holds the session to let it go, and say whether it is still live."""
        caller: Caller = request.user
        session = session_of(by=caller, ref=session_ref)
        hold_ms = check_wait_s(request.query_params.get("wait")) * 1000
        moment = now_ms()
        held = live_leases(profile_id=caller.profile_id, ref=session.ref, now_ms=moment)
        response = Response({"session_id": session.ref, "live": bool(held)})
        if not held or rendering_of(request) is not None:
            return response
        for lease in held:
            ask_close(session_id=lease.session_id)
        if not hold_ms:
            return response
        until_ms = min(moment + hold_ms, held[0].expires_ms)
        also = (f"token:{caller.token_id}",) if caller.token_id else ()
        return defer(response, Deferral(key=f"lease:{held[0].lease_id}", until_ms=until_ms, also=also))
