"""The agent-control routes: lists, and the two deletions that wait for a person."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from apps.accounts.rules import Caller
from apps.confirmations.rules import Outcome
from apps.core.contracts import Contract
from apps.core.dispatch import ApiView
from apps.core.errors import SaysoError
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.sessions.api.asking import EXPIRES, ask, check_session
from apps.sessions.contracts import DELETE_SESSION, DELETE_TURN
from apps.sessions.queries.control import control_rows, removed_turns_of
from apps.sessions.queries.removals import TurnRemoved, check_log_visible
from apps.sessions.rules.control import code_of
from apps.sessions.rules.ids import check_target_message, check_target_session, fields_of
from apps.sessions.rules.plain_json import is_count
from apps.sessions.rules.refusals import DeleteFailed, InvalidRequest
from apps.sessions.serializers.control import (
    SessionDeleteSerializer,
    TurnDeleteSerializer,
    outcome_answer,
    refusal,
    session_row,
)

log = logging.getLogger("sayso.sessions")
ANSWERS = {
    200: OpenApiResponse(dict, description="done"),
    202: OpenApiResponse(dict, description="a person was asked and has not decided"),
    400: OpenApiResponse(dict, description="INVALID_REQUEST"),
    403: OpenApiResponse(dict, description="denied, or the right is missing"),
    404: OpenApiResponse(dict, description="TARGET_NOT_FOUND"),
    409: OpenApiResponse(dict, description="the target's state forbids it"),
    422: OpenApiResponse(dict, description="the idempotency key was used for another request"),
    423: OpenApiResponse(dict, description="AGENT_BUSY"),
    429: OpenApiResponse(dict, description="too many requests wait for a person"),
    500: OpenApiResponse(dict, description="DELETE_FAILED"),
}


class ControlView(ApiView):
    """What the four routes share: one method each, and failures as `{ok: false, error}`."""

    def http_method_not_allowed(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Refuse a wrong method before the body is read."""
        allowed = ", ".join(self.allowed_methods)
        response = self.error_response(InvalidRequest(f"Only {allowed} is possible here.", status=405))
        response["Allow"] = allowed
        return response

    def error_response(self, error: SaysoError) -> Response:
        """Render a refusal in family S; only a failed deletion is an error of ours and is logged."""
        status = InvalidRequest.status if code_of(error.own_code) == InvalidRequest.code else error.own_status
        if error.own_code == DeleteFailed.code:
            log.error("a deletion failed: %s", error.message)
        response = Response(refusal(error), status=405 if error.own_status == 405 else status)
        if "retry_after_s" in error.extra:
            response["Retry-After"] = str(error.extra["retry_after_s"])
        if error.own_status == 401:
            response["WWW-Authenticate"] = 'Bearer realm="sayso"'
        return response


class ControlSessions(ControlView):
    """The sessions that could be deleted."""

    scopes = {"GET": "session.read"}
    http_method_names = ["get"]

    @extend_schema(operation_id="agent_control_sessions", responses={200: dict})
    def get(self, request: Any) -> Response:
        """List sessions, each once however many spellings and copies it has."""
        rows = control_rows(by=request.user, now_ms=now_ms())
        return Response({"ok": True, "sessions": [session_row(row) for row in rows]})


class ControlTurns(ControlView):
    """The turns that a person removed."""

    scopes = {"GET": "session.read"}
    http_method_names = ["get"]

    @extend_schema(
        operation_id="agent_control_turns",
        parameters=[OpenApiParameter("sessionId", str, required=True)],
        responses={200: dict, 400: ANSWERS[400], 404: ANSWERS[404]},
    )
    def get(self, request: Any) -> Response:
        """List the removed turns of a session in the order of removal, whether or not a host holds it."""
        name = check_target_session(request.query_params.get("sessionId"))
        return Response({"ok": True, "sessionId": name, "turns": removed_turns_of(by=request.user, ref=name)})


class Deletion(ControlView):
    """A deletion that waits for a person."""

    scopes = {"POST": "session.delete"}
    http_method_names = ["post"]
    contract: ClassVar[Contract]

    def named(self, fields: Mapping[str, Any], *, by: Caller) -> dict[str, Any]:
        """Return the contract's arguments from the body, checked in the order in which they are declared."""
        raise NotImplementedError

    def check_target(self, by: Caller, arguments: Mapping[str, Any]) -> None:
        """Raise for a target that the caller may not see."""
        raise NotImplementedError

    def answer(self, request: Any) -> Response:
        """Ask a person, or answer at once what needs none."""
        fields = fields_of(request._request.body)
        arguments = self.named(fields, by=request.user)
        lifetime = fields.get("expires_in_s")
        return ask(
            request,
            contract=self.contract,
            arguments=arguments,
            check=self.check_target,
            shape=self.shape,
            expires_in_s=lifetime,
        )

    def shape(self, outcome: Outcome) -> Response:
        """Return an outcome as family S answers it."""
        status, body = outcome_answer(outcome)
        if status == DeleteFailed.status:
            log.error("a deletion failed: %s", body["error"]["message"])
        return Response(body, status=status)


class SessionDelete(Deletion):
    """Deleting a session for good."""

    contract = DELETE_SESSION

    @extend_schema(
        operation_id="agent_control_session_delete",
        parameters=[EXPIRES],
        request=SessionDeleteSerializer,
        responses=ANSWERS,
    )
    def post(self, request: Any) -> Response:
        """Delete a session with its subagents, once a person agreed."""
        return self.answer(request)

    def named(self, fields: Mapping[str, Any], *, by: Caller) -> dict[str, Any]:
        """Return which session."""
        return {"session": check_target_session(fields.get("sessionId"))}

    def check_target(self, by: Caller, arguments: Mapping[str, Any]) -> None:
        """Raise for a session that the caller may not see."""
        check_session(by, arguments)


class TurnDelete(Deletion):
    """Removing one turn from the model's view."""

    contract = DELETE_TURN

    @extend_schema(
        operation_id="agent_control_turn_delete",
        parameters=[EXPIRES],
        request=TurnDeleteSerializer,
        responses=ANSWERS,
    )
    def post(self, request: Any) -> Response:
        """Remove the turn of a reply, once a person agreed; a turn that was removed before is answered at once."""
        try:
            return self.answer(request)
        except TurnRemoved as error:
            # What was removed stays removed, whatever runs in the session now.
            found = error.removed
            name = check_target_session(fields_of(request._request.body).get("sessionId"))
            facts = {"compactionId": found.compaction_id, "replacementSeq": found.replacement_seq}
            return Response({"ok": True, "sessionId": name, "turn": found.turn, "alreadyDeleted": True, **facts})

    def named(self, fields: Mapping[str, Any], *, by: Caller) -> dict[str, Any]:
        """Return which turn: by a reply of it or, from a person's page, by its number."""
        session = check_target_session(fields.get("sessionId"))
        if by.is_human and fields.get("assistantMessageId") is None and "turn" in fields:
            turn = fields["turn"]
            if not is_count(turn) or not 1 <= turn < 2**31:
                raise InvalidRequest("turn must be the number of a turn.")
            return {"session": session, "turn": turn}
        return {"session": session, "message": check_target_message(fields.get("assistantMessageId"))}

    def check_target(self, by: Caller, arguments: Mapping[str, Any]) -> None:
        """Raise for a session that the caller may not see."""
        check_log_visible(by=by, ref=arguments["session"])
