"""How many tokens leave the surface, roughly; a wrong price only skews the display of usage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apps.sessions.rules.event_types import message_of
from apps.sessions.rules.plain_json import Event, is_count, json_length, utf16_length

CHARACTERS_PER_TOKEN = 4
BLOCK_TOKENS = 4
MESSAGE_TOKENS = 4


def rough_tokens(datas: Iterable[Any]) -> int:
    """Return the price by length: the compact JSON of each node's data in UTF-16 units, four to a token, rounded up."""
    return _tokens(sum(json_length(data) for data in datas))


def shadowed_price(events: Iterable[Event], *, estimate: object = None) -> int:
    """Return a meter's estimate for exactly these nodes if it is a count, otherwise the price by length."""
    return estimate if is_count(estimate) else rough_tokens(event["data"] for event in events)


def meter_price(event: Event) -> int:
    """Return what the host's own meter counts for the message of one node."""
    content = message_of(event).get("content")
    blocks = content if isinstance(content, list) else []
    return MESSAGE_TOKENS + sum(_block_price(block) for block in blocks if isinstance(block, dict))


def _block_price(block: dict[str, Any]) -> int:
    def of(name: str) -> int:
        text = block.get(name)
        return _tokens(utf16_length(text)) if isinstance(text, str) else 0

    if block.get("type") in {"text", "reasoning"}:
        return of("text") + BLOCK_TOKENS
    if block.get("type") == "tool-call":
        return of("name") + of("arguments") + BLOCK_TOKENS
    return 0


def _tokens(length: int) -> int:
    return -(-length // CHARACTERS_PER_TOKEN)
