"""A session as a file to keep: its log, its conversation, or what the model sees of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from django.http import HttpResponse
from django.utils import translation
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from apps.confirmations.serializers import ErrorSerializer
from apps.core.dispatch import ApiView
from apps.core.errors import InvalidField
from apps.core.jobs import run_job
from apps.core.threads import Steps, Turn
from apps.sessions.queries import session_of
from apps.sessions.queries.exporting import jsonl_parts, markdown_parts
from apps.sessions.rules.hosts import check_flag
from apps.sessions.rules.log_names import log_name
from apps.sessions.rules.transcript import Words

FORMATS = {"jsonl": "application/x-ndjson", "markdown": "text/markdown; charset=utf-8"}
VIEWS = ("log", "surface")


class SessionExport(ApiView):
    """Exporting a session."""

    scopes = {"GET": "session.read"}

    @extend_schema(
        operation_id="sessions_export",
        parameters=[
            OpenApiParameter("format", enum=list(FORMATS), description="JSON lines as a host writes them, or Markdown"),
            OpenApiParameter("view", enum=VIEWS, description="of Markdown: the conversation, or what the model sees"),
            OpenApiParameter("removed", bool, description="of Markdown: with the text of removed turns"),
        ],
        responses={
            (200, "application/x-ndjson"): OpenApiResponse(bytes),
            (200, "text/markdown"): OpenApiResponse(str),
            404: ErrorSerializer,
        },
    )
    def get(self, request: Any, session_ref: str) -> Any:
        """Return the whole log, or a document for people, without removed turns unless they are asked for."""
        given = request.query_params
        kind, view = given.get("format", "jsonl"), given.get("view", "log")
        reveal = check_flag(given.get("removed"), name="removed") is True
        check_choice(kind, view=view)
        by = request.user
        session = session_of(by=by, ref=session_ref)
        words = words_in(by.language)

        def render(data: bytes) -> HttpResponse:
            response = HttpResponse(data, content_type=FORMATS[kind])
            name = f"{session.ref}.md" if kind == "markdown" else log_name(version=4, compressed=False)
            response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
            return response

        async def work(steps: Steps) -> bytes:
            parts = (
                jsonl_parts(session)
                if kind == "jsonl"
                else markdown_parts(session, view=view, reveal=reveal, words=words)
            )
            pieces = []
            while piece := await steps.lane(lambda: piece_of(parts)):
                pieces.append(piece)
            # A log only grows; one that was deleted meanwhile is not handed out in part.
            await steps.lane(lambda: session_of(by=by, ref=session_ref))
            return b"".join(pieces)

        return run_job(request, work=work, render=render)


def check_choice(kind: str, *, view: str) -> None:
    """Refuse a form of the export that there is not."""
    if kind not in FORMATS:
        raise InvalidField("format", "format must be jsonl or markdown")
    if view not in VIEWS or (kind == "jsonl" and view != "log"):
        raise InvalidField("view", "view must be log, or surface with format markdown")


def piece_of(parts: Iterator[str]) -> bytes:
    """Return as much of a document as fits into one turn in the lane, nothing at its end."""
    turn, piece = Turn(), []
    for part in parts:
        piece.append(part)
        if turn.over():
            break
    return "".join(piece).encode()


def words_in(language: str) -> Words:
    """Return the words of the document in a language."""
    with translation.override(language):
        return Words(
            session=_("Session"),
            whole=_("The conversation as it was"),
            seen=_("What the model sees"),
            workspace=_("Workspace"),
            turn=_("Turn {}"),
            between=_("Between turns"),
            removed=_("Turn {} was removed from the model's view. Its text is still stored in the log."),
            left_out=_("Its text is left out here."),
            user=_("Person"),
            assistant=_("Assistant"),
            system=_("System"),
            developer=_("Developer"),
            tool=_("Tool result"),
            summary=_("In the place of earlier messages"),
            reasoning=_("Reasoning"),
            call=_("Tool call"),
            attachment=_("Attachment"),
            other=_("Other content"),
            empty=_("Nothing."),
            ended=_("This turn ended otherwise"),
        )
