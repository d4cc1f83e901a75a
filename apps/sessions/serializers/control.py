"""Shapes of the agent-control routes: `{ok: true, …}` or `{ok: false, error: {code, message, …}}`."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.confirmations.rules import Outcome
from apps.confirmations.serializers import SENTENCES
from apps.core.errors import SaysoError
from apps.sessions.rules.control import OF_STATE, code_of, failed_as
from apps.sessions.rules.family import Row

ORPHAN = "It is stored, but no workspace lists it."
LIVE = "An agent host holds it; close it there first."


def failure(code: str, message: str, **detail: Any) -> dict[str, Any]:
    """Return a failure's body."""
    return {"ok": False, "error": {**detail, "code": code, "message": message}}


def refusal(error: SaysoError) -> dict[str, Any]:
    """Return the body of a request that was refused before anybody was asked."""
    return failure(code_of(error.own_code), error.message, **error.extra)


def outcome_answer(outcome: Outcome) -> tuple[int, dict[str, Any]]:
    """Return status and body for where a confirmation stands."""
    ids = {"confirmation_id": outcome.confirmation_id}
    sentence = SENTENCES[outcome.state]
    if outcome.pending:
        return 202, {"ok": True, "status": "pending", "message": sentence, **ids}
    if outcome.state == "executed":
        return 200, {"ok": True, **outcome.parts, **ids, "receipt_id": outcome.receipt_id}
    if outcome.state == "failed":
        code, status = failed_as(outcome.code)
        return status, failure(code, outcome.message or sentence, **outcome.parts.get("detail", {}), **ids)
    code, status = OF_STATE[outcome.state]
    reason = {"reason": outcome.reason} if outcome.reason else {}
    return status, failure(code, sentence, **reason, **ids)


def session_row(row: Row) -> dict[str, Any]:
    """Return one line of the list."""
    reasons = ([ORPHAN] if row.orphan else []) + ([LIVE] if row.live else [])
    return {
        "sessionId": row.name,
        "workspaceTitle": row.title,
        "cwd": row.cwd,
        "running": row.running,
        "live": row.live,
        "removable": not row.live,
        "reasons": reasons,
    }


class SessionDeleteSerializer(serializers.Serializer[Any]):
    """What names a session to delete."""

    sessionId = serializers.CharField(max_length=200)  # noqa: N815 (the wire's own name)
    expires_in_s = serializers.IntegerField(required=False, min_value=3, max_value=604_800)


class TurnDeleteSerializer(SessionDeleteSerializer):
    """What names a turn to remove: a reply of it; Sayso's own page may name its number instead."""

    assistantMessageId = serializers.CharField(required=False, max_length=200)  # noqa: N815 (the wire's own name)
    turn = serializers.IntegerField(required=False, min_value=1)
