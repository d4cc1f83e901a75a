"""A log as Markdown for people: each text in a fence of its own, so that none passes for a heading, link or markup."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from apps.core.text import visible
from apps.sessions.rules.event_types import is_append, is_replace, message_of
from apps.sessions.rules.plain_json import Event, compact, is_count, members

_WORD = re.compile(r"[^ \t\n]+")
_TICKS = re.compile(r"`+")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """The words of the document in its reader's language; `{}` takes what differs."""

    session: str = "Session"
    whole: str = "The conversation as it was"
    seen: str = "What the model sees"
    workspace: str = "Workspace"
    turn: str = "Turn {}"
    between: str = "Between turns"
    removed: str = "Turn {} was removed from the model's view. Its text is still stored in the log."
    left_out: str = "Its text is left out here."
    user: str = "Person"
    assistant: str = "Assistant"
    system: str = "System"
    developer: str = "Developer"
    tool: str = "Tool result"
    summary: str = "In the place of earlier messages"
    reasoning: str = "Reasoning"
    call: str = "Tool call"
    attachment: str = "Attachment"
    other: str = "Other content"
    empty: str = "Nothing."
    ended: str = "This turn ended otherwise"


def safe_text(text: str) -> str:
    """Return a text whose invisible and direction-changing characters are tokens; spaces, tabs and lines stay."""
    return _WORD.sub(lambda word: visible(word.group()), text.replace("\r\n", "\n"))


def fenced(text: str) -> str:
    """Return a text as a block that nothing in it can end."""
    shown = safe_text(text)
    longest = max((len(run.group()) for run in _TICKS.finditer(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}\n"


def inline(text: str) -> str:
    """Return a text for a heading or a line: one line, every punctuation mark escaped."""
    return _PUNCTUATION.sub(r"\\\1", visible(text))


def head(*, name: str, title: str, workspace: str, view: str, words: Words) -> str:
    """Return the beginning of the document."""
    lines = [f"# {inline(title or name)}\n", f"- {words.session}: {inline(name)}"]
    lines += [f"- {words.workspace}: {inline(workspace)}", f"- {view}\n"]
    return "\n".join(lines) + "\n"


def transcript(events: Iterable[Event], *, removed: Collection[int], reveal: bool, words: Words) -> Iterator[str]:
    """Give the conversation turn by turn; a removed turn is a notice, and its text only where `reveal` asks for it."""
    current: int | None = None
    said: int | None = 0
    for event in events:
        if event["type"] == "turn/start":
            current = _turn_of(event)
        hidden = current in removed
        shown = event["type"] == "turn/start" or _is_said(event)
        if shown and current != said:
            said = current
            yield f"## {words.turn.format(current) if current is not None else words.between}\n\n"
            if hidden:
                yield f"*{words.removed.format(current)}{'' if reveal else ' ' + words.left_out}*\n\n"
        if _is_said(event) and (reveal or not hidden):
            yield message_text(event, words=words)
        if event["type"] == "turn/end":
            kind = members(members(event["data"]).get("reason")).get("kind", "completed")
            if kind != "completed" and (reveal or not hidden):
                yield f"*{words.ended}: {inline(str(kind))}*\n\n"
            current = None


def surface_text(events: Iterable[Event], *, words: Words) -> Iterator[str]:
    """Give the messages of a surface in order."""
    for event in events:
        yield message_text(event, words=words)


def _turn_of(event: Event) -> int | None:
    turn = members(event["data"]).get("turn")
    return turn if is_count(turn) else None


def _is_said(event: Event) -> bool:
    """Tell whether an event was said: what rewrites others was not, but for a program's summary."""
    if is_append(event):
        return True
    return is_replace(event) and event["type"] == "user/message"


def message_text(event: Event, *, words: Words) -> str:
    """Return one message with its heading."""
    message = message_of(event)
    parts = [f"### {_who(event, words=words)} · {event['seq']}{_when(event)}\n"]
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    parts += [_block(block, words=words) for block in blocks] or [f"*{words.empty}*\n"]
    return "\n".join(parts) + "\n"


def _who(event: Event, *, words: Words) -> str:
    message = message_of(event)
    role = {
        "user/message": words.user,
        "assistant/message": words.assistant,
        "system/message": words.system,
        "developer/message": words.developer,
        "tool/result": words.tool,
    }[event["type"]]
    source = members(message.get("source")).get("kind")
    if event["type"] == "user/message" and source == "compact-checkpoint":
        return words.summary
    if event["type"] == "user/message" and source != "user" and isinstance(source, str):
        return inline(source)
    return role


def _when(event: Event) -> str:
    try:
        moment = datetime.fromtimestamp(event["time"] / 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return f" · {moment:%Y-%m-%d %H:%M} UTC"


def _block(block: Any, *, words: Words) -> str:
    parts = members(block)
    kind, text = parts.get("type"), parts.get("text")
    if kind == "text" and isinstance(text, str):
        return fenced(text)
    if kind == "reasoning" and isinstance(text, str):
        return f"*{words.reasoning}*\n\n{fenced(text)}"
    if kind == "tool-call":
        return f"*{words.call}: {inline(str(parts.get('name')))}*\n\n{fenced(str(parts.get('arguments')))}"
    if kind in ("image", "file"):
        about = {name: value for name, value in members(parts.get("attachment")).items() if name != "data"}
        return f"*{words.attachment}*\n\n{fenced(compact(about))}"
    return f"*{words.other}*\n\n{fenced(compact(block))}"
