"""The event types of format 4 and what kind of event each is."""

from __future__ import annotations

from typing import Any

ROLES = {
    "user/message": "user",
    "assistant/message": "assistant",
    "system/message": "system",
    "developer/message": "developer",
    "tool/result": "tool",
}
"""The types that stand on the surface, with the role of their message."""

STEP_BOUND = frozenset({"system/message", "developer/message", "assistant/attempt", "assistant/message", "tool/call"})
"""What lies only inside its own open step; an appended `tool/result` too."""

_INTERPRETED = frozenset(
    {
        "turn/start",
        "turn/end",
        "step/start",
        "step/end",
        "tool/call",
        "assistant/attempt",
        "request/header",
        "request/context",
        "compaction/start",
        "compaction/summary",
        "compaction/end",
        "compaction/prune",
        "session/end-seed",
        "session/title",
        "schedule/change",
        "command/run",
        "command/done",
        "subagent/catalog",
    }
)
_OPAQUE = frozenset(
    {
        "todo/write",
        "goal/change",
        "plan/mode",
        "agent/inbox/spliced",
        "sandbox/mode",
        "permission/preset",
        "image/offload",
        "model/selection",
        "workspace/changes",
        "deliverables/presented",
        "subagent/descriptor",
        "subagent/model-selection-policy",
        "agent-preset/selected",
        "session/title-llm-request",
        "session-log-deepseek/delivery-accepted",
        "web/deepseek-search-llm-request",
    }
)
_KNOWN = _INTERPRETED | _OPAQUE | ROLES.keys()
_FAMILIES = ("approval/", "hook/", "llm/retry", "team/", "tool-workflow/", "tool/ptc-dispatch", "feedback/")


def is_known(kind: str) -> bool:
    """Tell whether a type belongs to the format; an unknown one must be ignorable."""
    return kind in _KNOWN or kind.startswith(_FAMILIES)


def is_append(event: dict[str, Any]) -> bool:
    """Tell whether an event was put at the end of the surface."""
    return event.get("surfaceOp") == "append" and event.get("type") in ROLES


def is_replace(event: dict[str, Any]) -> bool:
    """Tell whether an event took the place of others on the surface."""
    return isinstance(event.get("surfaceOp"), dict) and event.get("type") in ROLES


def message_of(event: dict[str, Any]) -> dict[str, Any]:
    """Return the message of a surface event; a user's is the data itself."""
    data = event.get("data")
    message = data if event.get("type") == "user/message" else data.get("message") if isinstance(data, dict) else None
    return message if isinstance(message, dict) else {}
