"""Evidence for extractors."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.captures.api.base import AFTER, SCOPE, CaptureView, exact, number_param, scope_param
from apps.captures.queries.evidence import WINDOW, evidence_window
from apps.captures.rules import DEFAULT_BUDGET
from apps.captures.serializers import EvidenceSerializer, FailureSerializer, evidence_body


class EvidenceWindow(CaptureView):
    """The next sources of a scope within a budget of tokens."""

    scopes = {"GET": "capture.read"}

    @extend_schema(
        operation_id="captures_evidence",
        parameters=[
            SCOPE,
            AFTER,
            OpenApiParameter("budget", int, description=f"tokens, {DEFAULT_BUDGET} unless given"),
            OpenApiParameter("limit", int, description=f"begin with at most so many sources, 1 to {WINDOW}"),
        ],
        responses={200: EvidenceSerializer, 422: FailureSerializer},
    )
    def get(self, request: Any) -> HttpResponse:
        """Return whole sources with their full metadata; a single one beyond the budget is `evidence_over_budget`."""
        scope_id = scope_param(request)
        after = number_param(request, "after", default=0) or 0
        budget = number_param(request, "budget", default=DEFAULT_BUDGET)
        limit = number_param(request, "limit", default=WINDOW)
        assert budget is not None
        assert limit is not None
        found = evidence_window(
            profile_id=request.user.profile_id, scope_id=scope_id, after=after, budget=budget, limit=limit
        )
        return exact(evidence_body(found, scope_id=scope_id, after=after, budget=budget))
