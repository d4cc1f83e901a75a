"""Deciding where no socket is at hand."""

from __future__ import annotations

import secrets
import threading
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema

from apps.accounts.api import HumanOnly
from apps.confirmations import actions
from apps.confirmations.rules import (
    AlreadyEnded,
    Decider,
    new_nonce,
)
from apps.confirmations.serializers import (
    DecisionSerializer,
    ErrorSerializer,
    frame_of,
    refusal,
    taken,
)
from apps.core.api import body_of
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.values import now_ms, sha256_hex


def decider_of(request: Any) -> Decider:
    """Return the person at a plain POST, with the sign-in that the nonce was made for."""
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    return Decider(user_id=request.user.user_id, label=request.user.label, session=sha256_hex(key))


class Decision(ApiView):
    """The dialog's decision, where no socket is at hand."""

    permission_classes = [HumanOnly]

    @extend_schema(
        operation_id="confirmations_decide",
        request=DecisionSerializer,
        responses={200: dict, 400: ErrorSerializer, 403: ErrorSerializer, 404: ErrorSerializer, 409: ErrorSerializer},
    )
    def post(self, request: Any, confirmation_id: str) -> Response:
        """Decide; the same rules as for a frame on the socket."""
        frame = frame_of(body_of(request))
        who = decider_of(request)
        result = actions.decide(by=who, confirmation_id=confirmation_id, frame=frame, now_ms=now_ms())
        if result.error is not None:
            body = refusal(confirmation_id, result.error)
            if not isinstance(result.error, AlreadyEnded):
                body["nonce"] = fresh_nonce(who, confirmation_id)
            return Response(body, status=result.error.own_status)
        if result.row.state == "executing":
            threading.Thread(
                target=actions.run_claimed, kwargs={"confirmation_id": confirmation_id, "tell_ms": now_ms}
            ).start()
        return Response(taken(result.row))


def fresh_nonce(who: Decider, confirmation_id: str) -> str:
    """Return a nonce for a plain POST by this person."""
    return new_nonce(
        key=settings.SAYSO_KEYS.key("django_secret"),
        card=confirmation_id,
        user_id=who.user_id,
        session=who.session,
        connection=secrets.token_hex(6),
    )
