"""Appending to the ledger, writing receipts and keeping idempotency keys; always inside the effect's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection

from apps.accounts.rules import Caller
from apps.core import rows
from apps.core.errors import InvalidField
from apps.core.values import canonical_texts, new_id
from apps.ledger.models import IdempotencyKey, Receipt
from apps.ledger.rules import GENESIS, hash_of_values

HEADS_KEPT = 1024
_HEAD = "select seq, hash from ledger_ledgerhead where profile_id = %s"
_FIRST_HEAD = "insert into ledger_ledgerhead (profile_id, seq, hash) values (%s, 0, %s) on conflict do nothing"
_MOVE_HEAD = "update ledger_ledgerhead set seq = %s, hash = %s where profile_id = %s and seq = %s and hash = %s"
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
    facts = (profile_id, now_ms, actor, action, target[:200], effect, digest, canonical_texts(ids or {}))
    links = rows.behind(("ledger", profile_id), partial(_Links, profile_id))
    if links is not None:
        return links.add(facts)
    # Remembered heads save a look: the update below counts only if the chain still ends there.
    head = _heads.get(profile_id) or _locked_head(profile_id)
    values = _entry(head, facts)
    if not _moves(profile_id, head, _end(values)):
        # Another process wrote meanwhile, or what was written last was undone.
        head = _locked_head(profile_id)
        values = _entry(head, facts)
        moved = _moves(profile_id, head, _end(values))
        assert moved
    rows.execute(_APPEND, values)
    _keep_head(profile_id, _end(values))
    return head[0] + 1


class _Links:
    """What a group appends to one chain, written with one move of its head."""

    def __init__(self, profile_id: str) -> None:
        self.profile_id = profile_id
        self.first = self.end = _heads.get(profile_id) or _locked_head(profile_id)
        self.entries: list[list[Any]] = []

    def add(self, facts: tuple[Any, ...]) -> int:
        values = _entry(self.end, facts)
        self.entries.append(values)
        rows.added()
        self.end = _end(values)
        return self.end[0]

    def write(self) -> None:
        if not _moves(self.profile_id, self.first, self.end):
            _heads.pop(self.profile_id, None)
            raise rows.Spoiled
        rows.execute_many(_APPEND, self.entries)
        _keep_head(self.profile_id, self.end)


_Head = tuple[int, str]
_heads: dict[str, _Head] = {}


def _locked_head(profile_id: str) -> _Head:
    lock = " for update" if connection.vendor == "postgresql" else ""
    head = rows.execute(_HEAD + lock, [profile_id]).fetchone()
    if head is None:
        rows.execute(_FIRST_HEAD, [profile_id, GENESIS])
        head = rows.execute(_HEAD + lock, [profile_id]).fetchone()
    return head[0], head[1]


def _entry(head: _Head, facts: tuple[Any, ...]) -> list[Any]:
    """Return the columns of the entry that follows a head, its own hash last."""
    profile_id, at_ms, actor, action, target, effect, digest, ids = facts
    covered = [profile_id, head[0] + 1, at_ms, actor, action, target, effect, digest, ids, head[1]]
    return [*covered, hash_of_values(covered, key=settings.SAYSO_KEYS.key("ledger_hmac"))]


def _end(values: list[Any]) -> _Head:
    return values[1], values[-1]


def _moves(profile_id: str, head: _Head, end: _Head) -> bool:
    return bool(rows.execute(_MOVE_HEAD, [*end, profile_id, *head]).rowcount == 1)


def _keep_head(profile_id: str, end: _Head) -> None:
    if len(_heads) >= HEADS_KEPT:
        _heads.clear()
    _heads[profile_id] = end


def write_receipt(*, profile_id: str, confirmation_id: str, requester: str, facts: dict[str, Any], now_ms: int) -> str:
    """Write the receipt of an ended confirmation and return its id."""
    receipt_id = new_id()
    body = canonical_texts({"receipt_id": receipt_id, "confirmation_id": confirmation_id, **facts})
    rows.insert(
        rows.fresh(
            Receipt,
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


def forget_answers(*, profile_id: str, texts: Sequence[str]) -> int:
    """Drop the kept answers of plain writes in which one of these texts occurs; returns how many."""
    find = "strpos" if connection.vendor == "postgresql" else "instr"
    hits = " or ".join([f"{find}(answer, %s) > 0"] * len(texts))
    sql = f"delete from ledger_idempotencykey where profile_id = %s and answer <> '' and ({hits})"  # noqa: S608
    dropped: int = rows.execute(sql, [profile_id, *texts]).rowcount
    return dropped
