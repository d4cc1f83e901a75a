"""Serve Sayso: HTTP, sockets, timers, in one process."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import resource
import signal
import socket
from typing import IO, Any

# Twisted's reactor must be the asyncio one before anything else imports it.
import daphne.server  # noqa: F401
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils.module_loading import import_string

from apps.confirmations.actions import settle_after_crash
from apps.core import announce, serving, timers
from apps.core.environment import address
from apps.core.relay import Relay
from apps.core.sockets import keep
from apps.core.threads import lane
from apps.core.values import now_ms

LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")


class Command(BaseCommand):
    """`manage.py serve [--first-run]`."""

    help = "Serve Sayso on SAYSO_HOST:SAYSO_PORT."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the one option."""
        parser.add_argument("--first-run", action="store_true", help="migrate, and fill an empty database with a demo")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare, print where it is, and serve until a signal."""
        host, port = settings.SAYSO_HOST, settings.SAYSO_PORT
        check_free(host=host, port=port)
        check_alone()
        raise_file_limit()
        # A shell lets its background jobs ignore SIGINT; a server that is asked to stop must stop all the same.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if options["first_run"]:
            call_command("migrate", verbosity=0, interactive=False)
            call_command("first_run")
        if host not in LOOPBACK:
            self.stderr.write(
                f"Warning: {host} can be reached from other machines. Set SAYSO_ORIGIN and put TLS in front."
            )
        server = whole_server(application=import_string(settings.ASGI_APPLICATION), host=host, port=port)
        where = address(host=host, port=port, origin=settings.SAYSO_ORIGIN)
        self.stdout.write(f"Sayso serves on {where} (Ctrl-C stops it)")
        self.stdout.flush()
        tune_collector()
        server.run()
        lane.stop()


def check_free(*, host: str, port: int) -> None:
    """Refuse an address where nothing can listen before anything is made, printed or settled."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host.strip("[]"), port), family=family).close()
    except OSError as error:
        # Python adds the address in brackets.
        why = str(error.strerror).partition(" (")[0]
        raise CommandError(f"Cannot listen on {host}:{port}: {why}. SAYSO_PORT names another port.") from error


def check_alone() -> None:
    """Refuse a second server on the same SQLite database: both would deliver what is due."""
    global _alone
    if connection.vendor != "sqlite":
        return
    held = (settings.SAYSO_DATA_DIR / "serve.lock").open("w")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.close()
        raise CommandError(
            f"Another server uses {settings.SAYSO_DATA_DIR} already. With SQLite one process does everything; "
            "set DATABASE_URL to a PostgreSQL database to run several."
        ) from None
    # Held for as long as the process lives; a killed one lets go by itself.
    _alone = held


_alone: IO[str] | None = None


def whole_server(*, application: Any, host: str, port: int) -> serving.SaysoServer:
    """Return the server with all that runs beside the requests, ready to run."""
    serving.use_factory()
    return serving.build_server(application=application, host=host, port=port, ready=begin)


def begin() -> None:
    """Start what runs beside the requests, on the serving loop."""
    loop = asyncio.get_event_loop()
    relay = Relay(loop)
    announce.bind(loop, relay.send if relay.needed else None)
    relay.start()
    keep(loop.create_task(start()))


async def start() -> None:
    """Settle what a crash left, then arm the timers."""
    await lane.run(lambda: settle_after_crash(now_ms=now_ms()))
    # With SQLite nobody else can.
    await timers.start_all(dispatching=settings.SAYSO_DISPATCH or connection.vendor == "sqlite")


def tune_collector() -> None:
    """Leave what was loaded by now out of garbage collection, and look at the rest less often.

    With Python's own thresholds a tenth of the time under load went into looking at the same living objects.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def raise_file_limit() -> None:
    """Let the process hold as many connections as the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
