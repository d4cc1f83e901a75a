"""Purging: the content goes, a tombstone stays at its position. Reached through the gate only."""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction

from apps.captures.models import Source
from apps.captures.queries.sources import sources_of_session
from apps.confirmations.actions import lay_bare
from apps.core import rows
from apps.core.announce import announce
from apps.core.contracts import Call, Preview

_PURGE = (
    "update captures_source set payload = null, metadata = '', session = '', purged_by = %s, purged_at_ms = %s,"
    " version = version + 1 where id = %s and payload is not null"
)
_FORGET_REFUSED = "delete from captures_refused where source_id = %s"
_LOCK_SCOPE = "select id from captures_scope where id = %s for update"


def purge_source(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Purge the source that a person was shown, with all that was refused under its name."""
    # Cards show how the text begins.
    lay_bare(profile_id=call.profile_id, targets=[preview.target_id], but=call.confirmation_id)
    _purge(preview.target_id, by=call.by, now_ms=call.now_ms)
    _tell(call.profile_id)
    facts = preview.facts
    source = {"source_type": facts["source_type"], "source_id": facts["source_id"]}
    return {"scope_id": facts["scope_id"], "source": source, "position": facts["position"], "purged": True}


@transaction.atomic
def purge_of_session(*, owner_id: str, now_ms: int, by: str = "server") -> int:
    """Purge what was captured in a session that a person deletes; `by` is who decided. Returns how many."""
    found: list[Source] = list(sources_of_session(owner_id=owner_id).defer("payload"))
    for scope_id in sorted({row.scope_id for row in found}):
        if connection.vendor == "postgresql":
            rows.execute(_LOCK_SCOPE, [scope_id])
    for profile_id in {row.profile_id for row in found}:
        lay_bare(profile_id=profile_id, targets=[row.pk for row in found], but="")
    count = sum(_purge(row.pk, by=by, now_ms=now_ms) for row in found)
    for profile_id in {row.profile_id for row in found}:
        _tell(profile_id)
    return count


def _purge(source_pk: str, *, by: str, now_ms: int) -> int:
    if connection.vendor == "sqlite":
        # Else the text would stay in the file's free pages.
        rows.execute("pragma secure_delete = on")
    rows.execute(_FORGET_REFUSED, [source_pk])
    return int(rows.execute(_PURGE, [by, now_ms, source_pk]).rowcount)


def _tell(profile_id: str) -> None:
    announce("captures.changed", profile=profile_id)
