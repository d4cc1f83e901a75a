"""`manage.py import_ics FILE --calendar NAME [--owner-zone Z] [--dry-run] [--profile P]`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from apps.accounts.models import Membership
from apps.accounts.queries import caller_for
from apps.accounts.rules import Caller
from apps.calendars.actions.calendars import create_calendar
from apps.calendars.actions.import_file import import_file
from apps.calendars.actions.importing import Asking, check_import
from apps.calendars.actions.storing import current_owner
from apps.calendars.queries.items import find_calendar
from apps.calendars.rules.import_report import OUTCOMES
from apps.calendars.rules.targets import CalendarNotFound
from apps.calendars.rules.zones import iana_name
from apps.core.errors import SaysoError
from apps.core.threads import Steps, run_inline
from apps.core.values import now_ms


class DryRun(Exception):
    """Nothing is kept of a dry run."""


class Command(BaseCommand):
    """Imports an iCalendar file into a calendar, as the profile's owner would in the page."""

    help = "Import an iCalendar file; what would be lost waits for a person in the inbox."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what can be given."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--calendar", required=True, help="its name; it is made when there is none")
        parser.add_argument("--owner-zone", default="", help="the zone of floating times; default: the profile's")
        parser.add_argument("--profile", default="default")
        parser.add_argument("--replace", action="store_true", help="ask for the deletion of what the file lacks")
        parser.add_argument("--dry-run", action="store_true", help="show the report and keep nothing")
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, store, report."""
        try:
            with transaction.atomic():
                report = self.work(options)
                if options["dry_run"]:
                    raise DryRun
        except DryRun:
            self.stdout.write("Dry run: nothing was kept.")
        except OSError as error:
            raise CommandError(f"The file cannot be read: {error}") from None
        except SaysoError as error:
            raise CommandError(f"{error.own_code}: {error.message}") from None
        if options["json"]:
            self.stdout.write(json.dumps(report, indent=2, ensure_ascii=False))
            return
        self.stdout.write(", ".join(f"{report[outcome]} {outcome}" for outcome in OUTCOMES))
        for kind in ("skipped", "warnings", "ignored"):
            for note in report[kind]:
                self.stdout.write(f"{kind}: {note['code']} line {note['line']} {note['summary']!r} {note['detail']}")
        for asked in report["confirmations"]:
            self.stdout.write(f"waits for a person: {asked['title']!r} /inbox/{asked['confirmation_id']}")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Import, in the name of the profile's first owner."""
        by = owner_named(options["profile"])
        moment = now_ms()
        try:
            calendar = find_calendar(profile_id=by.profile_id, name=options["calendar"])
        except CalendarNotFound:
            calendar = create_calendar(by=by, name=options["calendar"], now_ms=moment)
        check_import(by=by, calendar=calendar)
        zone = options["owner_zone"] or current_owner(profile_id=by.profile_id, now_ms=moment).zone
        if iana_name(zone) is None:
            raise CommandError(f"{zone} is no time zone.")
        work = import_file(
            steps=Steps(inline=True),
            by=by,
            calendar=calendar,
            asking=Asking(purpose=f"Import of {options['file'].name}", now_ms=moment),
            data=options["file"].read_bytes(),
            options={"owner_zone": zone, "now_ms": moment},
            replaces=options["replace"],
        )
        body: dict[str, Any] = run_inline(work).body()
        return body


def owner_named(profile: str) -> Caller:
    """Return the first owner of a profile as a caller."""
    rows = Membership.objects.filter(profile__name=profile, role="owner").select_related("profile", "user")
    row = rows.order_by("id").first()
    if row is None:
        raise CommandError(f"There is no profile {profile} with an owner.")
    return caller_for(user=row.user, membership=row)
