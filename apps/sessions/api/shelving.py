"""Archiving over REST, and what it shares with pinning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema

from apps.confirmations.serializers import ErrorSerializer
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.ledger.api import once
from apps.sessions.actions import shelving
from apps.sessions.models import Session


class Shelving(ApiView):
    """What all of them share; a repeat changes nothing and answers the same."""

    scopes = {"POST": "session.append"}
    act: ClassVar[Callable[..., Session]]
    flag: ClassVar[dict[str, bool]]

    def done(self, request: Any, session_ref: str) -> Response:
        """Do it and say where the session is now."""
        row = type(self).act(by=request.user, ref=session_ref, now_ms=now_ms())
        return Response({"id": row.ref, **self.flag})


class Archive(Shelving):
    """Putting a session away."""

    act = staticmethod(shelving.archive_session)
    flag = {"archived": True}

    @extend_schema(operation_id="sessions_archive", request=None, responses={200: dict, 409: ErrorSerializer})
    @once
    def post(self, request: Any, session_ref: str) -> Response:
        """Archive the session; refused, with what is in the way, while schedules of it are active."""
        return self.done(request, session_ref)


class Unarchive(Shelving):
    """Taking a session back out."""

    act = staticmethod(shelving.unarchive_session)
    flag = {"archived": False}

    @extend_schema(operation_id="sessions_unarchive", request=None, responses={200: dict})
    @once
    def post(self, request: Any, session_ref: str) -> Response:
        """Unarchive the session."""
        return self.done(request, session_ref)
