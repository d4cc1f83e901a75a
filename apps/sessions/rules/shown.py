"""An event as a page shows it: short, all text made safe, nothing left out without saying so."""

from __future__ import annotations

from typing import Any

from apps.core.text import storable, visible
from apps.sessions.rules.event_types import ROLES, is_replace, message_of
from apps.sessions.rules.plain_json import Event, compact, is_count, is_text, members
from apps.sessions.rules.transcript import safe_text

SHORT = 4_000
"""So many characters of a text are sent with a page of a log; the rest on request."""
WHOLE = 1_000_000
"""So many characters of a text are sent at all; an export holds every one."""
CHECKPOINT = "compact-checkpoint"


def shown_event(
    event: Event, *, turn: int | None, seen: bool, removes: int | None, most: int = SHORT
) -> dict[str, Any]:
    """Return a row: a message, the start or end of a turn, or an entry of the log that is none of them.

    `seen` says that the model sees it, `removes` which turn a person removed by it.
    """
    head = {"seq": event["seq"], "turn": turn, "type": visible(event["type"]), "time_ms": event["time"], "seen": seen}
    data = members(event["data"])
    if event["type"] in ROLES:
        return head | _message(event, removes=removes, most=most)
    if event["type"] == "turn/start":
        return head | {"kind": "turn_start"}
    if event["type"] == "turn/end":
        reason = members(data.get("reason")).get("kind")
        return head | {"kind": "turn_end", "ended": visible(reason) if is_text(reason) else ""}
    if event["type"] == "session/title" and is_text(data.get("title")):
        return head | {"kind": "title", "blocks": [_text("text", data["title"], most=most)]}
    if most > SHORT:
        return head | {"kind": "entry", "blocks": [_text("other", compact(event["data"]), most=most)]}
    return head | {"kind": "entry", "blocks": []}


def too_long(*, seq: int, turn: int | None, kind: str, time_ms: int, seen: bool, length: int) -> dict[str, Any]:
    """Return the row of an event that is too long to be read along with others."""
    head = {"seq": seq, "turn": turn, "type": visible(kind), "time_ms": time_ms, "seen": seen, "length": length}
    return head | {"kind": "long", "blocks": []}


def _message(event: Event, *, removes: int | None, most: int) -> dict[str, Any]:
    message = message_of(event)
    content = message.get("content")
    source = members(message.get("source")).get("kind")
    name, call = message.get("id"), message.get("toolCallId")
    row: dict[str, Any] = {
        "kind": "message",
        "role": _role(event, source=source),
        "source": visible(source) if is_text(source) else "",
        "blocks": [_block(block, most=most) for block in (content if isinstance(content, list) else [])],
    }
    if event["type"] == "assistant/message" and event.get("surfaceOp") == "append" and is_text(name) and storable(name):
        row["message_id"] = name
    if event["type"] == "tool/result":
        row |= {"call": visible(call) if is_text(call) else "", "failed": message.get("isError") is True}
        row["rewritten"] = is_replace(event)
    if removes is not None:
        row["removes"] = removes
    return row


def _role(event: Event, *, source: Any) -> str:
    role = ROLES[event["type"]]
    if role != "user":
        return role
    if source == CHECKPOINT:
        return "summary"
    return "user" if source == "user" else "program"


def _block(block: Any, *, most: int) -> dict[str, Any]:
    parts = members(block)
    kind, text = parts.get("type"), parts.get("text")
    if kind in ("text", "reasoning") and isinstance(text, str):
        return _text(kind, text, most=most)
    if kind == "tool-call":
        name, call = parts.get("name"), parts.get("id")
        told = parts.get("arguments")
        shown = _text("call", told if isinstance(told, str) else compact(told), most=most)
        return shown | {"name": visible(str(name)), "call": visible(call) if is_text(call) else ""}
    if kind in ("image", "file"):
        return _attachment(members(parts.get("attachment")), kind=kind)
    shown = _text("other", compact(block), most=most)
    return shown | {"name": visible(kind) if is_text(kind) else ""}


def _attachment(about: dict[str, Any], *, kind: str) -> dict[str, Any]:
    """Return what is known of an attachment; its content is never shown here."""
    names = {"name": "name", "media_type": "mediaType", "id": "attachmentId"}
    texts = {ours: visible(about[theirs][:200]) for ours, theirs in names.items() if is_text(about.get(theirs))}
    numbers = {name: about[name] for name in ("bytes", "width", "height") if is_count(about.get(name))}
    return {"kind": "attachment", "of": kind, "text": "", **texts, **numbers}


def _text(kind: str, text: str, *, most: int) -> dict[str, Any]:
    shown: dict[str, Any] = {"kind": kind, "text": safe_text(text[:most])}
    return shown if len(text) <= most else shown | {"length": len(text)}
