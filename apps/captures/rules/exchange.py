"""Reads one gateway exchange, chat or responses, into the steps of its last turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.core.values import canonical_json

Step = dict[str, str]

CHAT, RESPONSES = "chat", "responses"
_FINISHED = frozenset({"stop", "length", "content_filter"})
_ENDED = frozenset({"completed", "incomplete"})
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})


@dataclass(frozen=True, kw_only=True)
class Turn:
    """The steps of a turn, whole; `unmeasured` when the adapter could not see all of it."""

    steps: Sequence[Step]
    unmeasured: bool


@dataclass(kw_only=True)
class _Steps:
    """Collects steps, members in the order of their JSON, and the names of calls for the results that follow."""

    steps: list[Step] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def say(self, *, kind: str, text: str) -> None:
        if not text.isspace():
            self.steps.append({"kind": kind, "text": text})

    def call(self, *, call_id: object, name: object, arguments: object) -> None:
        known = name if isinstance(name, str) else ""
        if isinstance(call_id, str) and known:
            self.names[call_id] = known
        text = arguments if isinstance(arguments, str) else _as_sent(arguments)
        self.steps.append({"arguments": text, "kind": "tool_call", "name": known})

    def result(self, *, call_id: object, output: object) -> None:
        text = output if isinstance(output, str) else _output(output)
        known = self.names.get(call_id) if isinstance(call_id, str) else None
        if known is None:
            self.steps.append({"kind": "tool_result", "output": text})
        else:
            self.steps.append({"kind": "tool_result", "name": known, "output": text})


def read_turn(exchange: Mapping[str, Any]) -> Turn | None:
    """Return the last turn of a finished exchange, None when there is nothing to capture.

    `exchange` has `protocol`; for chat `messages` and `finish_reason`; for responses `input`, `output`, `status` and
    `previous_response_id`. `gap` is true when the adapter missed part of the stream; parts, messages and items with
    `injected` true are not the user's and are left out.
    """
    if exchange.get("protocol") == CHAT:
        return _read_chat(exchange)
    if exchange.get("protocol") == RESPONSES:
        return _read_responses(exchange)
    return None


def _read_chat(exchange: Mapping[str, Any]) -> Turn | None:
    messages = _objects(exchange.get("messages"))
    last = messages[-1] if messages else {}
    if last.get("role") != "assistant" or last.get("tool_calls"):
        return None
    if not _one_of(exchange.get("finish_reason"), _FINISHED) or not _said(last).strip():
        return None
    return _turn(messages, answer=(), unmeasured=exchange.get("gap") is True)


def _read_responses(exchange: Mapping[str, Any]) -> Turn | None:
    given = exchange.get("input")
    output = [item for item in _objects(exchange.get("output")) if item.get("role", "assistant") == "assistant"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else _objects(given)
    if not _one_of(exchange.get("status"), _ENDED) or any(_one_of(item.get("type"), _CALLS) for item in output):
        return None
    said = [_said(item) for item in output if _is_message(item)]
    if not said or not said[-1].strip():
        return None
    began_earlier = bool(exchange.get("previous_response_id")) and _start(items) is None
    return _turn(items, answer=output, unmeasured=began_earlier or exchange.get("gap") is True)


def _turn(items: list[dict[str, Any]], *, answer: Iterable[dict[str, Any]], unmeasured: bool) -> Turn | None:
    start = _start(items)
    if start is None and not unmeasured:
        return None
    found = _Steps()
    for index, item in enumerate(items):
        if index == start:
            found.steps.clear()
        _read(item, found)
    for item in answer:
        _read({"role": "assistant", **item}, found)
    return Turn(steps=found.steps, unmeasured=unmeasured)


def _start(items: Sequence[dict[str, Any]]) -> int | None:
    """Return where the last user message is; one made of injected parts alone counts only when there is no other."""
    last = None
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        if item.get("role") == "user" and _is_message(item):
            if not _only_injected(item.get("content")):
                return index
            last = index if last is None else last
    return last


def _read(item: dict[str, Any], found: _Steps) -> None:
    kind = item.get("type")
    if kind is None or kind == "message":
        role = item.get("role")
        if role == "tool":
            found.result(call_id=item.get("tool_call_id"), output=item.get("content"))
        elif role == "assistant" or role == "user":
            if text := _said(item):
                found.say(kind=str(role), text=text)
            if calls := item.get("tool_calls"):
                for call in _objects(calls):
                    _read_call(call, found)
    elif _one_of(kind, _CALLS):
        found.call(call_id=item.get("call_id"), name=item.get("name"), arguments=item.get(_CALLS[str(kind)]))
    elif _one_of(kind, _RESULTS):
        found.result(call_id=item.get("call_id"), output=item.get("output"))


def _read_call(call: dict[str, Any], found: _Steps) -> None:
    custom, function = call.get("custom"), call.get("function")
    if isinstance(custom, dict):
        found.call(call_id=call.get("id"), name=custom.get("name"), arguments=custom.get("input"))
    else:
        of = function if isinstance(function, dict) else {}
        found.call(call_id=call.get("id"), name=of.get("name"), arguments=of.get("arguments"))


def _objects(items: object) -> list[dict[str, Any]]:
    """Return the objects of a list but those that were injected as a whole."""
    listed = items if isinstance(items, list) else []
    return [item for item in listed if isinstance(item, dict) and item.get("injected") is not True]


def _one_of(value: object, known: Iterable[str]) -> bool:
    return isinstance(value, str) and value in known


def _is_message(item: dict[str, Any]) -> bool:
    return item.get("type") in (None, "message")


def _only_injected(content: object) -> bool:
    parts = content if isinstance(content, list) else []
    return bool(parts) and all(isinstance(part, dict) and part.get("injected") is True for part in parts)


def _said(item: dict[str, Any]) -> str:
    content = item.get("content")
    text = visible_text(content) if content else ""
    refusal = "" if text else item.get("refusal")
    return refusal if refusal and isinstance(refusal, str) else text


def visible_text(content: object) -> str:
    """Return a string as it is, or the visible text parts of a list joined with one newline."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(text for part in parts if (text := _part_text(part)) is not None)


def _part_text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("injected") is True:
        return None
    kind = part.get("type", "text")
    text = part.get("refusal") if kind == "refusal" else part.get("text") if _one_of(kind, _TEXT_PARTS) else None
    return text if isinstance(text, str) else None


def _as_sent(value: object) -> str:
    """Return text as it is and anything else as canonical JSON; nothing sent is no text."""
    if value is None or isinstance(value, str):
        return value or ""
    return canonical_json(value)


def _output(value: object) -> str:
    """Return what a tool answered: its text parts when it is a list of parts, else as it was sent."""
    if isinstance(value, list) and all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in value):
        return visible_text(value)
    return _as_sent(value)
