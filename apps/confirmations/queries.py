"""Reading confirmations: open cards, changes since a number, outcomes for requesters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.db.models import Min, Q, QuerySet

from apps.accounts.rules import Caller
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import OPEN_STATES, ConfirmationNotFound, Outcome
from apps.core import rows
from apps.ledger.models import LedgerHead
from apps.ledger.queries import outcome_in


def outcome_from(row: Confirmation, *, joined: bool = False) -> Outcome:
    """Return what a row means for its requester."""
    parts = json.loads(row.outcome)
    if row.state == "executed" and not parts:
        # What erases its target leaves the parts to the receipt.
        parts = outcome_in(receipt_id=row.receipt_id)
    return Outcome(
        confirmation_id=row.pk,
        state=row.state,  # type: ignore[arg-type]
        code=row.code,
        message=parts.pop("message", "") if isinstance(parts, dict) and row.state == "failed" else "",
        reason=row.reason,
        parts=parts,
        receipt_id=row.receipt_id,
        deadline_ms=row.deadline_ms,
        device=row.target_device,
        joined=joined,
    )


def confirmation_of(*, by: Caller, confirmation_id: str) -> Confirmation:
    """Return a confirmation that the caller asked for; anybody else's is not there."""
    where = "id = %s and profile_id = %s and requester = %s"
    row = rows.fetch(Confirmation, where, [confirmation_id, by.profile_id, by.ref])
    if row is None:
        raise ConfirmationNotFound
    return row


def confirmations_of(*, by: Caller) -> QuerySet[Confirmation]:
    """Return what the caller asked for, newest first."""
    return Confirmation.objects.filter(profile_id=by.profile_id, requester=by.ref).order_by("-created_at_ms")


def open_cards(*, profile_ids: list[str]) -> QuerySet[Confirmation]:
    """Return what waits for a person of these profiles, in order; requests to a device appear in no browser."""
    return Confirmation.objects.filter(profile_id__in=profile_ids, state__in=OPEN_STATES, target_device="")


def changes_since(*, profile_id: str, change_seq: int) -> QuerySet[Confirmation]:
    """Return the cards of a profile that changed after a number, in order of change."""
    return Confirmation.objects.filter(profile_id=profile_id, change_seq__gt=change_seq, target_device="").order_by(
        "change_seq"
    )


def past_cards(*, profile_ids: Sequence[str], limit: int, before: tuple[int, int] | None = None) -> list[Confirmation]:
    """Return what ended in these profiles, the latest end first; `before` is the end and the number of the last seen.

    The numbers of changes run in each profile by itself: each is read in their order, and the time merges them.
    """
    found: list[Confirmation] = []
    for profile_id in profile_ids:
        rows = Confirmation.objects.filter(profile_id=profile_id, target_device="").exclude(state__in=OPEN_STATES)
        if before is not None:
            at_ms, number = before
            rows = rows.filter(Q(decided_at_ms__lt=at_ms) | Q(decided_at_ms=at_ms, change_seq__lt=number))
        found += rows.order_by("-change_seq")[:limit]
    return sorted(found, key=lambda row: (row.decided_at_ms or 0, row.change_seq), reverse=True)[:limit]


def card_for(*, profile_ids: list[str], confirmation_id: str) -> Confirmation | None:
    """Return a card that people of these profiles may see, open or ended."""
    found = Confirmation.objects.filter(pk=confirmation_id, profile_id__in=profile_ids, target_device="")
    return found.first()


def last_change(*, profile_id: str) -> int:
    """Return the number of a profile's latest change."""
    return LedgerHead.objects.filter(pk=profile_id).values_list("seq", flat=True).first() or 0


def next_deadline_ms() -> int | None:
    """Return when the next open confirmation expires."""
    found: dict[str, Any] = Confirmation.objects.filter(state="pending").aggregate(first=Min("deadline_ms"))
    first: int | None = found["first"]
    return first


def due_ids(*, now_ms: int, limit: int = 500) -> list[str]:
    """Return the ids of open confirmations whose deadline has come, the earliest first."""
    rows = Confirmation.objects.filter(state="pending", deadline_ms__lte=now_ms).order_by(
        "deadline_ms", "created_at_ms"
    )
    return list(rows.values_list("pk", flat=True)[:limit])


def open_count_of_token(*, owner_id: str) -> int:
    """Return how many requests of a token wait for a person."""
    refs = [f"token:{owner_id}", f"device:{owner_id}"]
    return Confirmation.objects.filter(requester__in=refs, state="pending").count()
