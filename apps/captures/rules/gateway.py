"""`gateway-turn-text.v1`: one agent turn as bounded JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.captures.rules.coverage import FIELD_BYTE_LIMIT, GATEWAY_TURN, TRANSCRIPT_BYTE_LIMIT, Coverage, declare
from apps.captures.rules.exchange import Step, read_turn
from apps.core.values import canonical_json

FIELD_BYTES = 8_192
TRANSCRIPT_BYTES = 65_536
KIND = "gateway-turn"
_HEAD = b'{"omitted_steps":%d,"steps":['
_SAFE_CHARACTERS = FIELD_BYTES // 4


@dataclass(frozen=True, kw_only=True)
class GatewayText:
    """The text of one gateway turn and what was lost of it, from one computation.

    `cuts` are the bytes dropped from each cut field, in order; `steps_sha256` covers the steps before any cut.
    """

    text: str
    coverage: Coverage
    kinds: tuple[str, ...]
    steps: int
    omitted: int
    cuts: tuple[int, ...]
    steps_sha256: str


def project_gateway_turn(exchange: Mapping[str, Any]) -> GatewayText | None:
    """Return the last turn of a finished exchange (see `read_turn`), None when there is nothing to capture."""
    turn = read_turn(exchange)
    if turn is None:
        return None
    whole = _encoded(turn.steps)
    cuts: list[int] = []
    steps = [
        step if max(map(len, step.values())) <= _SAFE_CHARACTERS else _bounded_step(step, cuts) for step in turn.steps
    ]
    data = _encoded(steps) if cuts else whole
    first, last = 0, 0
    if len(data) > TRANSCRIPT_BYTES:
        data, first, last = _shortened(data, steps)
    fired = {FIELD_BYTE_LIMIT: bool(cuts), TRANSCRIPT_BYTE_LIMIT: last > first}
    losses = [reason for reason, happened in fired.items() if happened]
    return GatewayText(
        text=data.decode("utf-8", "surrogatepass"),
        coverage=declare(projection=GATEWAY_TURN, losses=losses, unmeasured=turn.unmeasured),
        kinds=tuple(step["kind"] for step in [*steps[:first], *steps[last:]]),
        steps=len(steps),
        omitted=last - first,
        cuts=tuple(cuts),
        steps_sha256=hashlib.sha256(whole).hexdigest(),
    )


def _encoded(steps: Sequence[Step]) -> bytes:
    return canonical_json({"omitted_steps": 0, "steps": steps}).encode("utf-8", "surrogatepass")


def _bounded_step(step: Step, cuts: list[int]) -> Step:
    return {key: _bounded(value, cuts) for key, value in step.items()}


def _bounded(value: str, cuts: list[int]) -> str:
    """Return the value cut to 8,192 bytes at a character, with its mark, and note the cut."""
    data = value.encode("utf-8", "surrogatepass")
    if len(data) <= FIELD_BYTES:
        return value
    end = FIELD_BYTES
    while data[end] & 0xC0 == 0x80:
        end -= 1
    cuts.append(len(data) - end)
    return f"{data[:end].decode('utf-8', 'surrogatepass')}[truncated {len(data) - end} bytes]"


def _shortened(data: bytes, steps: Sequence[Step]) -> tuple[bytes, int, int]:
    """Return the transcript without its oldest steps, and the range of those left out.

    The opening and the terminal step stay, the former only while that is enough.
    """
    head = len(_HEAD % 0)
    # Where the steps begin and end that are kept at the start, and where the rest begins.
    opening = 1 if steps[0]["kind"] == "user" else 0
    kept = head + (_size(steps[0]) + 1 if opening else 0)
    rest, last = kept, opening

    def size(start: int) -> int:
        return len(_HEAD % (last - (opening if start > head else 0))) + start - head + len(data) - rest

    while last < len(steps) - 1 and size(kept) > TRANSCRIPT_BYTES:
        rest += _size(steps[last]) + 1
        last += 1
    if size(kept) > TRANSCRIPT_BYTES:
        opening, kept = 0, head
    return _HEAD % (last - opening) + data[head:kept] + data[rest:], opening, last


def _size(step: Step) -> int:
    return len(canonical_json(step).encode("utf-8", "surrogatepass"))
