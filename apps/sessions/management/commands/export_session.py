"""`manage.py export_session ID [--format jsonl|markdown] [--view log|surface] [--removed] [--output FILE]`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.queries import owner_of
from apps.core.errors import SaysoError
from apps.sessions.queries.exporting import jsonl_parts, markdown_parts
from apps.sessions.queries.inspecting import session_spelled
from apps.sessions.rules.transcript import Words


class Command(BaseCommand):
    """Writes a stored session as a log file or as a document."""

    help = "Write a session as JSON lines, which import_sessions takes in again, or as Markdown for people."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what can be given."""
        parser.add_argument("session", help="its id")
        parser.add_argument("--profile", default="default", help="whose session it is")
        parser.add_argument("--format", choices=["jsonl", "markdown"], default="jsonl")
        parser.add_argument("--view", choices=["log", "surface"], default="log", help="of Markdown only")
        parser.add_argument("--removed", action="store_true", help="with the text of removed turns")
        parser.add_argument("--output", type=Path, help="a file that does not exist yet; else it is printed")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read and write piece by piece."""
        if options["format"] == "jsonl" and options["view"] != "log":
            raise CommandError("JSON lines are always the whole log.", returncode=2)
        try:
            by = owner_of(profile_name=options["profile"])
            session = session_spelled(by=by, ref=options["session"])
        except SaysoError as error:
            raise CommandError(f"{error.own_code}: {error.message}", returncode=2) from None
        if options["format"] == "jsonl":
            parts = jsonl_parts(session)
        else:
            parts = markdown_parts(session, view=options["view"], reveal=options["removed"], words=Words())
        self.write(parts, path=options["output"])

    def write(self, parts: Iterator[str], *, path: Path | None) -> None:
        """Write into a new file, or print."""
        if path is None:
            for part in parts:
                self.stdout.write(part, ending="")
            return
        try:
            with path.open("xb") as file:
                file.writelines(part.encode() for part in parts)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}", returncode=2) from None
        sys.stderr.write(f"{path} was written.\n")
