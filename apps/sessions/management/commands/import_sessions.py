"""`manage.py import_sessions PATH [--profile P] [--dry-run] [--json] [--restore ID] [--repair ID] [--close]`."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.queries import owner_of
from apps.core.errors import SaysoError
from apps.core.text import visible
from apps.core.values import now_ms
from apps.sessions.actions.import_home import Wishes, import_home
from apps.sessions.rules.import_report import OUTCOMES, Entry, Report

ASK_RESTORE = """{name} was deleted here by a person, with everything that belonged to it.
To take it in again from its file, type its id: """
ASK_REPAIR = """The log of {name} holds removals that the first plugin wrote in a way that keeps it from opening.
They can be mended in the copy that is stored here; the file stays as it is. The turns stay removed from the model's
view, and their text stays stored in the log. To mend them, type the session's id: """


class Command(BaseCommand):
    """Takes the sessions of a host's home in, reading only; the home stays as it is."""

    help = "Import the session logs of an agent host's home (or one log file) and report for each what became of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what can be given."""
        parser.add_argument("path", type=Path, help="a home, its folder of sessions, or one log")
        parser.add_argument("--profile", default="default", help="whose sessions they become")
        parser.add_argument("--dry-run", action="store_true", help="show the report and keep nothing")
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON")
        parser.add_argument("--close", action="store_true", help="close turns left open, as a host does on opening")
        parser.add_argument(
            "--restore", action="append", default=[], metavar="ID", help="take in again what was deleted here; asks"
        )
        parser.add_argument(
            "--repair", action="append", default=[], metavar="ID", help="mend removals of the first plugin; asks"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask what a person must say, read, store, report."""
        for name in options["restore"]:
            self.ask(ASK_RESTORE, name=name)
        for name in options["repair"]:
            self.ask(ASK_REPAIR, name=name)
        wishes = Wishes(
            dry_run=options["dry_run"],
            close=options["close"],
            restore=frozenset(options["restore"]),
            repair=frozenset(options["repair"]),
        )
        try:
            by = owner_of(profile_name=options["profile"])
            report = import_home(by=by, path=options["path"], wishes=wishes, clock=now_ms)
        except OSError as error:
            raise CommandError(f"{options['path']} cannot be read: {error}", returncode=2) from None
        except SaysoError as error:
            raise CommandError(f"{error.own_code}: {error.message}", returncode=2) from None
        if options["json"]:
            self.stdout.write(json.dumps(report.body(), indent=2))
        else:
            self.show(report)

    def ask(self, question: str, *, name: str) -> None:
        """Let the person at the terminal type the id; nothing else may answer."""
        if not sys.stdin.isatty():
            raise CommandError("Only a person at a terminal can say this; there is none here.", returncode=2)
        if input(question.format(name=visible(name))).strip() != name:
            raise CommandError("That was not its id; nothing was done.", returncode=2)

    def show(self, report: Report) -> None:
        """Print a line for each session and the sums."""
        if report.dry_run:
            self.stdout.write("Dry run: nothing was kept.")
        for entry in report.entries:
            self.stdout.write(line_of(entry))
            for note in entry.notes:
                self.stdout.write(f"  {visible(note)}")
        for skipped in report.skipped:
            self.stdout.write(f"skipped {visible(skipped['path'])}: {skipped['code']}")
        counts = report.counts()
        self.stdout.write(", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES))


def line_of(entry: Entry) -> str:
    """Return one session's line; names from the disk are shown so that they cannot pass for anything else."""
    where = visible(f"{entry.slug}/{entry.folder}")
    if entry.outcome in {"refused", "deleted_here"}:
        return f"{entry.outcome} {where}: {entry.code}: {visible(entry.sentence)}"
    removed = f", removed turns {entry.removed_turns}" if entry.removed_turns else ""
    return f"{entry.outcome} {where}: {entry.events} events, {entry.added} new, {entry.turns} turns{removed}"
