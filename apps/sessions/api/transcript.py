"""A session as its page reads it: rows of the log or of what the model sees, a page at a time."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.confirmations.serializers import ErrorSerializer
from apps.core.dispatch import ApiView
from apps.core.errors import InvalidField
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.sessions.queries import session_of
from apps.sessions.queries.transcript import Page, seen_page, standing, stored_after, stored_page, whole_row
from apps.sessions.rules.hosts import check_count
from apps.sessions.serializers.transcript import TranscriptRowSerializer, TranscriptSerializer

PAGE = 100
LONGEST = 500


class Transcript(ApiView):
    """The conversation of a session."""

    scopes = {"GET": "session.read"}

    @extend_schema(
        operation_id="sessions_transcript",
        parameters=[
            OpenApiParameter("view", str, enum=["stored", "seen"], description="`seen`: what the model sees"),
            OpenApiParameter("before", int, description="`before` of the page that follows"),
            OpenApiParameter("after", int, description="only the events after this number, the oldest first"),
            OpenApiParameter("limit", int, description=f"at most so many rows, 1 to {LONGEST}"),
        ],
        responses={200: TranscriptSerializer, 404: ErrorSerializer},
    )
    def get(self, request: Any, session_ref: str) -> Response:
        """List the latest rows in their order; `before` leads to the page before, null at the beginning.

        A page holds fewer rows where they are long.
        """
        given = request.query_params
        view = given.get("view", "stored")
        if view not in ("stored", "seen"):
            raise InvalidField("view", "view must be stored or seen")
        limit = check_count(given.get("limit") or PAGE, name="limit", least=1, most=LONGEST)
        before, after = (_number(given.get(name), name=name) for name in ("before", "after"))
        session = session_of(by=request.user, ref=session_ref)
        if after is not None:
            page: Page = stored_after(session=session, after=after, limit=limit)
        else:
            page = (seen_page if view == "seen" else stored_page)(session=session, before=before, limit=limit)
        facts = {"rows": page.rows, "before": page.before, "more": page.more}
        return Response(facts | {"standing": standing(session=session, now_ms=now_ms())})


class TranscriptRow(ApiView):
    """One row of a session with all of its text."""

    scopes = {"GET": "session.read"}

    @extend_schema(
        operation_id="sessions_transcript_row", responses={200: TranscriptRowSerializer, 404: ErrorSerializer}
    )
    def get(self, request: Any, session_ref: str, seq: str) -> Response:
        """Show an event whole, up to a million characters a text."""
        number = check_count(seq, name="seq")
        return Response(whole_row(session=session_of(by=request.user, ref=session_ref), seq=number))


def _number(value: Any, *, name: str) -> int | None:
    return None if value in (None, "") else check_count(value, name=name)
