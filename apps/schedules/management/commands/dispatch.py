"""Deliver what is due in a process of its own."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from apps.core import announce, timers
from apps.core.relay import Relay
from apps.core.threads import lane


class Command(BaseCommand):
    """`manage.py dispatch`."""

    help = "Deliver schedules and reminders in a process of its own; on PostgreSQL only, and as many as you like."

    def handle(self, *args: Any, **options: Any) -> None:
        """Dispatch until a signal."""
        if connection.vendor != "postgresql":
            raise CommandError(
                "On SQLite the server itself delivers, and a second process is not possible. "
                "Set DATABASE_URL to a PostgreSQL database to run dispatchers of their own."
            )
        self.stdout.write("Sayso dispatches (Ctrl-C stops it)")
        self.stdout.flush()
        with asyncio.Runner() as runner:
            runner.run(dispatch_until_stopped())
        lane.stop()


async def dispatch_until_stopped() -> None:
    """Run the timers that are not the server's own until somebody asks this process to stop."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    relay = Relay(loop)
    announce.bind(loop, relay.send)
    relay.start()
    await timers.start_all(serving=False)
    await stopped.wait()
