"""Put a new key in the place of an old one."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from apps.core.keys import NAMES


class Command(BaseCommand):
    """`manage.py rotate_key NAME`."""

    help = "Make a new key; the old one stays beside it. Restart the server afterwards."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the key's name."""
        parser.add_argument("name", choices=NAMES)

    def handle(self, *args: Any, **options: Any) -> None:
        """Rotate it."""
        settings.SAYSO_KEYS.rotate(options["name"])
        self.stdout.write(f"{options['name']} is new; restart the server")
