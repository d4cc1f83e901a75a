"""`manage.py inspect_session ID|FILE [--json] [--profile P]`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.queries import owner_of
from apps.core.errors import SaysoError
from apps.core.text import visible
from apps.sessions.queries.inspecting import inspected_file, inspected_session

NOT_ERASED = "What was hidden is not erased: it is still stored in the log."


class Command(BaseCommand):
    """Tells what a stored session or a log file holds, whether or not it would open."""

    help = "Show a session's removals, what the model sees of each turn, and what was hidden but still exists."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what can be given."""
        parser.add_argument("target", help="the id of a stored session, or the path of a log file")
        parser.add_argument("--profile", default="default", help="whose session it is")
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read and report; a file is taken for one where there is one, else the target is an id."""
        path = Path(options["target"])
        try:
            if path.is_file():
                report = inspected_file(path=path)
            else:
                by = owner_of(profile_name=options["profile"])
                report = inspected_session(by=by, ref=options["target"])
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}", returncode=2) from None
        except SaysoError as error:
            raise CommandError(f"{error.own_code}: {error.message}", returncode=2) from None
        if options["json"]:
            self.stdout.write(json.dumps(report, indent=2))
        else:
            self.stdout.write("\n".join(lines_of(report)))


def lines_of(report: dict[str, Any]) -> list[str]:
    """Return the report for a terminal; nothing that comes from the log can move its cursor."""
    load, torn = report["load"], report["torn"]
    lines = [
        f"Session {visible(report['header']['id'])}: {report['events']} events, {len(report['surface'])} visible",
        "Opens." if load["ok"] else f"Would not open: {load['code']}: {visible(load['sentence'])}",
    ]
    if report["damage"]:
        lines.append(f"Damaged: {visible(report['damage'])}")
    if report["open_turn"]:
        lines.append("Its last turn is still open.")
    if torn:
        lines.append(f"Its end is cut off: {torn['lines']} lines and {torn['bytes_left']} bytes were dropped.")
    lines += ["", "Turn        stored              visible"]
    for turn in report["turns"]:
        name = "between" if turn["turn"] is None else str(turn["turn"])
        stored, seen = _amount(turn["stored"]), _amount(turn["visible"])
        lines.append(f"{name:<12}{stored:<20}{seen:<20}{'removed' if turn['removed'] else ''}".rstrip())
    for removal in report["removals"]:
        made = "by the first plugin" if removal["legacy"] else f"by {visible(str(removal['producer']))}"
        lines += ["", f"Turn {removal['turn']} was removed {made} at {removal['seq']}: {removal['shadowed']}"]
        left = report["left_behind"].get(str(removal["turn"]), {})
        lines += [f"  still in force: {number} {name}" for name, number in left.items()]
    if report["hidden"]:
        lines += ["", NOT_ERASED]
    for one in report["hidden"]:
        lines.append(f"  {one['seq']} {one['type']} ({one['by']} at {one['by_seq']}): {visible(one['text'])}")
    return lines


def _amount(amount: dict[str, int]) -> str:
    return f"{amount['messages']} ({amount['tokens']} tokens)"
