"""A person's cards."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from apps.accounts.api import HumanOnly
from apps.accounts.queries import deciding_places, places_of
from apps.accounts.rules import Caller
from apps.confirmations import queries
from apps.confirmations.api.deciding import decider_of, fresh_nonce
from apps.confirmations.rules import (
    ConfirmationNotFound,
    check_before,
)
from apps.confirmations.serializers import (
    ErrorSerializer,
    card,
    past_card,
)
from apps.core.dispatch import ApiView
from apps.core.responses import Response

PAGE_SIZE = 50


class Inbox(ApiView):
    """What waits for the person, or what ended."""

    permission_classes = [HumanOnly]

    @extend_schema(
        operation_id="inbox_list",
        parameters=[
            OpenApiParameter("state", str, enum=["open", "past"]),
            OpenApiParameter(
                "before", str, description="past ones only: `decided_at_ms`, or `decided_at_ms.seq`, of the last"
            ),
        ],
        responses={200: dict},
    )
    def get(self, request: Any) -> Response:
        """List cards, open ones in order or past ones from the latest."""
        caller: Caller = request.user
        places = deciding_places(places_of(user_id=caller.user_id))
        view = {"language": caller.language, "time_zone": caller.time_zone}
        if request.query_params.get("state") == "past":
            before = check_before(request.query_params.get("before", ""))
            ended = queries.past_cards(profile_ids=list(places), limit=PAGE_SIZE, before=before)
            return Response({"cards": [past_card(row, place=places[row.profile_id], **view) for row in ended]})
        rows = queries.open_cards(profile_ids=list(places))
        return Response({"cards": [card(row, place=places[row.profile_id], **view) for row in rows]})


class InboxCard(ApiView):
    """One card, for its own page and for deciding without a socket."""

    permission_classes = [HumanOnly]

    @extend_schema(operation_id="inbox_read", responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, confirmation_id: str) -> Response:
        """Show the card with how it ended, or with a nonce for deciding."""
        caller: Caller = request.user
        places = deciding_places(places_of(user_id=caller.user_id))
        row = queries.card_for(profile_ids=list(places), confirmation_id=confirmation_id)
        if row is None:
            raise ConfirmationNotFound
        view = {"language": caller.language, "time_zone": caller.time_zone}
        body = past_card(row, place=places[row.profile_id], **view)
        nonce = fresh_nonce(decider_of(request), row.pk) if row.state == "pending" else ""
        return Response({"card": body, "nonce": nonce})
