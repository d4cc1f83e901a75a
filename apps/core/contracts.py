"""The registry of contracts: every call that may wait for a person.

Rooms fill it in `AppConfig.ready`; the gate looks names up and never imports a room above it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.core.errors import SaysoError


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a call would do, read from real rows.

    `facts` are what the card shows, free of language (the words come from `Contract.words`); `state` is everything the
    preview rests on and goes into the digest; `effect` is the resulting removal, the same whatever the door.
    """

    target_kind: str
    target_id: str
    facts: Mapping[str, Any]
    state: Any
    effect: Any
    source: Any = None
    """What it was read from, for the contract's own next steps in the same transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Something milder that a card offers beside its two answers: a link, or a change that ends the card with a no."""

    label: str
    href: str
    instead: bool = False
    """The dialog sends a POST there, and a no with the label as its reason once that is done; else it is a link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A card in the viewer's language; plain text throughout."""

    question: str
    consequence: str
    confirm: str
    keep: str
    undo: str = ""
    tick: str = ""
    """What stands beside the box; empty: that one has read this and agrees."""
    lines: tuple[tuple[str, str], ...] = ()
    """Label and value, in order."""
    offers: tuple[Offer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One contract call, as the gate hands it to preview and action."""

    profile_id: str
    arguments: Mapping[str, Any]
    now_ms: int
    by: str
    """Who acts, as the ledger writes it: `user:ID`, `token:ID`, `device:ID`."""
    confirmation_id: str = ""
    seen: Any = None
    """What whoever asks has just read of the target in this transaction; the preview need not read it again."""
    waited: Any = None
    """What the contract's `wait_out` returned, where it was called before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """A named call that waits for a person.

    `preview(call=…, lock=False)` raises the contract's own error for a target that is missing, differs or may not be
    touched; with `lock=True` it locks the target rows. `act(call=…, preview=…)` does it and returns the outcome parts
    that the answer and the receipt carry. `external` names effects outside the database (two-phase).
    """

    name: str
    scope: str
    preview: Callable[..., Preview]
    act: Callable[..., Mapping[str, Any]]
    words: Callable[[Mapping[str, Any], Any], Words]
    """`words(facts, zone)` under the viewer's active language; `zone` is a ZoneInfo."""
    example: Mapping[str, Any]
    digest: Callable[[Preview], Any] = field(default=lambda preview: preview.state)
    """What of the preview the digest covers."""
    policy: str = ""
    """The profile's policy that this contract follows; its version is part of the digest."""
    louder: bool = False
    external: bool = False
    """The effect happens outside the database: the claim commits first, then `call_out(call=…, preview=…)` runs."""
    call_out: Callable[..., Mapping[str, Any]] | None = None
    must_wait: Callable[..., bool] | None = None
    """`must_wait(call=…, preview=…)`: whether something has to come to rest before `act`; asked at the tick."""
    wait_out: Callable[..., Any] | None = None
    """What then runs after the claim's commit, outside any transaction; `act` and the outcome share the next one."""
    keeps: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """What the receipt keeps of the facts, for ever; None: all of them."""
    erases: bool = False
    """Once done, the confirmation itself keeps no more of the target than the receipt does."""
    recheck: Callable[..., None] | None = None
    """`recheck(call=…, preview=…)`: rules outside the digest that must hold at the tick; raises the error."""


class UnknownContract(SaysoError):
    """There is no such contract."""

    code = "unknown_contract"
    status = 404


_contracts: dict[str, Contract] = {}


def register(*contracts: Contract) -> None:
    """Put contracts into the registry; a name is taken once."""
    for contract in contracts:
        if _contracts.get(contract.name, contract) is not contract:
            raise ValueError(f"two contracts are named {contract.name}")
        _contracts[contract.name] = contract


def contract_named(name: str) -> Contract:
    """Return the contract of that name."""
    try:
        return _contracts[name]
    except KeyError:
        raise UnknownContract from None


def all_contracts() -> tuple[Contract, ...]:
    """Return all contracts by name."""
    return tuple(_contracts[name] for name in sorted(_contracts))
