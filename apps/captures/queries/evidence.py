"""What an extractor is given of a journal: whole sources within a budget."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from apps.captures.queries.sources import journal_page
from apps.captures.rules import DEFAULT_BUDGET, check_window, evidence_item, window_within

WINDOW = 32
"""How many sources a window begins with before it is halved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A window that fits; `next_after` is where the cursor goes once its items were dealt with."""

    items: tuple[Any, ...]
    tokens: int
    halvings: int
    next_after: int


def evidence_window(
    *, profile_id: str, scope_id: str, after: int = 0, budget: int = DEFAULT_BUDGET, limit: int = WINDOW
) -> Evidence:
    """Return the window right after the cursor; tombstones count as positions and are no evidence.

    Raises EvidenceOverBudget when a single source does not fit; the caller leaves its cursor where it is.
    """
    found = journal_page(profile_id=profile_id, scope_id=scope_id, after=after, limit=min(limit, WINDOW)).sources
    check_window([row.position for row in found], after=after)
    items = []
    for row in found:
        if row.payload is None:
            continue
        payload = json.loads(bytes(row.payload))
        items.append(
            evidence_item(
                source_type=row.source_type,
                source_id=row.source_id,
                position=row.position,
                content=payload["content"],
                metadata=payload["metadata"],
            )
        )
    window = window_within(items, budget=budget)
    kept = len(window.items)
    last = found[-1].position if found else after
    # Tombstones before the first item that did not fit are behind the cursor too.
    next_after = last if kept == len(items) else items[kept]["position"] - 1
    return Evidence(items=window.items, tokens=window.tokens, halvings=window.halvings, next_after=next_after)
