"""What pages read across rooms."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q

from apps.accounts.models import Workspace
from apps.accounts.queries import Place, deciding_places
from apps.accounts.rules import Caller
from apps.confirmations.queries import open_cards


def waiting_count(*, places: Iterable[Place]) -> int:
    """Return how many cards wait for a person."""
    return open_cards(profile_ids=list(deciding_places(places))).count()


def visible_workspaces(*, by: Caller) -> list[str]:
    """Return the slugs of the workspaces that a person may look into, the eldest first."""
    found = Workspace.objects.filter(Q(restricted=False) | Q(members=by.user_id), profile_id=by.profile_id)
    return list(found.order_by("created_at_ms", "slug").values_list("slug", flat=True).distinct())
