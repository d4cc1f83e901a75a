"""What a purge would take away, read from real rows; the same code asks and checks again at the tick."""

from __future__ import annotations

import json
from typing import Any

from django.db import connection

from apps.captures.models import Refused, Source
from apps.captures.queries.sources import source_of
from apps.captures.rules import SourceNotFound, SourcePurged, interpret
from apps.core import rows
from apps.core.contracts import Call, Preview

TEXT_SHOWN = 2_000
"""How many characters of a source a card shows."""

_LOCK_SCOPE = "select id from captures_scope where profile_id = %s and name = %s for update"


def purge(*, call: Call, lock: bool = False) -> Preview:
    """Find the source; raise SourceNotFound or SourcePurged."""
    named = {name: call.arguments[name] for name in ("scope_id", "source_id")}
    if lock and connection.vendor == "postgresql":
        # Before the source, as captures do.
        rows.execute(_LOCK_SCOPE, [call.profile_id, named["scope_id"]])
    row = source_of(profile_id=call.profile_id, **named)
    if row.payload is None:
        # As what is not there any more: the gate then keeps nothing of the card either.
        raise SourcePurged(status=SourceNotFound.status)
    return Preview(
        target_kind="source",
        target_id=row.pk,
        facts=_facts(row, named["scope_id"]),
        state={"id": row.pk, "position": row.position, "payload_sha256": row.payload_sha256},
        effect="purge",
    )


def _facts(row: Source, scope_id: str) -> dict[str, Any]:
    assert row.payload is not None
    coverage = interpret(json.loads(row.metadata))
    content = json.loads(bytes(row.payload))["content"]
    return {
        "id": row.pk,
        "scope_id": scope_id,
        "source_type": row.source_type,
        "source_id": row.source_id,
        "position": row.position,
        "captured_at_ms": row.created_at_ms,
        "characters": len(content),
        "coverage": {"status": coverage.status, "problem": coverage.problem},
        "session": row.session,
        "refused": Refused.objects.filter(source=row).count(),
        "text": content[:TEXT_SHOWN],
        "more": max(0, len(content) - TEXT_SHOWN),
    }
