"""What a log holds: its removals, what of each turn the model sees against what is stored, and what was hidden only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from apps.sessions.rules.event_types import is_append, message_of
from apps.sessions.rules.plain_json import Event, compact, is_count, members
from apps.sessions.rules.price import meter_price
from apps.sessions.rules.recognition import Removal, removals
from apps.sessions.rules.tolerant import Tolerant

PREVIEW = 200
"""So many characters of a hidden text are shown."""


def inspection(log: Tolerant) -> dict[str, Any]:
    """Return the whole report as JSON."""
    nodes = set(log.ground.nodes())
    found = removals(log.events, ground=log.ground)
    refused = log.refused
    return {
        "load": {"ok": True}
        if refused is None
        else {"ok": False, "code": refused.reason, "seq": refused.seq, "sentence": refused.message},
        "events": len(log.events),
        "unreadable_events": log.dropped,
        "surface": log.ground.nodes(),
        "open_turn": _last(log, "turn/start", ends={"turn/end"}),
        "open_compaction": _last(log, "compaction/start", ends={"compaction/end", "session/end-seed"}),
        "removals": [_removal(one, log=log) for one in found],
        "turns": list(_turns(log, nodes=nodes, removed={one.turn for one in found})),
        "hidden": list(_hidden(log, nodes=nodes, removals_at={one.seq: one.turn for one in found})),
        "left_behind": {str(one.turn): left for one in found if (left := left_behind(log, turn=one.turn))},
    }


def _last(log: Tolerant, kind: str, *, ends: set[str]) -> bool:
    for event in reversed(log.events):
        if event["type"] == kind or event["type"] in ends:
            return bool(event["type"] == kind)
    return False


def _removal(one: Removal, *, log: Tolerant) -> dict[str, Any]:
    told = members(log.events[one.seq - 1]["data"]) if one.compaction_id else {}
    return {
        "turn": one.turn,
        "seq": one.seq,
        "compaction_id": one.compaction_id,
        "legacy": not one.compaction_id,
        "producer": told.get("provider", ""),
        "shadowed": list(one.shadowed),
        "price": told.get("shadowedTokenCount"),
        "in_force": one.seq in set(log.ground.nodes()) or one.seq in log.gone,
    }


def _turns(log: Tolerant, *, nodes: set[int], removed: set[int]) -> Iterator[dict[str, Any]]:
    """Give, for each turn and for what lies between turns (`null`), what is stored and what of it the model sees."""
    stored: dict[int | None, list[Event]] = {}
    for event, turn in zip(log.events, log.turns, strict=True):
        if event["type"] == "turn/start" and turn is not None:
            stored.setdefault(turn, [])
        if is_append(event):
            stored.setdefault(turn, []).append(event)
    for turn, events in stored.items():
        visible = [event for event in events if event["seq"] in nodes]
        yield {
            "turn": turn,
            "removed": turn in removed,
            "stored": _amount(events),
            "visible": _amount(visible),
        }


def _amount(events: list[Event]) -> dict[str, int]:
    return {
        "messages": len(events),
        "characters": sum(len(compact(event["data"])) for event in events),
        "tokens": sum(meter_price(event) for event in events),
    }


def _hidden(log: Tolerant, *, nodes: set[int], removals_at: dict[int, int]) -> Iterator[dict[str, Any]]:
    """Give each message that left the surface and is stored all the same, with what took its place."""
    for event, turn in zip(log.events, log.turns, strict=True):
        seq = event["seq"]
        if seq in nodes or seq not in log.gone:
            continue
        by = log.events[log.gone[seq]]
        kind = "removal" if by["seq"] in removals_at else "rewrite" if by["type"] == "tool/result" else "compaction"
        text = text_of(event)
        yield {
            "seq": seq,
            "turn": turn,
            "type": event["type"],
            "by": kind,
            "by_seq": by["seq"],
            "characters": len(text),
            "text": text[:PREVIEW],
        }


def text_of(event: Event) -> str:
    """Return the words of a message; of what is no text, its JSON."""
    content = message_of(event).get("content")
    blocks = content if isinstance(content, list) else []
    texts = (members(block).get("text") for block in blocks)
    return "\n".join(
        text if isinstance(text, str) else compact(block) for text, block in zip(texts, blocks, strict=True)
    )


def left_behind(log: Tolerant, *, turn: int) -> dict[str, int]:
    """Count what a removed turn leaves in force: reminders, titles, subagents, plans that it made."""
    names = {
        "schedule/change": "reminders",
        "subagent/catalog": "subagents",
        "todo/write": "todos",
        "plan/mode": "plans",
    }
    own = {event["seq"] for event, at in zip(log.events, log.turns, strict=True) if at == turn}
    count: Counter[str] = Counter()
    for event in log.events:
        data = members(event["data"])
        inside = event["seq"] in own
        if event["type"] == "schedule/change":
            count["reminders"] += inside and data.get("operation") == "create"
        elif event["type"] in names:
            count[names[event["type"]]] += inside
        elif event["type"] == "session/title":
            cited = data.get("messageSeqs")
            count["titles"] += (
                any(is_count(seq) and seq in own for seq in cited if isinstance(cited, list)) if cited else 0
            )
    return {name: number for name, number in count.items() if number}
