"""The gate over HTTP: polling, withdrawing, deciding, receipts, and how every asking endpoint waits."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.response import Response

from apps.accounts.api import HumanOnly
from apps.accounts.queries import deciding_places, places_of
from apps.accounts.rules import Caller
from apps.confirmations import actions, queries
from apps.confirmations.rules import (
    AlreadyEnded,
    ConfirmationNotFound,
    Decider,
    Outcome,
    Wait,
    check_before,
    check_wait_s,
    new_nonce,
    wait_of,
)
from apps.confirmations.serializers import (
    DecisionSerializer,
    ErrorSerializer,
    PollListSerializer,
    PollSerializer,
    answer_r,
    card,
    frame_of,
    past_card,
    poll_body,
    receipt_body,
    refusal,
    taken,
)
from apps.core.api import body_of, defer, rendering_of
from apps.core.dispatch import ApiView
from apps.core.values import now_ms, sha256_hex
from apps.core.waiting import Deferral, Stream
from apps.ledger.queries import receipt_for

PAGE_SIZE = 50


def outcome_now(*, by: Caller, confirmation_id: str) -> Outcome:
    """Return where a request of the caller stands; what is due expires first, so a late timer never matters."""
    row = queries.confirmation_of(by=by, confirmation_id=confirmation_id)
    moment = now_ms()
    if row.state == "pending" and row.deadline_ms <= moment:
        actions.expire_due(now_ms=moment)
        row = queries.confirmation_of(by=by, confirmation_id=confirmation_id)
    return queries.outcome_from(row)


def requested_wait(request: Any, *, default_hold_s: int, expires_in_s: Any = None) -> Wait:
    """Return how long this request holds and lives, from `Prefer` and `expires_in_s` (member or query)."""
    lifetime = expires_in_s if expires_in_s is not None else request.query_params.get("expires_in_s")
    return wait_of(prefer=request.META.get("HTTP_PREFER", ""), default_hold_s=default_hold_s, expires_in_s=lifetime)


def ask_and_answer(
    request: Any, *, wait: Wait, ask: Callable[[], Outcome], shape: Callable[[Outcome], Response]
) -> Response:
    """Ask, hold the line as long as the caller likes, and answer; the one way in which every asking endpoint waits."""
    rendering = rendering_of(request)
    moment = now_ms()
    if rendering is not None:
        outcome = outcome_now(by=request.user, confirmation_id=rendering.subject)
        if outcome.pending and rendering.cause == "released":
            return hold(request, outcome, shape(outcome), until_ms=moment + wait.hold_ms, withdraws=True)
        return answered(shape(outcome), outcome)
    outcome = ask()
    response = answered(shape(outcome), outcome)
    if outcome.pending and wait.hold_ms > 0:
        return hold(request, outcome, response, until_ms=moment + wait.hold_ms, withdraws=True)
    return response


def answered(response: Response, outcome: Outcome) -> Response:
    """Name the confirmation in the headers of an answer."""
    response["Location"] = f"/api/confirmations/{outcome.confirmation_id}"
    return response


def hold(request: Any, outcome: Outcome, response: Response, *, until_ms: int, withdraws: bool) -> Response:
    """Let the waiting layer hold this answer until the confirmation or the caller's right ends, or the time is up."""
    caller: Caller = request.user
    return defer(
        response,
        Deferral(
            key=f"confirmation:{outcome.confirmation_id}",
            until_ms=min(until_ms, outcome.deadline_ms),
            subject=outcome.confirmation_id,
            on_hang_up=hung_up if withdraws else None,
            also=(f"token:{caller.token_id}",) if caller.token_id else (),
        ),
    )


def hung_up(confirmation_id: str) -> None:
    """Withdraw what nobody waits for any more; the waiting layer calls it."""
    actions.hang_up(confirmation_ids=[confirmation_id], now_ms=now_ms())


def shape_r(outcome: Outcome, *, status_of_failure: dict[str, int] | None = None) -> Response:
    """Return an outcome as family R answers it."""
    status, body = answer_r(outcome, status_of_failure=status_of_failure)
    return Response(body, status=status)


def idempotency_key(request: Any) -> str:
    """Return the `Idempotency-Key` header, or an empty text."""
    return str(request.META.get("HTTP_IDEMPOTENCY_KEY", ""))


class ConfirmationList(ApiView):
    """What the caller asked for."""

    scopes = {"GET": "confirmation.read"}

    @extend_schema(operation_id="confirmations_list", responses={200: PollListSerializer})
    def get(self, request: Any) -> Response:
        """List the caller's own confirmations, newest first."""
        rows = queries.confirmations_of(by=request.user)[:PAGE_SIZE]
        return Response({"confirmations": [poll_body(queries.outcome_from(row)) for row in rows]})


class ConfirmationDetail(ApiView):
    """One of the caller's confirmations."""

    scopes = {"GET": "confirmation.read"}

    @extend_schema(
        operation_id="confirmations_read",
        parameters=[OpenApiParameter("wait", int, description="seconds to wait for a decision, 0 to 300")],
        responses={200: PollSerializer, 404: ErrorSerializer},
    )
    def get(self, request: Any, confirmation_id: str) -> Response:
        """Say where it stands; with `wait=N` as soon as it ended, at the latest after N seconds."""
        hold_ms = check_wait_s(request.query_params.get("wait")) * 1000
        outcome = outcome_now(by=request.user, confirmation_id=confirmation_id)
        response = answered(Response(poll_body(outcome)), outcome)
        rendering = rendering_of(request)
        if outcome.pending and hold_ms and (rendering is None or rendering.cause == "released"):
            return hold(request, outcome, response, until_ms=now_ms() + hold_ms, withdraws=False)
        return response

    @extend_schema(operation_id="confirmations_withdraw", responses={200: PollSerializer, 404: ErrorSerializer})
    def delete(self, request: Any, confirmation_id: str) -> Response:
        """Take the request back; one that ended stays as it is."""
        row = actions.withdraw(by=request.user, confirmation_id=confirmation_id, now_ms=now_ms())
        return Response(poll_body(queries.outcome_from(row)))


class ConfirmationEvents(ApiView):
    """The caller's confirmations as Server-Sent Events."""

    scopes = {"GET": "confirmation.read"}

    @extend_schema(
        operation_id="confirmations_events",
        responses={(200, "text/event-stream"): OpenApiResponse(description="events")},
    )
    def get(self, request: Any) -> Response:
        """Stream each change of the caller's own confirmations."""
        caller: Caller = request.user
        response = Response(status=200, content_type="text/event-stream")
        response["Cache-Control"] = "no-store"
        response["X-Accel-Buffering"] = "no"
        # A person who is signed out, disabled or changed elsewhere: the client comes back and is looked at anew.
        ends = (f"user:{caller.user_id}", *((f"token:{caller.token_id}",) if caller.token_id else ()))
        response.stream = Stream(key=f"requester:{caller.ref}", ends=ends, event=event_facts)  # type: ignore[attr-defined]
        return response


def event_facts(message: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a requester's stream shows of an announcement."""
    if not str(message["event"]).startswith("confirmation."):
        return None
    facts = {"confirmation_id": message["confirmation"], "state": message["state"]}
    return {**facts, "receipt_id": message["receipt"]} if message["receipt"] else facts


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
                target=actions.run_claimed, kwargs={"confirmation_id": confirmation_id, "now_ms": now_ms()}
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


class AllowAgain(ApiView):
    """The button "allow asking again" of a denied card."""

    permission_classes = [HumanOnly]

    @extend_schema(operation_id="confirmations_allow_again", request=None, responses={200: dict, 404: ErrorSerializer})
    def post(self, request: Any, confirmation_id: str) -> Response:
        """Let the denied request be asked again at once."""
        row = actions.allow_again(by=decider_of(request), confirmation_id=confirmation_id, now_ms=now_ms())
        return Response({"id": row.pk, "allowed_again": True})


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


class ReceiptDetail(ApiView):
    """A receipt, for its requester and for the people of the profile."""

    @extend_schema(operation_id="receipts_read", responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, receipt_id: str) -> Response:
        """Show the receipt as it was written."""
        return Response(receipt_body(receipt_for(by=request.user, receipt_id=receipt_id)))
