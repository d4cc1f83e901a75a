"""Message text as both Hermes profiles read it."""

from __future__ import annotations


def message_text(content: object) -> str:
    """Return the stripped text of a string or of a list of blocks; anything else is empty."""
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        return ""
    texts = (block.get("text") for block in content if isinstance(block, dict))
    return "".join(text for text in texts if isinstance(text, str)).strip()
