"""The registry of what hangs on an owner, so that its end counts and removes it without upward imports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependent:
    """One kind of rows that go with an owner: how many, what of them the digest covers, why not, and how they go."""

    owner: str
    """`session`, `profile` or `token`."""
    name: str
    count: Callable[..., int]
    digest_part: Callable[..., Any]
    refusal: Callable[..., str]
    remove: Callable[..., int]


_dependents: list[Dependent] = []


def register(dependent: Dependent) -> None:
    """Add a kind of dependent rows."""
    if all((known.owner, known.name) != (dependent.owner, dependent.name) for known in _dependents):
        _dependents.append(dependent)


def dependents_of(owner: str) -> tuple[Dependent, ...]:
    """Return the kinds that hang on an owner, by name."""
    return tuple(sorted((d for d in _dependents if d.owner == owner), key=lambda d: d.name))
