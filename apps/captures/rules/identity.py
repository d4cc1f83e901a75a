"""How each profile names a source, so that the same event always gets the same id."""

from __future__ import annotations

from collections.abc import Sequence

from apps.captures.rules.messages import message_text
from apps.core.values import digest_of, sha256_hex

_DIGITS = 24


def turn_source_id(*, session_id: str, user: object, assistant: object) -> str:
    """Name a completed Hermes turn by its session and its uncut texts (joined with newlines, as Hermes does)."""
    joined = "\n".join((session_id, message_text(user), message_text(assistant)))
    return f"hermes-turn:{sha256_hex(joined)[:_DIGITS]}"


def compression_source_id(*, stream: str, snapshot: Sequence[str], entries: Sequence[str]) -> str:
    """Name a window by its stream, the last fingerprint captured before it and its own fingerprints in order."""
    anchor = snapshot[-1] if snapshot else ""
    digest = digest_of({"anchor": anchor, "entries": list(entries), "stream": stream})
    return f"hermes-compression:{digest[:_DIGITS]}"


def gateway_source_id(*, session_id: str, steps_sha256: str) -> str:
    """Name a gateway turn by its session and its uncut steps; a JSON array keeps the two apart."""
    return f"gateway-turn:{digest_of([session_id, steps_sha256])[:_DIGITS]}"
