"""Secrets become `[REDACTED]` before a window is rendered: policy, never loss."""

from __future__ import annotations

import re

REDACTED = "[REDACTED]"

# A search ends at the next mark of its own kind, so that no input makes it slow.
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----"
    r"(?:[^-]*(?:-(?!----)[^-]*)*-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----"
    r"|(?:(?:\s|\\[nr]){0,4}[A-Za-z0-9+/=]{16,})*"  # a block whose end is missing, and its last line
    r"(?:(?:[\r\n]|\\[nr]){1,2}[A-Za-z0-9+/=]{1,15}(?=[\r\n]|\\[nr]|\Z))?)"
)
_LABELLED = re.compile(
    r"""(?P<label>(?:api[\s_-]?key|access[\s_-]?key|secret(?:[\s_-]?key)?|password|passwd|token|authorization)
        \\?["'`]?\s{0,8}[:=]{1,2}>?\s{0,8})
        (?P<value>"(?:[^"\\]|\\.)+" | '(?:[^'\\]|\\.)+' | `[^`]+` | \\"[^"]*"
        |(?:(?:bearer|basic|digest|token)[ \t]{1,8})?\S+)""",
    re.IGNORECASE | re.VERBOSE,
)
_BEARER = re.compile(r"(?P<label>\bbearer\s{1,8})[A-Za-z0-9._~+/=-]{16,}", re.IGNORECASE)
_SHAPES = re.compile(
    r"\bsk-[A-Za-z0-9_-]{8,}|\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}"
    r"|\bxox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}|\bxapp-[A-Za-z0-9-]{8,}"
)
_QUOTED = re.compile(r"""(["'`]).*\1""", re.DOTALL)
_CLOSING = re.compile(r"""[.,;:!?)\]}>"'`]+\Z""")


def redact(text: str) -> str:
    """Return the text with labelled values, bearer tokens, well-known token shapes and private keys replaced.

    A label and what separates it from its value stay, as do the quotes around a value and the punctuation after it.
    """
    text = _PEM.sub(REDACTED, text)
    text = _LABELLED.sub(_without_value, text)
    text = _BEARER.sub(rf"\g<label>{REDACTED}", text)
    return _SHAPES.sub(REDACTED, text)


def _without_value(found: re.Match[str]) -> str:
    label, value = found["label"], found["value"]
    if value.startswith(REDACTED):
        return found[0]
    if _QUOTED.fullmatch(value):
        return f"{label}{value[0]}{REDACTED}{value[0]}"
    closing = _CLOSING.search(value)
    if closing is None:
        return f"{label}{REDACTED}"
    return found[0] if closing.start() == 0 else f"{label}{REDACTED}{closing[0]}"
