"""The outside of an event and the header beside the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apps.sessions.rules.event_types import is_known
from apps.sessions.rules.plain_json import is_count, is_safe_integer, is_text, loss_in
from apps.sessions.rules.refusals import LogRefused

VERSION = 4
REQUIRED = frozenset({"type", "seq", "time", "data"})
ALLOWED = frozenset({*REQUIRED, "ignorable", "surfaceOp", "sourceEventSeqs"})

_HEADER: dict[str, Callable[[object], bool]] = {
    "version": is_count,
    "id": is_text,
    "createdAt": is_count,
    "isSeeded": lambda value: isinstance(value, bool),
    "delegationDepth": is_count,
}
_HEADER_OPTIONAL = frozenset({"cwd", "parentSession", "origin", "agentPreset"})


def check_header(header: Any) -> dict[str, Any]:
    """Return a header of format 4; its own fields and no others."""
    if not isinstance(header, dict):
        raise LogRefused("header.missing_field")
    if "version" in header and (not is_count(header["version"]) or header["version"] != VERSION):
        raise LogRefused("header.version", message=_other_format(header["version"]))
    if not header.keys() >= _HEADER.keys():
        raise LogRefused("header.missing_field")
    if header.keys() - _HEADER.keys() - _HEADER_OPTIONAL:
        raise LogRefused("header.unexpected_field")
    texts = _HEADER_OPTIONAL & header.keys()
    if not all(fits(header[name]) for name, fits in _HEADER.items()) or not all(
        isinstance(header[name], str) for name in texts - {"origin"}
    ):
        raise LogRefused("header.field_type")
    if "cwd" in header and not is_absolute(header["cwd"]):
        raise LogRefused("header.cwd_not_absolute")
    if "origin" in header and header["origin"] != "subagent":
        raise LogRefused("header.origin")
    return header


def _other_format(version: object) -> str:
    if is_count(version) and isinstance(version, int) and version < VERSION:
        return f"This log has format {version}; open it once with the newer harness, then import it again."
    return f"This log does not have format {VERSION}."


def is_absolute(path: str) -> bool:
    """Tell whether a path is absolute on POSIX or Windows."""
    drive = len(path) > 2 and path[0].isalpha() and path[1] == ":" and path[2] in "\\/"
    return path.startswith(("/", "\\\\")) or drive


def check_envelope(event: Any, *, seq: int) -> None:
    """Refuse an event that is not the `seq`-th of its log or has not exactly the fields of an event."""
    if not isinstance(event, dict) or not event.keys() >= REQUIRED:
        raise LogRefused("envelope.missing_field", seq=seq)
    if not event.keys() <= ALLOWED:
        raise LogRefused("envelope.unexpected_field", seq=seq)
    kind = event["type"]
    if not is_text(kind) or not is_safe_integer(event["time"]):
        raise LogRefused("envelope.field_type", seq=seq)
    if event.get("ignorable", True) is not True:
        raise LogRefused("envelope.ignorable", seq=seq)
    if "ignorable" not in event and not is_known(kind):
        raise LogRefused("envelope.unknown_type", seq=seq)
    if not is_count(event["seq"]) or event["seq"] != seq:
        raise LogRefused("envelope.seq_gap", seq=seq)
    if problem := loss_in(event):
        raise LogRefused("envelope.not_json", seq=seq, message=f"Event {seq} holds {problem}.")
