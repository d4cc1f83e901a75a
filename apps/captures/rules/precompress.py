"""`hermes-precompress-text.v1`: the new part of a window that is about to be compressed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.captures.rules.coverage import CHARACTER_LIMIT, COMPLETE, HERMES_PRECOMPRESS, Coverage, declare
from apps.captures.rules.errors import CaptureIncomplete
from apps.captures.rules.messages import message_text
from apps.captures.rules.overlap import already_captured
from apps.captures.rules.redaction import redact
from apps.core.values import digest_of

WINDOW_CHARACTERS = 30_000
KIND = "hermes-context-compression"
OFF, OPTIONAL, REQUIRED = "off", "optional", "required"
MODES = frozenset({OFF, OPTIONAL, REQUIRED})
_ROLES = frozenset({"user", "assistant"})


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One message of a window that can be captured; its fingerprint covers the content as it was received."""

    role: str
    text: str
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class WindowText:
    """The text of a window's new part and what was lost of it, from one computation; counts are entries."""

    text: str
    coverage: Coverage
    whole: int
    cut: int
    dropped: int


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """What one hook has to capture, and the snapshot that is right once it is stored."""

    window: WindowText
    new: tuple[str, ...]
    snapshot: tuple[str, ...]


def entries_of(messages: Iterable[object]) -> tuple[Entry, ...]:
    """Return the user and assistant messages that have text; leaving out the others is no loss."""
    return tuple(entry for message in messages if (entry := _entry(message)) is not None)


def _entry(message: object) -> Entry | None:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return None
    role, content = message["role"].strip().lower(), message.get("content")
    text = message_text(content)
    if role not in _ROLES or not text:
        return None
    named = {"name": message["name"]} if message.get("name") is not None else {}
    return Entry(role=role, text=text, fingerprint=digest_of({"role": role, "content": content, **named}))


def fingerprints_of(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the fingerprints of the entries: what a snapshot is made of."""
    return tuple(entry.fingerprint for entry in entries)


def new_entries(entries: Sequence[Entry], *, snapshot: Sequence[str]) -> tuple[Entry, ...]:
    """Return the entries that the snapshot does not hold yet."""
    return tuple(entries[already_captured(fingerprints_of(entries), snapshot=snapshot) :])


def project_window(entries: Sequence[Entry]) -> WindowText | None:
    """Return the entries as lines, filled up to 30,000 characters without a mark; None when there are none."""
    lines: list[str] = []
    room, cut = WINDOW_CHARACTERS, 0
    for entry in entries:
        if room <= 0:
            break
        line = f"[{entry.role}] {redact(entry.text)}"
        cut += len(line) > room
        lines.append(line[:room])
        room -= len(line) + 1
    if not lines:
        return None
    dropped = len(entries) - len(lines)
    coverage = declare(projection=HERMES_PRECOMPRESS, losses={CHARACTER_LIMIT} if cut or dropped else ())
    text = "\n".join(lines).strip()
    return WindowText(text=text, coverage=coverage, whole=len(lines) - cut, cut=cut, dropped=dropped)


def plan_checkpoint(messages: Iterable[object], *, mode: str, snapshot: Sequence[str]) -> Checkpoint | None:
    """Return what to capture of a window, None when nothing is new or the mode is `off`.

    Raises CaptureIncomplete when the mode is `required` and the new part does not fit: send nothing then, and keep
    the snapshot. Replace the snapshot only when what is returned here was stored.
    """
    if mode == OFF:
        return None
    entries = entries_of(messages)
    new = new_entries(entries, snapshot=snapshot)
    window = project_window(new)
    if window is None:
        return None
    if mode == REQUIRED and window.coverage.status != COMPLETE:
        raise CaptureIncomplete
    return Checkpoint(window=window, new=fingerprints_of(new), snapshot=fingerprints_of(entries))
