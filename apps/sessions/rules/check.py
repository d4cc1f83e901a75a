"""What a check of stored sessions found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from apps.core.errors import SaysoError
from apps.sessions.rules.simulation import Simulation


class BesideTheLog(SaysoError):
    """What is kept beside the log is not what the log says."""

    code = "beside_the_log"


@dataclass(kw_only=True, slots=True)
class Check:
    """How many sessions were loaded and what is wrong with which."""

    sessions: int = 0
    events: int = 0
    faults: list[dict[str, Any]] = field(default_factory=list)
    removals: Simulation | None = None

    def body(self) -> dict[str, Any]:
        """Return the report as JSON."""
        body: dict[str, Any] = {
            "sessions": self.sessions,
            "events": self.events,
            "faulty": len({(one["profile"], one["workspace"], one["session"]) for one in self.faults}),
            "faults": self.faults,
        }
        if self.removals is not None:
            body["removals"] = {
                "removable": self.removals.removable,
                "removed_before": self.removals.removed_before,
                "refused": dict(sorted(self.removals.refused.items())),
            }
        return body
