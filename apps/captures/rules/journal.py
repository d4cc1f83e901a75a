"""What a capture of a known identity means, and what may be read of a journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from apps.captures.rules.errors import InvalidRequest, SourceConflict, SourcePurged, WindowBroken
from apps.captures.rules.payload import Payload

CREATED, REPLAYED = "created", "replayed"


@dataclass(frozen=True, kw_only=True)
class Held:
    """What a scope holds under an identity; a tombstone has no payload any more."""

    position: int
    payload_sha256: str
    payload: bytes | None

    @property
    def purged(self) -> bool:
        """Tell whether only the tombstone is left."""
        return self.payload is None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a capture ended, and its place in the journal."""

    name: str
    position: int


@dataclass(frozen=True, kw_only=True)
class Tombstone:
    """What stays at the position of a purged source: nothing that was captured."""

    scope_id: str
    source_type: str
    source_id: str
    position: int
    payload_sha256: str
    purged_by: str
    purged_at_ms: int


def outcome_of(payload: Payload, *, held: Held | None, head: int) -> Outcome:
    """Decide under the lock of the scope's head: create at the next position, or replay the original one.

    `head` is the last position taken in the scope, 0 when there is none; only `created` takes another. Raises
    SourceConflict for another payload and SourcePurged for any payload of a purged identity; neither tells anything
    of what is stored.
    """
    if held is None:
        return Outcome(name=CREATED, position=head + 1)
    if held.payload is None:
        raise SourcePurged
    if held.payload_sha256 != payload.sha256 or held.payload != payload.data:
        raise SourceConflict
    return Outcome(name=REPLAYED, position=held.position)


def check_listing(*, after: int, limit: int | None) -> None:
    """Refuse a listing that starts before the journal or asks for nothing."""
    if after < 0:
        raise InvalidRequest("after must be 0 or more.", field="after")
    if limit is not None and limit < 1:
        raise InvalidRequest("limit must be 1 or more.", field="limit")


def check_window(positions: Sequence[int], *, after: int) -> None:
    """Refuse positions that are not the contiguous run right after the cursor; tombstones count."""
    if list(positions) != list(range(after + 1, after + 1 + len(positions))):
        raise WindowBroken
