"""Scopes, and what was refused in them."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.captures.api.base import SCOPE, CaptureView, exact, scope_param
from apps.captures.queries.sources import refused_of, scopes_of, source_of
from apps.captures.rules import SourceNotFound
from apps.captures.serializers import (
    ConflictsSerializer,
    FailureSerializer,
    ScopeListSerializer,
    refused_body,
    scopes_body,
)
from apps.core.responses import Response


class ScopeList(CaptureView):
    """The scopes of the caller's profile."""

    scopes = {"GET": "capture.read"}

    @extend_schema(operation_id="captures_scopes", responses={200: ScopeListSerializer})
    def get(self, request: Any) -> Response:
        """List the scopes by name."""
        return Response(scopes_body(scopes_of(profile_id=request.user.profile_id)))


class SourceConflicts(CaptureView):
    """What was refused under the identity of a source."""

    scopes = {"GET": "capture.read"}

    @extend_schema(
        operation_id="captures_conflicts",
        parameters=[SCOPE, OpenApiParameter("source_id", str, required=True, description="the source")],
        responses={200: ConflictsSerializer, 404: FailureSerializer, 422: FailureSerializer},
    )
    def get(self, request: Any) -> HttpResponse:
        """Return the stored payload beside those that were refused, for somebody who may read the scope."""
        scope_id, source_id = scope_param(request), request.query_params.get("source_id", "")
        row = source_of(profile_id=request.user.profile_id, scope_id=scope_id, source_id=source_id)
        if row.payload is None:
            raise SourceNotFound
        return exact(refused_body(row, scope_id=scope_id, refused=refused_of(row)))
