"""Make a person and print the password once."""

import secrets
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.actions import create_person
from apps.accounts.queries import profile_named
from apps.accounts.rules import ROLES
from apps.core.errors import SaysoError


class Command(BaseCommand):
    """`manage.py create_user NAME [--operator] [--profile P --role R]`."""

    help = "Make a person with a random password, which is printed once; they change it on the settings page."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the name, and where the person belongs."""
        parser.add_argument("name")
        parser.add_argument("--operator", action="store_true", help="may look into all records at /admin/")
        parser.add_argument("--profile", default="", help="make the person a member of this profile")
        parser.add_argument("--role", default="decider", choices=ROLES)

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the person, or say why not."""
        profile = profile_named(name=options["profile"]) if options["profile"] else None
        if options["profile"] and profile is None:
            raise CommandError(f"There is no profile named {options['profile']}.")
        password = secrets.token_urlsafe(15)
        try:
            create_person(
                username=options["name"],
                password=password,
                operator=options["operator"],
                profile=profile,
                role=options["role"],
            )
        except SaysoError as error:
            raise CommandError(error.message) from error
        self.stdout.write(password)
