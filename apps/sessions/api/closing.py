"""Asking the host that holds a session to let it go."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.accounts.rules import Caller
from apps.confirmations.rules import check_wait_s
from apps.core.api import defer, rendering_of
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.core.waiting import Deferral
from apps.sessions.actions.hosts import ask_close
from apps.sessions.queries import session_of
from apps.sessions.queries.leases import live_leases


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
