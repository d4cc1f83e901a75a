"""Runs the projector that a request names: the server as the reference for hosts in other languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.captures.rules import gateway, precompress, turn
from apps.captures.rules.coverage import COVERAGE_KEY, GATEWAY_TURN, HERMES_PRECOMPRESS, HERMES_TURN, Coverage
from apps.captures.rules.errors import CaptureIncomplete, InvalidRequest
from apps.captures.rules.identity import compression_source_id, gateway_source_id, turn_source_id

Json = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Projected:
    """What would be captured; `source_id` is None when the input does not say whose turn it is.

    `error` is `capture_incomplete` when a required window does not fit: then nothing is captured.
    """

    text: str | None = None
    coverage: Coverage | None = None
    metadata: Json | None = None
    source_id: str | None = None
    error: str | None = None

    @property
    def captured(self) -> bool:
        """Tell whether there is something to send."""
        return self.text is not None

    def as_object(self) -> dict[str, Any]:
        """Return the answer of the endpoint; `error` only when there is one."""
        answer = {
            "captured": self.captured,
            "text": self.text,
            "coverage": self.coverage.as_object() if self.coverage else None,
            "metadata": self.metadata,
            "source_id": self.source_id,
        }
        return {**answer, "error": self.error} if self.error else answer


def project(body: object) -> Projected:
    """Run the projector of `body["profile"]`; raises InvalidRequest when the input cannot be read.

    All profiles take `session_id`. Turn: `user`, `assistant`. Pre-compress: `messages`, `previous` (the messages of
    the last captured window), `mode`, `stream`. Gateway: see `read_turn`.
    """
    if not isinstance(body, Mapping):
        raise InvalidRequest("The body must be a JSON object.")
    profile = body.get("profile")
    known = {HERMES_TURN: _turn, HERMES_PRECOMPRESS: _precompress, GATEWAY_TURN: _gateway}
    if not isinstance(profile, str) or profile not in known:
        raise InvalidRequest("profile must be one of the three projections.", field="profile")
    try:
        return known[profile](body, _name(body, "session_id"))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("The input must be plain JSON.") from error


def metadata_of(*, kind: str, session_id: str | None, coverage: Coverage, **members: Any) -> dict[str, Any]:
    """Return the metadata of a capture, its declaration included."""
    of_session = {} if session_id is None else {"session_id": session_id}
    return {"kind": kind, **of_session, **members, COVERAGE_KEY: coverage.as_object()}


def _turn(body: Json, session_id: str | None) -> Projected:
    user, assistant = body.get("user"), body.get("assistant")
    found = turn.project_turn(user=user, assistant=assistant)
    if found is None:
        return Projected()
    named = session_id and turn_source_id(session_id=session_id, user=user, assistant=assistant)
    metadata = metadata_of(kind=turn.KIND, session_id=session_id, coverage=found.coverage)
    return Projected(text=found.text, coverage=found.coverage, metadata=metadata, source_id=named or None)


def _precompress(body: Json, session_id: str | None) -> Projected:
    mode = body.get("mode", precompress.OPTIONAL)
    if not isinstance(mode, str) or mode not in precompress.MODES:
        raise InvalidRequest("mode must be off, optional or required.", field="mode")
    previous = precompress.entries_of(_messages(body, "previous"))
    snapshot = precompress.fingerprints_of(previous)
    try:
        found = precompress.plan_checkpoint(_messages(body, "messages"), mode=mode, snapshot=snapshot)
    except CaptureIncomplete as error:
        return Projected(error=error.own_code)
    if found is None:
        return Projected()
    stream = _name(body, "stream") or session_id
    named = stream and compression_source_id(stream=stream, snapshot=snapshot, entries=found.new)
    coverage = found.window.coverage
    metadata = metadata_of(
        kind=precompress.KIND, session_id=session_id, coverage=coverage, message_count=len(found.new)
    )
    return Projected(text=found.window.text, coverage=coverage, metadata=metadata, source_id=named or None)


def _gateway(body: Json, session_id: str | None) -> Projected:
    for name in ("messages", "output"):
        _messages(body, name)
    found = gateway.project_gateway_turn(body)
    if found is None:
        return Projected()
    named = session_id and gateway_source_id(session_id=session_id, steps_sha256=found.steps_sha256)
    metadata = metadata_of(kind=gateway.KIND, session_id=session_id, coverage=found.coverage)
    return Projected(text=found.text, coverage=found.coverage, metadata=metadata, source_id=named or None)


def _messages(body: Json, name: str) -> Sequence[object]:
    value = body.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidRequest(f"{name} must be a list.", field=name)
    return value


def _name(body: Json, name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidRequest(f"{name} must be text.", field=name)
    return value
