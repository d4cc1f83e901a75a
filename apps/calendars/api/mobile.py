"""`POST /api/studio/mobile-calendar/request`: the door of the original, for Sayso's own calendars and for phones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from apps.accounts.queries import memberships_of
from apps.accounts.rules import Caller, check_scope
from apps.calendars.actions.storing import current_owner
from apps.calendars.api.exchange import SCOPE_OF_ACTION, Exchange, GuardFailed
from apps.calendars.api.reckoning import unused
from apps.calendars.serializers import MobileRequestSerializer
from apps.confirmations.api import ask_and_answer
from apps.confirmations.rules import Outcome
from apps.core.api import body_of, error_response, rendering_of
from apps.core.dispatch import ApiView
from apps.core.errors import Denied, NotFound, SaysoError
from apps.core.jobs import is_job, run_job
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.devices.queries import relay_is_up
from apps.sessions.models import Session
from apps.sessions.queries import visible_session
from apps.sessions.rules import GROUP_SOURCES


class SessionMissing(NotFound):
    """Session not found"""


class ServiceMissing(SaysoError):
    """Chat run service is unavailable"""

    status = 503


class MobileCalendar(ApiView):
    """One request about events or reminders; it may wait for a person."""

    @extend_schema(
        operation_id="mobile_calendar_request",
        parameters=[OpenApiParameter("expires_in_s", int, description="the member of that name wins; with `Prefer`")],
        request=MobileRequestSerializer,
        responses={
            200: OpenApiResponse(dict, description="the exchange finished; look at status: success, denied or error"),
            202: OpenApiResponse(dict, description="a person was asked and has not decided"),
            400: OpenApiResponse(dict, description="session, guard or validation"),
            401: dict,
            403: dict,
            404: OpenApiResponse(dict, description="Session not found"),
            422: OpenApiResponse(dict, description="the idempotency key was used for another request"),
            429: dict,
            503: dict,
        },
    )
    def post(self, request: Any) -> Response:
        """Do what is asked, or ask a person; the guards come in the order of the contract."""
        by: Caller = request.user
        body = body_of(request)
        exchange = Exchange(request, body)
        if is_job(request):
            return run_job(request, work=unused, render=Response)
        if rendering_of(request) is not None:
            return ask_and_answer(request, wait=exchange.wait(), ask=never, shape=exchange.shape)
        check_rights(by, body)
        owner = current_owner(profile_id=by.profile_id, now_ms=now_ms())
        if exchange.session_id and owner.calendars == "device" and not relay_is_up():
            raise ServiceMissing
        session = guarded_session(by, exchange.session_id)
        known = exchange.recalled()
        if known is not None:
            return known
        if owner.calendars == "device":
            return exchange.at_device(session)
        return exchange.at_home()

    def error_response(self, error: SaysoError) -> Response:
        """Render a refusal in family M: the sentence under `error`."""
        return refusal(error)


def never() -> Outcome:
    """Stand in for asking where nothing is asked any more."""
    raise AssertionError


def refusal(error: SaysoError) -> Response:
    """Return a request that did not become an exchange."""
    body: dict[str, Any] = {"ok": False, "error": error.message}
    if error.own_status == 401:
        body = {"error": "Unauthorized"}
    elif error.own_code == "profile_unavailable":
        body = {"error": error.message}
    else:
        body |= {"code": error.own_code, "message": f"{error.message.rstrip('.')}. Nothing was changed.", **error.extra}
    response = error_response(error)
    response.data = body
    return response


def check_rights(by: Caller, body: Mapping[str, Any]) -> None:
    """Raise unless the token has the scope of this capability and action; unknown ones are refused later."""
    capability, action = (str(body.get(name) or "").strip() for name in ("capability", "action"))
    if capability in ("calendar", "reminder") and action in SCOPE_OF_ACTION:
        check_scope(by=by, scope=f"{capability}.{SCOPE_OF_ACTION[action]}")
    elif by.kind != "person" and not any(scope.startswith(("calendar.", "reminder.")) for scope in by.scopes):
        raise Denied("This token may not use calendars.")


def guarded_session(by: Caller, session_id: str) -> Session:
    """Return the session after guards 1 to 5."""
    if not session_id:
        raise GuardFailed("session_id is required")
    session = visible_session(by=by, ref=session_id)
    if session is None:
        if by.kind in ("person", "person_token"):
            others = [m.profile_id for m in memberships_of(user_id=by.user_id) if m.profile_id != by.profile_id]
            if Session.objects.filter(ref=session_id, profile_id__in=others, workspace__restricted=False).exists():
                raise GuardFailed("Session is not available for this profile")
        raise SessionMissing
    if session.source in GROUP_SOURCES:
        raise GuardFailed("Mobile calendar and reminders are available only in direct chats")
    return session
