"""Sessions over REST: found, listed and made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.core.api import body_of, defer
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.core.waiting import Deferral
from apps.ledger.api import once
from apps.sessions import actions
from apps.sessions.queries.listing import session_page
from apps.sessions.rules.hosts import check_count, check_flag
from apps.sessions.rules.listing import Filters, check_cursor, check_slug, check_words
from apps.sessions.serializers import SessionPageSerializer, SessionSerializer, session_body

LIST_SIZE = 100
SEARCH_KEY = "sayso.search"
SEARCH_ROUNDS = 200
"""How many turns of the lane one request searches through before it answers with what it has."""
FLAGS = ("live", "running", "archived", "pinned")
LIST_PARAMETERS = [
    *(OpenApiParameter(name, bool, description=f"only those that are, or are not, {name}") for name in FLAGS),
    OpenApiParameter("workspace", str, description="only those of the workspace with this slug"),
    OpenApiParameter("q", str, description="only those with these words in the title, the id or a message"),
    OpenApiParameter("limit", int, description=f"at most so many, 1 to {LIST_SIZE}"),
    OpenApiParameter("before", str, description="`next` of the page before"),
]


def filters_of(given: Mapping[str, str]) -> Filters:
    """Return which sessions a query asks for."""
    flags = {name: check_flag(given.get(name), name=name) for name in FLAGS}
    return Filters(workspace=check_slug(given.get("workspace", "")), words=check_words(given.get("q", "")), **flags)


class SessionList(ApiView):
    """The sessions of the caller's profile."""

    scopes = {"GET": "session.read", "POST": "session.append"}

    @extend_schema(operation_id="sessions_list", parameters=LIST_PARAMETERS, responses={200: SessionPageSerializer})
    def get(self, request: Any) -> Response:
        """List sessions, newest first; `next` is the `before` of the page that follows, null at the end."""
        given, filters = request.query_params, filters_of(request.query_params)
        limit = check_count(given.get("limit") or LIST_SIZE, name="limit", least=1, most=LIST_SIZE)
        scope: dict[str, Any] = getattr(request._request, "scope", {})
        found, before, rounds = scope.get(SEARCH_KEY, ([], check_cursor(given.get("before", "")), 0))
        page, cursor = session_page(
            by=request.user, filters=filters, limit=limit - len(found), before=before, now_ms=now_ms()
        )
        found = [*found, *page]
        response = Response({"sessions": found, "next": None if cursor is None else str(cursor)})
        unfinished = filters.words and cursor is not None and len(found) < limit and rounds < SEARCH_ROUNDS
        if not unfinished:
            return response
        # A long search lets others go first: this very request comes again, at once, and goes on where it was.
        scope[SEARCH_KEY] = (found, cursor, rounds + 1)
        return defer(response, Deferral(key="search", until_ms=now_ms()))

    @extend_schema(operation_id="sessions_create", request=SessionSerializer, responses={201: SessionSerializer})
    @once
    def post(self, request: Any) -> Response:
        """Make a session."""
        body = body_of(request)
        row = actions.create_session(
            by=request.user,
            ref=body.get("id"),
            source=body.get("source") or "cli",
            title=body.get("title") or "",
            told=body,
            workspace=body.get("workspace"),
            now_ms=now_ms(),
        )
        return Response(session_body(row), status=201)
