"""The deliveries of a task: what is kept, and the pages in which it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.schedules.rules.errors import DeliveryCursorNotFound, InvalidRule
from apps.schedules.rules.values import DAY_MS, safe_integer

LARGEST_PAGE = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """How long and how many delivery records are shown; the newest is always."""

    days: int = 30
    records: int = 200

    def __post_init__(self) -> None:
        if not 1 <= self.days <= 3650 or not 1 <= self.records <= 10_000:
            raise ValueError("Deliveries are kept for 1 to 3650 days and 1 to 10000 records")


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """Proof that an occurrence reached the inbox of its session."""

    scheduled_ms: int
    delivered_ms: int
    message_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """A receipt with the prompt as it was sent, if that is known."""

    receipt: Receipt
    prompt: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """Deliveries in the order in which they were made."""

    deliveries: tuple[Delivery, ...] = ()
    earlier_unavailable: bool = False
    earlier_pruned: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """Some deliveries, newest first; `next_before` is the message after which to go on."""

    deliveries: tuple[Delivery, ...]
    earlier_unavailable: bool
    earlier_pruned: bool
    next_before: str | None


def history_of(history: History | None, *, last_delivery: Receipt | None) -> History:
    """Return the history of a task; one that never had any knows its last delivery at most."""
    if history is not None:
        return history
    known = () if last_delivery is None else (Delivery(receipt=last_delivery, prompt=None),)
    return History(deliveries=known, earlier_unavailable=True)


def appended(history: History, *, delivery: Delivery, retention: Retention) -> History:
    """Return the history with a new delivery, without what the retention hides."""
    oldest_ms = delivery.receipt.delivered_ms - retention.days * DAY_MS
    recent = [one for one in history.deliveries if one.receipt.delivered_ms >= oldest_ms]
    kept = (*recent, delivery)[-retention.records :]
    dropped = len(kept) <= len(history.deliveries)
    return History(
        deliveries=kept,
        earlier_unavailable=history.earlier_unavailable or dropped,
        earlier_pruned=history.earlier_pruned or dropped,
    )


def read_limit(value: object) -> int:
    """Return the size of a page, 1 to 100; raises InvalidRule."""
    limit = safe_integer(value)
    if limit is None or not 1 <= limit <= LARGEST_PAGE:
        raise InvalidRule(f"limit must be a whole number from 1 to {LARGEST_PAGE}", field="limit")
    return limit


def page(history: History, *, request: Mapping[str, object]) -> Page:
    """Return the page that `limit` and `before` ask for; raises InvalidRule or DeliveryCursorNotFound."""
    limit = read_limit(request.get("limit"))
    end = len(history.deliveries)
    if "before" in request:
        ids = [one.receipt.message_id for one in history.deliveries]
        before = request["before"]
        if before not in ids:
            raise DeliveryCursorNotFound
        end = ids.index(str(before))
    start = max(0, end - limit)
    return Page(
        deliveries=history.deliveries[start:end][::-1],
        earlier_unavailable=history.earlier_unavailable,
        earlier_pruned=history.earlier_pruned,
        next_before=history.deliveries[start].receipt.message_id if start else None,
    )
