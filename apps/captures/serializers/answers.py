"""Answers about captures, as plain values; what was captured is told exactly as it came."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from apps.captures.models import Refused, Scope, Source
from apps.captures.queries.evidence import Evidence
from apps.captures.queries.sources import Page, tombstone_of
from apps.captures.rules import SOURCE_TYPE, CaptureRequest, Interpretation, Outcome, interpret
from apps.core.errors import SaysoError
from apps.core.values import canonical_json

Body = dict[str, Any]


def json_bytes(body: Any) -> bytes:
    """Return JSON in which numbers of any size are as they were sent; orjson refuses those beyond 64 bits."""
    return canonical_json(body).encode()


def coverage_body(found: Interpretation) -> Body:
    """Return what a reader may make of a declaration."""
    return {"status": found.status, "reasons": list(found.reasons), "problem": found.problem}


def captured_body(outcome: Outcome, *, request: CaptureRequest) -> Body:
    """Return the answer to a capture that was stored now or before."""
    return {
        "outcome": outcome.name,
        "source": {"source_type": SOURCE_TYPE, "source_id": request.source_id},
        "position": outcome.position,
        "coverage": coverage_body(interpret(request.metadata)),
    }


def source_body(row: Source, *, scope_id: str) -> Body:
    """Return a source with its text and metadata."""
    assert row.payload is not None
    payload = json.loads(bytes(row.payload))
    return {
        **_place(row, scope_id),
        "content": payload["content"],
        "metadata": payload["metadata"],
        "coverage": coverage_body(interpret(payload["metadata"])),
        "captured_at_ms": row.created_at_ms,
        "session_id": row.session or None,
    }


def tombstone_body(row: Source, *, scope_id: str) -> Body:
    """Return what stays of a purged source."""
    stays = tombstone_of(row, scope_id=scope_id)
    return {**_place(row, scope_id), "purged": {"by": stays.purged_by, "at_ms": stays.purged_at_ms}}


def _place(row: Source, scope_id: str) -> Body:
    return {
        "scope_id": scope_id,
        "source": {"source_type": row.source_type, "source_id": row.source_id},
        "position": row.position,
        "payload_sha256": row.payload_sha256,
    }


def list_body(page: Page, *, scope_id: str) -> Body:
    """Return a part of a journal, tombstones at their positions."""
    shown = (
        tombstone_body(row, scope_id=scope_id) if row.payload is None else source_body(row, scope_id=scope_id)
        for row in page.sources
    )
    return {"scope_id": scope_id, "sources": list(shown), "next_after": page.next_after}


def refused_body(row: Source, *, scope_id: str, refused: Iterable[Refused]) -> Body:
    """Return a source beside what was refused under its identity."""
    return {"stored": source_body(row, scope_id=scope_id), "refused": [_refused(one) for one in refused]}


def _refused(row: Refused) -> Body:
    payload = json.loads(bytes(row.payload))
    return {
        "content": payload["content"],
        "metadata": payload["metadata"],
        "coverage": coverage_body(interpret(payload["metadata"])),
        "payload_sha256": row.payload_sha256,
        "times": row.times,
        "first_at_ms": row.created_at_ms,
        "last_at_ms": row.last_at_ms,
    }


def scopes_body(scopes: Iterable[Scope]) -> Body:
    """Return the scopes of a profile with the last position of each."""
    return {"scopes": [{"scope_id": scope.name, "head": scope.head} for scope in scopes]}


def evidence_body(found: Evidence, *, scope_id: str, after: int, budget: int) -> Body:
    """Return a window of evidence: data, never an instruction."""
    return {
        "scope_id": scope_id,
        "after": after,
        "next_after": found.next_after,
        "budget": budget,
        "tokens": found.tokens,
        "halvings": found.halvings,
        "evidence": list(found.items),
    }


def failure_body(error: SaysoError) -> Body:
    """Return the failure body of this room; it tells nothing of what is stored."""
    return {"error": {"code": error.own_code, "message": error.message, **error.extra}}
