"""Make a profile."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.actions import create_profile
from apps.accounts.models import User
from apps.core.errors import SaysoError


class Command(BaseCommand):
    """`manage.py create_profile NAME [--owner U] [--time-zone Z] [--calendars sayso|device]`."""

    help = "Make a profile (tenant) and, with --owner, the membership of its owner."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the name and the options."""
        parser.add_argument("name")
        parser.add_argument("--owner", default="")
        parser.add_argument("--time-zone", default="UTC")
        parser.add_argument("--calendars", default="sayso", choices=["sayso", "device"])

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it, or say why not."""
        owner = User.objects.filter(username=options["owner"]).first() if options["owner"] else None
        if options["owner"] and owner is None:
            raise CommandError(f"There is no user named {options['owner']}.")
        try:
            profile = create_profile(
                name=options["name"], time_zone=options["time_zone"], calendars=options["calendars"], owner=owner
            )
        except SaysoError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"profile {profile.name} ({profile.pk})")
