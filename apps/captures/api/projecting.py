"""The server as the reference projector, for hosts in any language."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema

from apps.captures.api.base import CaptureView, captured_json, check_unicode
from apps.captures.rules import project
from apps.captures.serializers import FailureSerializer, ProjectedSerializer, ProjectSerializer
from apps.core.responses import Response


class Project(CaptureView):
    """Runs a projector and stores nothing."""

    scopes = {"POST": "capture.write"}

    @extend_schema(
        operation_id="captures_project",
        request=ProjectSerializer,
        responses={200: ProjectedSerializer, 422: FailureSerializer},
    )
    def post(self, request: Any) -> Response:
        """Return the text, the coverage, the metadata and the id that a capture of this input would have."""
        body = captured_json(request)
        check_unicode(request, body=body)
        return Response(project(body).as_object())
