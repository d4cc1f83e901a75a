"""The log of a session over REST: appending, reading, what the model sees, and opening it again."""

from __future__ import annotations

from typing import Any

import orjson
from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.confirmations.serializers import ErrorSerializer
from apps.core.api import error_response
from apps.core.dispatch import ApiView
from apps.core.errors import InvalidField, SaysoError
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.sessions.actions.appending import Appended, append_events
from apps.sessions.actions.reopening import reopen_session
from apps.sessions.queries import session_of
from apps.sessions.queries.log import event_texts, load_state, surface_page
from apps.sessions.rules.hosts import check_count
from apps.sessions.serializers.log import (
    AppendedSerializer,
    AppendSerializer,
    EventsSerializer,
    StaleSerializer,
    SurfaceSerializer,
    appended_events,
    log_body,
    refusal_facts,
    whole_json,
)

PAGE = 200
LONGEST = 1000
NODES = 2000
MOST_NODES = 20_000
PARAMETERS = [
    OpenApiParameter("after", int, description="only what comes after this number"),
    OpenApiParameter("limit", int, description="at most so many; fewer where they are long"),
]
ERRORS = dict.fromkeys((400, 404, 422), ErrorSerializer)


class LogView(ApiView):
    """What is common to the views of a log."""

    @staticmethod
    def error_response(error: SaysoError) -> Response:
        """Return a failure of family R; events in it are written as they are stored."""
        error.extra = refusal_facts(error)
        return error_response(error)


class SessionEvents(LogView):
    """The events of a session."""

    scopes = {"GET": "session.read", "POST": "session.append"}

    @extend_schema(operation_id="sessions_events", parameters=PARAMETERS, responses={200: EventsSerializer, **ERRORS})
    def get(self, request: Any, session_ref: str) -> Response:
        """List events, the oldest first."""
        after, limit = _page(request, usual=PAGE, most=LONGEST)
        session = session_of(by=request.user, ref=session_ref)
        texts = event_texts(session_id=session.pk, after=after, limit=limit)
        more = bool(texts) and after + 1 + len(texts) < session.next_seq
        found = [orjson.Fragment(text) for text in texts]
        return Response({"events": found, "next_seq": session.next_seq, "more": more})

    @extend_schema(
        operation_id="sessions_append",
        request=AppendSerializer,
        responses={200: AppendedSerializer, 409: StaleSerializer, **ERRORS},
    )
    def post(self, request: Any, session_ref: str) -> Response:
        """Append events, all or none; the same events at the same place again are a success and write nothing.

        A log that has grown meanwhile answers 409 with the events that were missed, or the first of them.
        """
        session = session_of(by=request.user, ref=session_ref)
        expected, events = appended_events(log_body(request._request.body))
        found = append_events(by=request.user, session=session, expected_seq=expected, events=events, now_ms=now_ms())
        return Response(_appended(found))


class SessionReopening(LogView):
    """A stored session at the moment when a host opens it again."""

    scopes = {"POST": "session.append"}

    @extend_schema(
        operation_id="sessions_reopen",
        request=None,
        responses={200: AppendedSerializer, 409: ErrorSerializer, **ERRORS},
    )
    def post(self, request: Any, session_ref: str) -> Response:
        """Close what an interruption left open and mark the boundary; a second time nothing is written."""
        return Response(_appended(reopen_session(by=request.user, ref=session_ref, now_ms=now_ms())))


class SessionSurface(LogView):
    """What the model sees of a session."""

    scopes = {"GET": "session.read"}

    @extend_schema(operation_id="sessions_surface", parameters=PARAMETERS, responses={200: SurfaceSerializer, **ERRORS})
    def get(self, request: Any, session_ref: str) -> Response:
        """Give the nodes of the surface in order, and the messages of those that say something, verbatim."""
        after, limit = _page(request, usual=NODES, most=MOST_NODES)
        session = session_of(by=request.user, ref=session_ref)
        page = surface_page(session, after=after, limit=limit)
        if page is None:
            raise InvalidField("after", "after must be a node of the surface")
        state = load_state(session)
        return Response(
            {
                "nodes": page.nodes,
                "messages": [whole_json(message) for message in page.messages],
                "next_seq": session.next_seq,
                "replaces": state.replaces,
                "more": page.more,
            }
        )


def _page(request: Any, *, usual: int, most: int) -> tuple[int, int]:
    given = request.query_params
    limit = check_count(given.get("limit") or usual, name="limit", least=1, most=most)
    return check_count(given.get("after") or -1, name="after", least=-1), limit


def _appended(found: Appended) -> dict[str, Any]:
    return {"first": found.first, "next_seq": found.next_seq, "repeated": found.repeated}
