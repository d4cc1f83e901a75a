"""What pages read across rooms."""

from __future__ import annotations

from collections.abc import Iterable

from apps.accounts.queries import Place
from apps.confirmations.queries import open_cards


def deciding_places(*, places: Iterable[Place]) -> dict[str, Place]:
    """Return the places, by the profile's id, whose cards a person sees."""
    return {place.profile_id: place for place in places if place.role in ("owner", "decider")}


def waiting_count(*, places: Iterable[Place]) -> int:
    """Return how many cards wait for a person."""
    return open_cards(profile_ids=list(deciding_places(places=places))).count()
