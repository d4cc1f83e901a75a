"""Appending to the ledger, writing receipts and keeping idempotency keys; always inside the effect's transaction."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import connection

from apps.accounts.rules import Caller
from apps.core import rows
from apps.core.errors import InvalidField
from apps.core.values import canonical_json, new_id
from apps.ledger.models import IdempotencyKey, Receipt
from apps.ledger.rules import GENESIS, Entry, hash_of

_HEAD = "select seq, hash from ledger_ledgerhead where profile_id = %s"
_FIRST_HEAD = "insert into ledger_ledgerhead (profile_id, seq, hash) values (%s, 0, %s) on conflict do nothing"
_MOVE_HEAD = "update ledger_ledgerhead set seq = %s, hash = %s where profile_id = %s"
_APPEND = (
    "insert into ledger_ledgerentry (profile_id, seq, at_ms, actor, action, target, effect, digest, ids, prev_hash,"
    " own_hash) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)


def append(
    *,
    profile_id: str,
    actor: str,
    action: str,
    target: str,
    now_ms: int,
    effect: str = "",
    digest: str = "",
    ids: dict[str, Any] | None = None,
) -> int:
    """Append one entry and return its number; takes the head's lock, so it comes last in a transaction."""
    lock = " for update" if connection.vendor == "postgresql" else ""
    head = rows.execute(_HEAD + lock, [profile_id]).fetchone()
    if head is None:
        rows.execute(_FIRST_HEAD, [profile_id, GENESIS])
        head = rows.execute(_HEAD + lock, [profile_id]).fetchone()
    entry = Entry(
        profile_id=profile_id,
        seq=head[0] + 1,
        at_ms=now_ms,
        actor=actor,
        action=action,
        target=target[:200],
        effect=effect,
        digest=digest,
        ids=canonical_json(ids or {}),
        prev_hash=head[1],
    )
    own_hash = hash_of(entry, key=settings.SAYSO_KEYS.key("ledger_hmac"))
    values = [
        profile_id,
        entry.seq,
        now_ms,
        actor,
        action,
        entry.target,
        effect,
        digest,
        entry.ids,
        entry.prev_hash,
        own_hash,
    ]
    rows.execute(_APPEND, values)
    rows.execute(_MOVE_HEAD, [entry.seq, own_hash, profile_id])
    return entry.seq


def write_receipt(*, profile_id: str, confirmation_id: str, requester: str, facts: dict[str, Any], now_ms: int) -> str:
    """Write the receipt of an ended confirmation and return its id."""
    receipt_id = new_id()
    body = canonical_json({"receipt_id": receipt_id, "confirmation_id": confirmation_id, **facts})
    rows.insert(
        Receipt(
            id=receipt_id,
            profile_id=profile_id,
            confirmation_id=confirmation_id,
            requester=requester,
            body=body,
            created_at_ms=now_ms,
        )
    )
    return receipt_id


def check_key(key: str) -> str:
    """Return an idempotency key; raise unless it is 1 to 255 visible ASCII characters."""
    if not (1 <= len(key) <= 255 and key.isascii() and key.isprintable()):
        raise InvalidField("Idempotency-Key", "Idempotency-Key must be 1 to 255 visible ASCII characters")
    return key


def remember(
    *, by: Caller, key: str, payload_hash: str, now_ms: int, confirmation_id: str = "", answer: str = ""
) -> None:
    """Keep what a key stands for; the unique constraint lets one of two simultaneous uses win."""
    IdempotencyKey.objects.create(
        profile_id=by.profile_id,
        requester=by.ref,
        key=key,
        payload_hash=payload_hash,
        confirmation_id=confirmation_id,
        answer=answer,
        created_at_ms=now_ms,
    )
