"""One mobile-calendar request on its way: on Sayso's own calendars or at a phone, and how it is answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.accounts.rules import Caller
from apps.calendars.actions.performing import perform, recalled_answer
from apps.calendars.actions.planning import Plan, plan_request
from apps.calendars.api.carrying import contract_of
from apps.calendars.api.reckoning import reckoned
from apps.calendars.rules.limits import CalendarRuleError, NoSuchOccurrence
from apps.calendars.rules.mobile_request import normalize_request, session_id_of
from apps.calendars.rules.mobile_values import timeout_ms_of
from apps.calendars.rules.targets import CalendarReadOnly, ItemNotFound, Unavailable
from apps.confirmations.actions import recall, submit
from apps.confirmations.api import ask_and_answer, idempotency_key, requested_wait
from apps.confirmations.rules import DeniedRecently, Outcome, Wait, check_expires
from apps.confirmations.serializers import SENTENCES
from apps.core.errors import SaysoError
from apps.core.responses import Response
from apps.core.values import new_id, now_ms
from apps.devices.queries import requests_of, target_for
from apps.sessions.models import Session

SCOPE_OF_ACTION = {"list": "read", "create": "write", "update": "write", "complete": "write", "delete": "delete"}
CODES = frozenset(
    {"calendar_permission_denied", "calendar_unavailable", "calendar_item_not_found", "calendar_invalid_request"}
)
REASON_OF_STATE = {"expired": "expired", "withdrawn": "withdrawn", "changed": "changed", "uncertain": "uncertain"}
NOT_PAYLOAD = frozenset({"expires_in_s", "timeout_ms"})
DONE = {
    "list": "This is what there is in the window.",
    "create": "It was created; the item shows what was stored.",
    "update": "It was changed; the item shows what is stored now.",
    "complete": "It was changed; the item shows what is stored now.",
    "delete": "A person agreed and exactly this was deleted.",
}


class GuardFailed(SaysoError):
    """This request is not possible here."""


class Exchange:
    """One request on its way: what it asks, how long it waits, how it is answered."""

    def __init__(self, request: Any, body: dict[str, Any]) -> None:
        """Keep the request and its body."""
        self.request, self.body = request, body
        self.by: Caller = request.user
        self.session_id = session_id_of(body.get("session_id"))
        self.capability = str(body.get("capability") or "").strip()
        self.action = str(body.get("action") or "").strip()
        self.device_id = ""
        self.key = idempotency_key(request)
        self.payload = {
            "door": "mobile_calendar",
            "body": {name: value for name, value in body.items() if name not in NOT_PAYLOAD},
        }

    def wait(self) -> Wait:
        """Return how long to hold and to live: `Prefer` beats `timeout_ms`, which is then ignored."""
        expires = self.body.get("expires_in_s")
        prefer = self.request.META.get("HTTP_PREFER", "").lower()
        if "wait" in prefer or "respond-async" in prefer:
            return requested_wait(self.request, default_hold_s=300, expires_in_s=expires)
        if expires is not None:
            check_expires(expires)
        timeout = timeout_ms_of(self.body.get("timeout_ms"))
        return Wait(hold_ms=timeout, expires_ms=timeout)

    def recalled(self) -> Response | None:
        """Return what an idempotency key stands for already."""
        if not self.key:
            return None
        outcome = recall(by=self.by, key=self.key, payload=self.payload)
        if outcome is not None:
            return ask_and_answer(self.request, wait=self.wait(), ask=lambda: outcome, shape=self.shape)
        answer = recalled_answer(by=self.by, key=self.key, payload=self.payload)
        return None if answer is None else Response(json.loads(answer))

    def at_home(self) -> Response:
        """Work on Sayso's own calendars."""
        moment = now_ms()
        wait = self.wait()
        request = normalize_request(self.body, now_ms=moment)
        try:
            plan = plan_request(
                by=self.by, request=request, now_ms=moment, default_window=self.body.get("start_ms") is None
            )
            if not plan.asks:
                return reckoned(self.request, read=lambda: self.done(plan, moment), render=Response)
            ask = self.asking(plan, purpose=request["purpose"], wait=wait, moment=moment)
            return ask_and_answer(self.request, wait=wait, ask=ask, shape=self.shape)
        except DeniedRecently as error:
            return Response(self.body_of_denial(error))
        except (ItemNotFound, NoSuchOccurrence, CalendarReadOnly, Unavailable) as error:
            return Response(self.failed(code_of(error), error.message))
        except CalendarRuleError as error:
            raise GuardFailed(error.message, code=error.own_code) from None

    def done(self, plan: Plan, moment: int) -> dict[str, Any]:
        """Do it at once."""

        def answer(parts: Mapping[str, Any]) -> dict[str, Any]:
            return self.success(parts)

        parts = perform(
            by=self.by,
            contract=contract_of(plan.contract, capability=self.capability),
            arguments=plan.arguments,
            now_ms=moment,
            key=self.key,
            payload=self.payload,
            answer=answer,
        )
        return answer(parts)

    def asking(
        self, plan: Plan, *, purpose: str, wait: Wait, moment: int, target_device: str = "", run: str = ""
    ) -> Any:
        """Return the call that asks a person, or the phone."""
        contract = contract_of(plan.contract, capability=self.capability)
        if target_device:
            # One contract carries every action to a phone; the right that it needs is the action's own.
            contract = replace(contract, scope=f"{self.capability}.{SCOPE_OF_ACTION[self.action]}")
        ids = {"session": self.session_id} | ({"run": run} if run else {})
        return lambda: submit(
            by=self.by,
            contract=contract,
            arguments=plan.arguments,
            expires_ms=wait.expires_ms,
            now_ms=moment,
            purpose=purpose,
            key=self.key,
            payload=self.payload,
            ids=ids,
            target_device=target_device,
            seen=plan.found,
        )

    def at_device(self, session: Session) -> Response:
        """Pass the request on to the phone that started the session's latest run."""
        if requests_of(session=session):
            raise GuardFailed("A mobile calendar or reminder request is already pending")
        target = target_for(session=session, profile_id=self.by.profile_id)
        if target is None:
            raise GuardFailed("Mobile target unavailable; send a new message from the intended mobile device")
        if not target.online:
            raise GuardFailed("Target mobile device is offline; reconnect the same device")
        moment, wait = now_ms(), self.wait()
        request = normalize_request(self.body, now_ms=moment)
        self.device_id = target.device_id
        if not target.knows(capability=self.capability, action=self.action):
            return Response(self.failed("calendar_unavailable", "The phone's app does not know this action."))
        plan = Plan(
            contract="calendars.device_request",
            arguments={"request": request, "device_id": target.device_id, "session_id": session.ref, "nonce": new_id()},
            asks=True,
        )
        ask = self.asking(
            plan, purpose=request["purpose"], wait=wait, moment=moment, target_device=target.ref, run=target.run_id
        )
        try:
            return ask_and_answer(self.request, wait=wait, ask=ask, shape=self.shape)
        except DeniedRecently as error:
            return Response(self.body_of_denial(error))

    def answer(self, status: str, sentence: str, **members: Any) -> dict[str, Any]:
        """Return a finished exchange."""
        body = {"ok": True, "session_id": self.session_id, "status": status, "message": sentence, **members}
        return body | {"device_id": self.device_id} if self.device_id else body

    def success(self, parts: Mapping[str, Any], **members: Any) -> dict[str, Any]:
        """Return a success with its result."""
        inner = parts.get("result", parts)
        result = {**inner, "capability": self.capability, "action": self.action}
        if self.action == "update" and inner.get("item", {}).get("deleted"):
            result["item"] = {"id": inner["item"]["id"]}
        return self.answer("success", self.sentence(inner), result=result, **members)

    def sentence(self, parts: Mapping[str, Any]) -> str:
        """Say what was done and what remains."""
        remain = parts.get("remain")
        more = f" {remain} occurrences of the series remain." if isinstance(remain, int) else ""
        if parts.get("truncated"):
            more = " There are more items than the limit: narrow the window."
        return DONE[self.action] + more

    def failed(self, code: str, sentence: str, *, reason: str = "", **members: Any) -> dict[str, Any]:
        """Return an exchange that ended with an error."""
        error = {"code": code, "reason": reason} if reason else {"code": code}
        return self.answer("error", sentence, error=error, **members)

    def body_of_denial(self, error: SaysoError) -> dict[str, Any]:
        """Return the answer to a request that a person refused a moment ago."""
        return self.answer("denied", error.message, code=error.own_code, **error.extra)

    def shape(self, outcome: Outcome) -> Response:
        """Return an outcome as family M answers it."""
        self.device_id = self.device_id or outcome.device.partition(":")[2]
        ids = {"confirmation_id": outcome.confirmation_id}
        sentence = outcome.message or SENTENCES[outcome.state]
        if outcome.pending:
            return Response(self.answer("pending", sentence, **ids), status=202)
        if outcome.state == "executed":
            return Response(self.success(outcome.parts, receipt_id=outcome.receipt_id, **ids))
        if outcome.state == "denied":
            reason = {"reason": outcome.reason} if outcome.reason else {}
            return Response(self.answer("denied", sentence, **reason, **ids))
        if outcome.state == "failed":
            code = outcome.code if outcome.code in CODES else "calendar_failed"
            return Response(self.failed(code, sentence, reason="failed", **ids))
        return Response(self.failed("calendar_failed", sentence, reason=REASON_OF_STATE[outcome.state], **ids))


def code_of(error: SaysoError) -> str:
    """Return the wire code of a refusal before asking."""
    return "calendar_item_not_found" if isinstance(error, NoSuchOccurrence) else error.own_code
