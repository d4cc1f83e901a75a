"""A journal as people look through it: the newest first, and how much of it is covered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from apps.captures.models import Refused, Scope, Source
from apps.captures.rules import interpret

COUNTED = 10_000
"""How many of the newest positions are counted: coverage has no column, each declaration is read."""

PURGED = "purged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many sources of a scope stand under each status, and purged ones; `positions` is how many were looked at."""

    by_status: dict[str, int]
    positions: int


def coverage_counts(*, scope: Scope) -> Counts:
    """Return the counts of the newest positions; what was purged has no coverage any more."""
    first = max(0, scope.head - COUNTED)
    seen = Source.objects.filter(scope=scope, position__gt=first, position__lte=scope.head)
    told = seen.values_list("metadata", "purged_at_ms").iterator()
    found = Counter(PURGED if purged_at else interpret(json.loads(metadata)).status for metadata, purged_at in told)
    return Counts(by_status=dict(found), positions=scope.head - first)


def newest_sources(*, scope: Scope, before: int | None, limit: int) -> list[Source]:
    """Return sources and tombstones below a position, or from the end of the journal, the newest first."""
    found = Source.objects.filter(scope=scope).order_by("-position")
    if before is not None:
        found = found.filter(position__lt=before)
    return list(found[:limit])


def refused_counts(*, sources: Sequence[Source]) -> dict[str, int]:
    """Return how many payloads were refused under the identity of each source, by its primary key."""
    found = Refused.objects.filter(source__in=[row.pk for row in sources]).order_by()
    return dict(found.values_list("source").annotate(Count("id")))
