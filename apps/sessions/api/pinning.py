"""Pinning over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema

from apps.core.responses import Response
from apps.ledger.api import once
from apps.sessions.actions import shelving
from apps.sessions.api.shelving import Shelving


class Pin(Shelving):
    """Keeping a session at the top."""

    act = staticmethod(shelving.pin_session)
    flag = {"pinned": True}

    @extend_schema(operation_id="sessions_pin", request=None, responses={200: dict})
    @once
    def post(self, request: Any, session_ref: str) -> Response:
        """Pin the session."""
        return self.done(request, session_ref)


class Unpin(Shelving):
    """Letting a session go back among the others."""

    act = staticmethod(shelving.unpin_session)
    flag = {"pinned": False}

    @extend_schema(operation_id="sessions_unpin", request=None, responses={200: dict})
    @once
    def post(self, request: Any, session_ref: str) -> Response:
        """Unpin the session."""
        return self.done(request, session_ref)
