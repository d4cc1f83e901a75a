"""What an import says about each session and altogether."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from apps.core.errors import Conflict

OUTCOMES = ("imported", "appended", "unchanged", "deleted_here", "refused")


class LogDiverged(Conflict):
    """This session goes on differently here than in the file; what is stored stays, the file was not taken in."""

    code = "log_diverged"


class DeletedHere(Conflict):
    """A person deleted this session here; only a person can bring it back."""

    code = "deleted_here"


@dataclass(kw_only=True, slots=True)
class Entry:
    """One session's folder: what became of it, and the code and the sentence of a refusal or of what kept it out."""

    slug: str
    folder: str
    outcome: str = "refused"
    name: str = ""
    file: str = ""
    version: int | None = None
    code: str = ""
    sentence: str = ""
    seq: int | None = None
    sha256: str = ""
    size_bytes: int = 0
    events: int = 0
    added: int = 0
    turns: int = 0
    removed_turns: list[int] = field(default_factory=list)
    surface_nodes: int = 0
    torn: dict[str, int] | None = None
    open_turn: bool = False
    older_files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(kw_only=True, slots=True)
class Report:
    """All of it; `skipped` are places that were not followed, such as symbolic links."""

    root: str
    dry_run: bool = False
    entries: list[Entry] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Return how many sessions had each outcome."""
        count = Counter(entry.outcome for entry in self.entries)
        return {outcome: count[outcome] for outcome in OUTCOMES}

    def body(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "root": self.root,
            "dry_run": self.dry_run,
            **self.counts(),
            "sessions": [asdict(entry) for entry in self.entries],
            "skipped": self.skipped,
        }
