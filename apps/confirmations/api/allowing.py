"""Letting a denied request be asked again."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema

from apps.accounts.api import HumanOnly
from apps.confirmations import actions
from apps.confirmations.api.deciding import decider_of
from apps.confirmations.serializers import (
    ErrorSerializer,
)
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.values import now_ms


class AllowAgain(ApiView):
    """The button "allow asking again" of a denied card."""

    permission_classes = [HumanOnly]

    @extend_schema(operation_id="confirmations_allow_again", request=None, responses={200: dict, 404: ErrorSerializer})
    def post(self, request: Any, confirmation_id: str) -> Response:
        """Let the denied request be asked again at once."""
        row = actions.allow_again(by=decider_of(request), confirmation_id=confirmation_id, now_ms=now_ms())
        return Response({"id": row.pk, "allowed_again": True})
