"""Make a token and print it once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.actions import create_token
from apps.accounts.models import User
from apps.accounts.queries import profile_named
from apps.accounts.rules import SCOPES
from apps.core.errors import SaysoError


class Command(BaseCommand):
    """`manage.py create_token --user U --profile P --label L --scope S [--scope S…]`."""

    help = "Make an agent token and print it once; only its hash is stored."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take whose token it is and what it may do."""
        parser.add_argument("--user", required=True)
        parser.add_argument("--profile", required=True)
        parser.add_argument("--label", required=True)
        parser.add_argument("--scope", action="append", required=True, help=f"one of {', '.join(SCOPES)}")
        parser.add_argument("--kind", default="agent", choices=["agent", "person"])
        parser.add_argument("--session", default="", help="the session that this token stands for")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it, or say why not."""
        user = User.objects.filter(username=options["user"]).first()
        profile = profile_named(name=options["profile"])
        if user is None or profile is None:
            raise CommandError("There is no such user or profile.")
        try:
            _, secret = create_token(
                user=user,
                profile=profile,
                label=options["label"],
                scopes=options["scope"],
                kind=options["kind"],
                session=options["session"],
            )
        except SaysoError as error:
            raise CommandError(error.message) from error
        self.stdout.write(secret)
