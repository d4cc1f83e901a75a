"""The chain: what an entry's hash covers, and how a chain is checked."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.core.errors import Conflict, NotFound
from apps.core.values import canonical_texts

GENESIS = "0" * 64


class ReceiptNotFound(NotFound):
    """There is no such receipt."""


class IdempotencyConflict(Conflict):
    """This idempotency key was used for another request."""

    code = "idempotency_conflict"
    status = 422


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of a profile's ledger; `ids` is canonical JSON."""

    profile_id: str
    seq: int
    at_ms: int
    actor: str
    action: str
    target: str
    effect: str
    digest: str
    ids: str
    prev_hash: str
    own_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The first row at which a chain does not hold."""

    profile_id: str
    seq: int
    kind: str
    """`edited`, `missing`, `reordered` or `cut`."""


def hash_of(entry: Entry, *, key: bytes) -> str:
    """Return the HMAC-SHA-256 over everything in the entry but its own hash."""
    covered = [
        entry.profile_id,
        entry.seq,
        entry.at_ms,
        entry.actor,
        entry.action,
        entry.target,
        entry.effect,
        entry.digest,
        entry.ids,
        entry.prev_hash,
    ]
    return hash_of_values(covered, key=key)


def hash_of_values(covered: Sequence[Any], *, key: bytes) -> str:
    """Return the HMAC-SHA-256 over an entry's values in order, all but its own hash."""
    return hmac.digest(key, canonical_texts(list(covered)).encode(), "sha256").hex()


def first_fault(
    entries: Iterable[Entry], *, key: bytes, profile_id: str, head_seq: int, head_hash: str, older: Sequence[bytes] = ()
) -> Fault | None:
    """Return the first fault of one profile's entries in order of seq, or None; `head_…` name the expected end.

    `older` are the keys before the present one, the oldest first: what was written before a rotation fits one of them,
    and after an entry that fits a newer key none fits an older one any more.
    """
    seq, previous = 0, GENESIS
    keys = [*older, key]
    for entry in entries:
        seq += 1
        if entry.seq != seq:
            return Fault(profile_id=profile_id, seq=seq, kind="missing" if entry.seq > seq else "reordered")
        if entry.prev_hash != previous:
            return Fault(profile_id=profile_id, seq=seq, kind="reordered")
        while keys and not hmac.compare_digest(hash_of(entry, key=keys[0]), entry.own_hash):
            del keys[0]
        if not keys:
            return Fault(profile_id=profile_id, seq=seq, kind="edited")
        previous = entry.own_hash
    if seq < head_seq:
        return Fault(profile_id=profile_id, seq=seq + 1, kind="cut")
    if head_seq == seq and head_hash != previous:
        return Fault(profile_id=profile_id, seq=seq, kind="edited")
    return None


def signed_head(*, profile_id: str, seq: int, own_hash: str, at_ms: int, key: bytes) -> dict[str, Any]:
    """Return the end of a chain with an HMAC-SHA256 over it."""
    head = {"profile": profile_id, "seq": seq, "hash": own_hash, "at_ms": at_ms}
    return {**head, "signature": _head_mac(head, key)}


def head_fits(head: dict[str, Any], *, key: bytes) -> bool:
    """Tell whether an exported head carries our signature."""
    unsigned = {name: head.get(name) for name in ("profile", "seq", "hash", "at_ms")}
    return hmac.compare_digest(_head_mac(unsigned, key), str(head.get("signature", "")))


def _head_mac(head: dict[str, Any], key: bytes) -> str:
    return hmac.digest(key, b"head:" + canonical_texts(head).encode(), "sha256").hex()
