"""`manage.py check_sessions [--simulate-removals] [--profile P] [--json]`: exit 0 all is well, 1 not, 2 not run."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.errors import SaysoError
from apps.core.text import visible
from apps.sessions.queries.checking import check_stored


class Command(BaseCommand):
    """Loads every stored session from its first event and compares what is kept beside the log with it."""

    help = "Load every stored session; with --simulate-removals also try the removal of every turn on paper."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what can be given."""
        parser.add_argument("--profile", default="", help="only the sessions of this profile")
        parser.add_argument("--simulate-removals", action="store_true", help="count which turns could be removed")
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, report, and say with the exit code whether all is well."""
        try:
            report = check_stored(profile_name=options["profile"], simulate=options["simulate_removals"])
        except SaysoError as error:
            raise CommandError(f"{error.own_code}: {error.message}", returncode=2) from None
        if options["json"]:
            self.stdout.write(json.dumps(report, indent=2))
        else:
            self.show(report)
        if report["faults"]:
            sys.exit(1)

    def show(self, report: dict[str, Any]) -> None:
        """Print the sums and every fault."""
        self.stdout.write(f"{report['sessions']} sessions, {report['events']} events, {report['faulty']} faulty")
        for fault in report["faults"]:
            where = visible(f"{fault['profile']}/{fault['workspace']}/{fault['session']}")
            self.stdout.write(f"{where}: {fault['code']}: {visible(fault['sentence'])}")
        removals = report.get("removals")
        if removals is not None:
            self.stdout.write(
                f"{removals['removable']} turns could be removed, {removals['removed_before']} were before"
            )
            for reason, number in removals["refused"].items():
                self.stdout.write(f"  {number} refused: {reason}")
