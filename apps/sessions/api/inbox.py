"""The inbox of a session over REST: read with waiting, and acknowledged."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.accounts.rules import Caller
from apps.confirmations.rules import check_wait_s
from apps.confirmations.serializers import ErrorSerializer
from apps.core.api import defer, rendering_of
from apps.core.dispatch import ApiView
from apps.core.errors import InvalidField
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.core.waiting import Deferral
from apps.ledger.api import once
from apps.sessions.actions.inbox import acknowledge
from apps.sessions.queries import session_of
from apps.sessions.queries.inbox import last_numbers, messages_of
from apps.sessions.rules.hosts import INBOX_PAGE, check_count
from apps.sessions.serializers.hosts import InboxSerializer, MessageSerializer, message_body


class SessionInbox(ApiView):
    """What waits for a session's host."""

    scopes = {"GET": "session.read"}

    @extend_schema(
        operation_id="sessions_inbox",
        parameters=[
            OpenApiParameter("after", int, description="only messages with a higher number"),
            OpenApiParameter("wait", int, description="seconds to wait for a message, 0 to 300"),
            OpenApiParameter("limit", int, description=f"at most so many, 1 to {INBOX_PAGE}"),
            OpenApiParameter("state", str, enum=["open", "all"], description="`all`: those taken in already too"),
        ],
        responses={200: InboxSerializer, 404: ErrorSerializer},
    )
    def get(self, request: Any, session_ref: str) -> Response:
        """List messages by number; with `wait=N` as soon as there is one, at the latest after N seconds."""
        given = request.query_params
        after = check_count(given.get("after") or 0, name="after")
        limit = check_count(given.get("limit") or INBOX_PAGE, name="limit", least=1, most=INBOX_PAGE)
        hold_ms = check_wait_s(given.get("wait")) * 1000
        state = given.get("state", "open")
        if state not in ("open", "all"):
            raise InvalidField("state", "state must be open or all")
        caller: Caller = request.user
        session = session_of(by=caller, ref=session_ref)
        found = messages_of(session_id=session.pk, after=after, limit=limit, acknowledged=state == "all")
        following = found[-1].number if found else after
        response = Response({"messages": [message_body(row) for row in found], "next": following})
        rendering = rendering_of(request)
        if found or not hold_ms or (rendering is not None and rendering.cause == "timeout"):
            return response
        awaited = max(after, last_numbers(session_ids=[session.pk])[session.pk]) + 1
        also = (f"token:{caller.token_id}",) if caller.token_id else ()
        # The next message to come has this number, so no release can be missed.
        key = f"message:{session.pk}:{awaited}"
        return defer(response, Deferral(key=key, until_ms=now_ms() + hold_ms, also=also))


class MessageAcknowledgement(ApiView):
    """The word of a host that a message was taken in."""

    scopes = {"POST": "session.append"}

    @extend_schema(
        operation_id="sessions_inbox_acknowledge",
        request=None,
        responses={200: MessageSerializer, 404: ErrorSerializer},
    )
    @once
    def post(self, request: Any, session_ref: str, message: str) -> Response:
        """Acknowledge a message by its number or id; appending the message to the log does the same."""
        row = acknowledge(by=request.user, ref=session_ref, key=message, now_ms=now_ms())
        return Response(message_body(row))
