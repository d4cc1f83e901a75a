"""Mending the removals of the first plugin in a copy that comes in; its file stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from apps.accounts.rules import Caller
from apps.core.values import new_id
from apps.ledger.actions import append
from apps.sessions.rules.ids import id_hash
from apps.sessions.rules.plain_json import Event
from apps.sessions.rules.restoring import check_person
from apps.sessions.rules.tombstones import Tombstone, repaired


@transaction.atomic
def repair_tombstones(
    *, by: Caller, ref: str, header: dict[str, Any], events: Sequence[Event], now_ms: int
) -> tuple[list[Event], list[Tombstone]]:
    """Return the whole log with its tombstones mended and which they were; a person's act, kept in the ledger."""
    check_person(kind=by.kind)
    mended, found = repaired(events, header=header, ids=iter(new_id, ""))
    append(
        profile_id=by.profile_id,
        actor=by.ref,
        action="session.repaired",
        target=id_hash(profile_id=by.profile_id, ref=ref),
        ids={"turns": [one.turn for one in found]},
        now_ms=now_ms,
    )
    return mended, found
