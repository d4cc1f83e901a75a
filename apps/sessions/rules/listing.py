"""What a list of sessions may be asked for, and how words are found in stored messages."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from apps.core.errors import InvalidField
from apps.core.text import storable
from apps.sessions.rules.plain_json import members

WORDS_LENGTH = 200
PAGE = 100

_CURSOR = re.compile(r"([0-9]{1,18})\.([0-9a-zA-Z]{1,32})(?:\.([0-9]{1,18}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which sessions a list shows; None and empty texts ask for nothing."""

    live: bool | None = None
    running: bool | None = None
    archived: bool | None = None
    pinned: bool | None = None
    workspace: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The last session of a page; with a `seq` a search goes on inside it, from that event."""

    created_at_ms: int
    key: str
    seq: int = 0

    def __str__(self) -> str:
        return f"{self.created_at_ms}.{self.key}" + (f".{self.seq}" if self.seq else "")


def check_cursor(value: str) -> Cursor | None:
    """Return where a list goes on, None for an empty text."""
    if not value:
        return None
    found = _CURSOR.fullmatch(value)
    if found is None:
        raise InvalidField("before", "before must be the next of an earlier page")
    return Cursor(created_at_ms=int(found[1]), key=found[2], seq=int(found[3] or 0))


def check_words(value: str) -> str:
    """Return what is searched for, without blanks around."""
    words = value.strip()
    if len(words) > WORDS_LENGTH or not storable(words):
        raise InvalidField("q", f"q must be a text of at most {WORDS_LENGTH} characters")
    return words


def check_slug(value: Any) -> str:
    """Return the slug of a workspace that is asked for."""
    if not isinstance(value, str) or not storable(value):
        raise InvalidField("workspace", "workspace must be the slug of a workspace")
    return value


def like_pattern(words: str) -> str:
    """Return the LIKE pattern, with `!` as its escape, of the words in a JSON text in ASCII.

    Letters beyond ASCII that have two cases match any escape in their place: what is found is looked at once more.
    """
    return f"%{''.join(_like(character) for character in words)}%"


def _like(character: str) -> str:
    escaped = json.dumps(character)[1:-1]
    if not character.isascii() and character.lower() != character.upper():
        return "\\u____" * (len(escaped) // 6)
    return escaped.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def says(event: dict[str, Any], *, words: str) -> bool:
    """Tell whether the text of a message holds the case-folded words."""
    data = members(event.get("data"))
    content = members(data.get("message", data)).get("content")
    blocks = content if isinstance(content, list) else []
    texts = (members(block).get("text") for block in blocks)
    return any(isinstance(text, str) and words in text.casefold() for text in texts)
