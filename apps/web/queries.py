"""What pages read across rooms."""

from __future__ import annotations

from collections.abc import Iterable

from apps.accounts.queries import Place, deciding_places
from apps.confirmations.queries import open_cards


def waiting_count(*, places: Iterable[Place]) -> int:
    """Return how many cards wait for a person."""
    return open_cards(profile_ids=list(deciding_places(places))).count()
