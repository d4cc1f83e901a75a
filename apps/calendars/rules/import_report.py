"""The report of an import: what became of each component, with every code beside its summary and line."""

from __future__ import annotations

from typing import Any

Entry = dict[str, Any]
OUTCOMES = ("added", "updated", "unchanged", "asked", "refused")


class Report:
    """Gathers entries; `body` is the answer."""

    def __init__(self, *, about: dict[str, Any], calendar: dict[str, Any]) -> None:
        self.about, self.calendar = about, calendar
        self.entries: list[Entry] = []
        self.with_master: set[str] = set()

    def add(self, entries: list[Entry]) -> None:
        """Add what became of some components."""
        for entry in entries:
            if entry.pop("has_master", False):
                self.with_master.add(entry["uid"])
            self.entries.append(entry)

    def warnings(self) -> list[Entry]:
        """Return the warnings; an override whose series is stored already is no orphan."""
        found = [
            note
            for note in self.about["warnings"]
            if note["code"] != "override_without_master" or note["uid"] not in self.with_master
        ]
        for entry in self.entries:
            for slot in entry.pop("excluded", ()):
                note = {"code": "override_excluded", "uid": entry["uid"], "summary": entry["title"], "line": 0}
                found.append({**note, "detail": slot})
        return found

    def body(self) -> Entry:
        """Return the report as callers see it."""
        warnings = self.warnings()
        names = ("confirmation_id", "uid", "title", "kind", "state")
        asked = [
            {name: entry[name] for name in names if name in entry}
            for entry in self.entries
            if "confirmation_id" in entry
        ]
        counts = {outcome: sum(entry["outcome"] == outcome for entry in self.entries) for outcome in OUTCOMES}
        return {
            "calendar": self.calendar,
            **counts,
            "skipped_count": len(self.about["skipped"]),
            "items": self.entries,
            "warnings": warnings,
            "skipped": self.about["skipped"],
            "ignored": self.about["ignored"],
            "confirmations": asked,
        }
