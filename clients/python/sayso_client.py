"""Captures what an agent said on a Sayso server, with an honest statement of what was cut.

Needs httpx and the plain rules of `apps/captures/rules` (the root of a checkout on PYTHONPATH; no Django).

    http = httpx.Client(base_url="http://127.0.0.1:8000", headers={"Authorization": f"Bearer {token}"})
    captures = CaptureClient(http=http)
    captures.capture_turn(scope_id="team", session_id="s1", user="Use uv.", assistant="Done.")

    checkpoints = Checkpoints(captures=captures, scope=lambda: "team", stream="s1", mode="required")
    checkpoints.run(session_id="s1", messages=messages)  # raises: do not compress
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from apps.captures.rules import (
    COVERAGE_KEY,
    OFF,
    REQUIRED,
    CaptureIncomplete,
    Checkpoint,
    compression_source_id,
    gateway_source_id,
    metadata_of,
    plan_checkpoint,
    project_gateway_turn,
    project_turn,
    turn_source_id,
)
from apps.core.errors import SaysoError

SOURCES = "/api/captures/sources"
CREATED, REPLAYED, LEGACY_REPLAYED = "created", "replayed", "legacy_replayed"
ALREADY_CAPTURED, CONFLICT, FAILED, ACCEPTED = "already_captured", "conflict", "failed", "accepted"

Json = Mapping[str, Any]
log = logging.getLogger("sayso.captures")

__all__ = ["CaptureClient", "CaptureIncomplete", "CheckpointFailed", "CheckpointResult", "Checkpoints", "Delivery"]


class CheckpointFailed(SaysoError):
    """A required checkpoint is not durable; the window must stay as it is."""

    code = "checkpoint_failed"
    status = 503


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """How one capture ended.

    `coverage` is the status under which the stored record reads, None when that is not known; `status` is the HTTP
    status of the answer that counts, None when the server could not be reached.
    """

    outcome: str
    attempts: int
    position: int | None = None
    coverage: str | None = None
    status: int | None = None

    @property
    def stored(self) -> bool:
        """Tell whether the server confirmed that it holds this capture, perhaps without its declaration."""
        return self.outcome in {CREATED, REPLAYED, LEGACY_REPLAYED, ACCEPTED}


@dataclass(frozen=True, kw_only=True)
class _Answer:
    status: int | None
    body: Json

    @property
    def ok(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    def delivery(self, *, attempts: int) -> Delivery:
        """Read the answer of a full payload; all 2xx are durable, also those of servers that do not say which."""
        if not self.ok:
            outcome = CONFLICT if self.status == httpx.codes.CONFLICT else FAILED
            return Delivery(outcome=outcome, attempts=attempts, status=self.status)
        said, coverage = self.body.get("outcome"), self.body.get("coverage")
        return Delivery(
            outcome=said if said in (CREATED, REPLAYED) else ACCEPTED,
            attempts=attempts,
            position=self.position,
            coverage=coverage.get("status") if isinstance(coverage, Mapping) else None,
            status=self.status,
        )

    @property
    def position(self) -> int | None:
        position = self.body.get("position")
        return position if isinstance(position, int) and not isinstance(position, bool) else None


class CaptureClient:
    """Sends captures over an httpx client that knows the server and the token."""

    def __init__(self, *, http: httpx.Client, path: str = SOURCES) -> None:
        """Take the client, and the path where a server of another make differs."""
        self._http = http
        self._path = path

    def capture_turn(
        self, *, scope_id: str, session_id: str, user: object, assistant: object, metadata: Json | None = None
    ) -> Delivery | None:
        """Capture a completed turn, None when it has no text; keys of `metadata` travel along untouched."""
        found = project_turn(user=user, assistant=assistant)
        if found is None:
            return None
        own = metadata_of(kind="hermes-turn", session_id=session_id, coverage=found.coverage)
        return self.send_hermes(
            scope_id=scope_id,
            source_id=turn_source_id(session_id=session_id, user=user, assistant=assistant),
            content=found.text,
            metadata={**(metadata or {}), **own},
        )

    def capture_gateway_turn(
        self, exchange: Json, *, scope_id: str, session_id: str, metadata: Json | None = None
    ) -> Delivery | None:
        """Capture the last turn of a finished exchange, None when it holds nothing to capture."""
        found = project_gateway_turn(exchange)
        if found is None:
            return None
        own = metadata_of(kind="gateway-turn", session_id=session_id, coverage=found.coverage)
        return self.send_gateway(
            scope_id=scope_id,
            source_id=gateway_source_id(session_id=session_id, steps_sha256=found.steps_sha256),
            content=found.text,
            metadata={**(metadata or {}), **own},
        )

    def send_hermes(self, *, scope_id: str, source_id: str, content: str, metadata: Json) -> Delivery:
        """Send a capture; after a 409 once more without the declaration, in case an older plugin captured the event."""
        first = self._post(scope_id, source_id, content, metadata)
        if first.status != httpx.codes.CONFLICT or COVERAGE_KEY not in metadata:
            return first.delivery(attempts=1)
        legacy = {key: value for key, value in metadata.items() if key != COVERAGE_KEY}
        second = self._post(scope_id, source_id, content, legacy)
        if not second.ok:
            return first.delivery(attempts=2)
        log.info("%s was captured before without a declaration; its coverage stays unknown", source_id)
        return Delivery(
            outcome=LEGACY_REPLAYED, attempts=2, position=second.position, coverage="unknown", status=second.status
        )

    def send_gateway(self, *, scope_id: str, source_id: str, content: str, metadata: Json) -> Delivery:
        """Send a capture once; after a 409 the first write wins, and nothing is known of its declaration."""
        found = self._post(scope_id, source_id, content, metadata).delivery(attempts=1)
        if found.outcome != CONFLICT:
            return found
        return Delivery(outcome=ALREADY_CAPTURED, attempts=1, status=found.status)

    def _post(self, scope_id: str, source_id: str, content: str, metadata: Json) -> _Answer:
        payload = {"scope_id": scope_id, "source_id": source_id, "content": content, "metadata": dict(metadata)}
        try:
            answer = self._http.post(self._path, json=payload)
        except (httpx.HTTPError, UnicodeEncodeError) as error:
            log.warning("%s was not captured: %s", source_id, type(error).__name__)
            return _Answer(status=None, body={})
        try:
            body = answer.json()
        except ValueError:
            body = {}
        return _Answer(status=answer.status_code, body=body if isinstance(body, dict) else {})


@dataclass(frozen=True, kw_only=True)
class CheckpointResult:
    """What one hook did; `delivery` is None when there was nothing to send."""

    delivery: Delivery | None = None
    message_count: int = 0
    snapshot_advanced: bool = False


class Checkpoints:
    """Captures the new part of each window of one stream before the host compresses it."""

    def __init__(
        self,
        *,
        captures: CaptureClient,
        scope: Callable[[], str],
        stream: str,
        mode: str,
        extract: Callable[[Delivery], object] | None = None,
    ) -> None:
        """Take where to send, the scope in force, the stream's id, the mode, and what follows a stored checkpoint.

        `snapshot` holds the fingerprints of the last captured window; a host may keep it over its own restart.
        """
        self._captures = captures
        self._scope = scope
        self._stream = stream
        self._mode = mode
        self._extract = extract
        self.snapshot: tuple[str, ...] = ()

    def restart(self, *, stream: str) -> None:
        """Begin another stream: after a reset, a rewind or a switch of scope."""
        self._stream, self.snapshot = stream, ()

    def run(
        self,
        *,
        session_id: str,
        messages: Sequence[object],
        evidence: Sequence[object] | None = None,
        wait: Callable[[], object] | None = None,
    ) -> CheckpointResult:
        """Capture what is new in the window; `evidence` is the host's normalised list, `wait` ends earlier writes.

        Mode `required` raises CaptureIncomplete when the new part does not fit and CheckpointFailed when it was not
        stored: the host must not compress then. Whatever was not stored is offered again.
        """
        if self._mode == OFF:
            return CheckpointResult()
        pinned = self._scope()
        if wait is not None:
            wait()
        window = messages if evidence is None else evidence
        plan = plan_checkpoint(window, mode=self._mode, snapshot=self.snapshot)
        if plan is None:
            return CheckpointResult()
        if self._scope() != pinned:
            return self._not_stored(CheckpointResult(message_count=len(plan.new)), "the scope changed meanwhile")
        return self._send(plan, scope_id=pinned, session_id=session_id)

    def _send(self, plan: Checkpoint, *, scope_id: str, session_id: str) -> CheckpointResult:
        count = len(plan.new)
        metadata = metadata_of(
            kind="hermes-context-compression",
            session_id=session_id,
            coverage=plan.window.coverage,
            message_count=count,
        )
        delivery = self._captures.send_hermes(
            scope_id=scope_id,
            source_id=compression_source_id(stream=self._stream, snapshot=self.snapshot, entries=plan.new),
            content=plan.window.text,
            metadata=metadata,
        )
        if not delivery.stored:
            return self._not_stored(CheckpointResult(delivery=delivery, message_count=count), delivery.outcome)
        self.snapshot = plan.snapshot
        self._follow(delivery)
        return CheckpointResult(delivery=delivery, message_count=count, snapshot_advanced=True)

    def _follow(self, delivery: Delivery) -> None:
        """Start the extraction; that it fails takes nothing back."""
        if self._extract is None:
            return
        try:
            self._extract(delivery)
        except Exception:  # the checkpoint is durable, whatever happens after it
            log.exception("the extraction after a checkpoint failed")

    def _not_stored(self, result: CheckpointResult, why: str) -> CheckpointResult:
        if self._mode == REQUIRED:
            raise CheckpointFailed(outcome=why)
        log.warning("a checkpoint was not stored: %s", why)
        return result
