"""The shape of the messages inside events."""

from __future__ import annotations

from typing import Any

from apps.sessions.rules.event_types import ROLES
from apps.sessions.rules.plain_json import Event, is_count, is_text, members
from apps.sessions.rules.refusals import LogRefused

_HOLD_LISTS = frozenset({"agent/inbox/spliced", "session/title-llm-request"})


def check_message(event: Event) -> None:
    """Refuse an event whose message has not the shape that its type asks for."""
    kind, seq = event["type"], event["seq"]
    if kind in ROLES:
        _check_own(event)
    elif kind == "request/header":
        if "system" in members(members(event["data"]).get("header")):
            raise LogRefused("request.retired_system", seq=seq)
    elif kind in _HOLD_LISTS:
        listed = members(event["data"]).get("messages")
        for message in listed if isinstance(listed, list) else ():
            role = message.get("role") if isinstance(message, dict) else None
            _check_shape(message, seq=seq, role=role if role in ROLES.values() else "one of the known")


def _check_own(event: Event) -> None:
    role, data, seq = ROLES[event["type"]], event["data"], event["seq"]
    _check_shape(data if role == "user" else members(data).get("message"), seq=seq, role=role)
    if role == "tool":
        _check_error_flag(data, seq=seq)
    elif role in {"system", "developer"} and not all(is_count(data.get(name)) and data[name] for name in _POSITION):
        raise LogRefused("system.position", seq=seq)


_POSITION = ("turn", "step")


def _check_shape(message: Any, *, seq: int, role: Any) -> None:
    if not isinstance(message, dict):
        raise LogRefused("message.missing", seq=seq)
    if not is_text(message.get("id")):
        raise LogRefused("message.id", seq=seq)
    if message.get("role") != role:
        raise LogRefused("message.role", seq=seq)
    content = message.get("content")
    if not isinstance(content, list):
        raise LogRefused("message.content", seq=seq)
    if not _has_source(message, role=role):
        raise LogRefused("message.source", seq=seq)
    if any(isinstance(block, dict) and block.get("type") == "tool-result" for block in content):
        raise LogRefused("message.retired_block", seq=seq)


def _has_source(message: dict[str, Any], *, role: str) -> bool:
    source = message.get("source")
    if not isinstance(source, dict):
        return False
    kind = source.get("kind")
    if role == "system":
        return bool(kind == "system-prompt")
    if role == "assistant":
        return kind == "model" and is_text(source.get("provider")) and is_text(source.get("model"))
    if role == "tool":
        call = message.get("toolCallId")
        return kind == "tool" and is_text(call) and source.get("callId") == call
    return is_text(kind) and kind != "plugin"


def _check_error_flag(data: dict[str, Any], *, seq: int) -> None:
    flag = data["message"].get("isError", False)
    if not isinstance(flag, bool) or ("error" in data and flag is not True):
        raise LogRefused("message.error_flag", seq=seq)
