"""Keep a person out, or let them in again."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.actions import set_active
from apps.accounts.models import User


class Command(BaseCommand):
    """`manage.py disable_user NAME [--enable]`."""

    help = "Disable a person: no sign-in, no token, no open page; --enable takes it back."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the name and the way."""
        parser.add_argument("name")
        parser.add_argument("--enable", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, or say that nobody has that name."""
        user = User.objects.filter(username=options["name"]).first()
        if user is None:
            raise CommandError(f"There is no user named {options['name']}.")
        set_active(user=user, active=options["enable"])
        self.stdout.write(f"{user.username} is {'enabled' if options['enable'] else 'disabled'}")
