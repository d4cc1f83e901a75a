"""Runs over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema

from apps.core.api import body_of
from apps.core.dispatch import ApiView
from apps.core.errors import InvalidField
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.ledger.api import once
from apps.sessions import actions, queries
from apps.sessions.serializers import RunStartSerializer, run_body

LIST_SIZE = 100


class RunList(ApiView):
    """The runs of a session."""

    scopes = {"GET": "session.read", "POST": "session.append"}

    @extend_schema(operation_id="runs_list", responses={200: dict})
    def get(self, request: Any, session_ref: str) -> Response:
        """List runs, newest first."""
        session = queries.session_of(by=request.user, ref=session_ref)
        return Response({"runs": [run_body(row) for row in session.runs.all()[:LIST_SIZE]]})

    @extend_schema(operation_id="runs_start", request=RunStartSerializer, responses={201: dict})
    @once
    def post(self, request: Any, session_ref: str) -> Response:
        """Start a run."""
        background = body_of(request).get("background", False)
        if not isinstance(background, bool):
            raise InvalidField("background", "background must be true or false")
        run = actions.start_run(by=request.user, ref=session_ref, background=background, now_ms=now_ms())
        return Response(run_body(run), status=201)


class RunEnd(ApiView):
    """The end of a run."""

    scopes = {"POST": "session.append"}
    state = "ended"

    @extend_schema(request=None, responses={200: dict})
    @once
    def post(self, request: Any, session_ref: str, run_id: str) -> Response:
        """End the run."""
        run = actions.end_run(by=request.user, ref=session_ref, run_id=run_id, state=self.state, now_ms=now_ms())
        return Response(run_body(run))


class RunAbort(RunEnd):
    """The abort of a run."""

    state = "aborted"
