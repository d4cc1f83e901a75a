"""What an extractor sees of a source, what that costs, and how much fits a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.captures.rules.errors import EvidenceOverBudget, InvalidRequest
from apps.core.values import canonical_json

DEFAULT_BUDGET = 24_000


@dataclass(frozen=True, kw_only=True)
class EvidenceWindow:
    """The items that fit, their token estimate with the instructions, and how often the window was halved."""

    items: tuple[Mapping[str, Any], ...]
    tokens: int
    halvings: int


def weight_of(text: str) -> int:
    """Return quarters of a token: 1 for an ASCII character, 4 for any other."""
    plain = len(text.encode("ascii", "ignore"))
    return plain + 4 * (len(text) - plain)


def estimate_tokens(text: str) -> int:
    """Return ceil((ASCII characters + 4 x other characters) / 4)."""
    return -(-weight_of(text) // 4)


def evidence_item(
    *, source_type: str, source_id: str, position: int, content: str, metadata: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the extractor sees of a source: data with the full metadata, once; never an instruction."""
    return {
        "evidence_id": f"{source_type}:{position}",
        "source_type": source_type,
        "source_id": source_id,
        "position": position,
        "content": content,
        "metadata": metadata,
    }


def evidence_text(items: Sequence[Mapping[str, Any]]) -> str:
    """Return the evidence as the canonical JSON that is counted and sent."""
    return canonical_json(list(items))


def window_within(
    items: Sequence[Mapping[str, Any]], *, instructions: str = "", budget: int = DEFAULT_BUDGET
) -> EvidenceWindow:
    """Return the longest of the window, its half, its quarter … whose estimate is within the budget.

    Nothing is trimmed and no declaration dropped. Raises EvidenceOverBudget when a single source does not fit; the
    caller leaves its cursor where it is.
    """
    if budget < 1:
        raise InvalidRequest("budget must be 1 or more.", field="budget")
    weights = [weight_of(canonical_json(item)) for item in items]
    fixed = weight_of(instructions) + 1
    count, halvings = len(items), 0
    while (tokens := _tokens(fixed, weights[:count])) > budget:
        if count <= 1:
            raise EvidenceOverBudget(tokens=tokens, budget=budget)
        count, halvings = max(1, count // 2), halvings + 1
    return EvidenceWindow(items=tuple(items[:count]), tokens=tokens, halvings=halvings)


def _tokens(fixed: int, weights: Sequence[int]) -> int:
    """Count the brackets and commas of the list too."""
    return -(-(fixed + 2 + sum(weights) + max(0, len(weights) - 1)) // 4)
