"""Receipts."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema

from apps.confirmations.serializers import (
    ErrorSerializer,
    receipt_body,
)
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.ledger.queries import receipt_for


class ReceiptDetail(ApiView):
    """A receipt, for its requester and for the people of the profile."""

    @extend_schema(operation_id="receipts_read", responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, receipt_id: str) -> Response:
        """Show the receipt as it was written."""
        return Response(receipt_body(receipt_for(by=request.user, receipt_id=receipt_id)))
