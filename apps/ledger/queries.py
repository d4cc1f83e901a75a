"""Reading the ledger, receipts and idempotency keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from apps.accounts.rules import Caller
from apps.ledger.models import IdempotencyKey, LedgerEntry, LedgerHead, Receipt
from apps.ledger.rules import Entry, IdempotencyConflict, ReceiptNotFound


def entries_of(*, profile_id: str) -> Iterator[Entry]:
    """Yield a profile's entries in order of their number."""
    names = (
        "profile_id",
        "seq",
        "at_ms",
        "actor",
        "action",
        "target",
        "effect",
        "digest",
        "ids",
        "prev_hash",
        "own_hash",
    )
    rows = LedgerEntry.objects.filter(profile_id=profile_id).order_by("seq").values(*names)
    for row in rows.iterator(chunk_size=2000):
        yield Entry(**row)


def heads() -> list[LedgerHead]:
    """Return the ends of all chains, by profile."""
    return list(LedgerHead.objects.order_by("profile_id"))


def receipt_for(*, by: Caller, receipt_id: str) -> Receipt:
    """Return a receipt that the caller may read: its requester, or a member of the profile in a browser."""
    receipt = Receipt.objects.filter(pk=receipt_id, profile_id=by.profile_id).first()
    if receipt is None or not (by.is_human or receipt.requester == by.ref):
        raise ReceiptNotFound
    return receipt


def outcome_in(*, receipt_id: str) -> dict[str, Any]:
    """Return the parts of the outcome that a receipt carries."""
    body = Receipt.objects.filter(pk=receipt_id).values_list("body", flat=True).first()
    found: dict[str, Any] = json.loads(body)["outcome"] if body else {}
    return found


def remembered(*, by: Caller, key: str, payload_hash: str) -> IdempotencyKey | None:
    """Return what a key stands for; raise `IdempotencyConflict` when it was used for another payload."""
    row = IdempotencyKey.objects.filter(profile_id=by.profile_id, requester=by.ref, key=key).first()
    if row is not None and row.payload_hash != payload_hash:
        raise IdempotencyConflict
    return row
