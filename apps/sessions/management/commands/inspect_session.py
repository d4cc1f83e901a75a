"""`manage.py inspect_session ID|FILE [--json] [--profile P]`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.queries import owner_of
from apps.core.errors import SaysoError
from apps.sessions.queries.inspecting import inspected_file, inspected_session
from apps.sessions.serializers.inspection import lines_of


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
