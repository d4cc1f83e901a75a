"""The relay: carries announcements between the processes of one installation.

Redis when `REDIS_URL` names one (through the channel layer, one channel per process), else LISTEN/NOTIFY on PostgreSQL,
which also steps in while Redis is down. One process on SQLite needs neither.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from typing import Any

import psycopg
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connection

from apps.core.announce import deliver
from apps.core.sockets import keep

log = logging.getLogger("sayso.relay")

GROUP = "sayso"
NOTIFY_LIMIT = 7900
"""PostgreSQL refuses payloads of 8,000 bytes and more; what is longer travels as its keys only."""
RETRY_S = 2.0

ORIGIN = secrets.token_hex(8)


class Relay:
    """Sends from the lane, listens on the serving loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Serve one loop."""
        self.loop = loop
        self.on_postgresql = connection.vendor == "postgresql"
        self.redis_up = False

    @property
    def needed(self) -> bool:
        """Tell whether there may be other processes to reach."""
        return bool(settings.REDIS_URL) or self.on_postgresql

    def start(self) -> None:
        """Listen for what others announce."""
        if settings.REDIS_URL:
            keep(asyncio.ensure_future(self.listen_redis()))
        if self.on_postgresql:
            keep(asyncio.ensure_future(self.listen_postgresql()))

    def send(self, message: dict[str, Any]) -> None:
        """Tell the other processes; called after the commit, in the thread that committed."""
        if settings.REDIS_URL and self.redis_up:
            self.loop.call_soon_threadsafe(lambda: keep(asyncio.ensure_future(self.send_redis(message))))
        elif self.on_postgresql:
            notify(message)

    async def send_redis(self, message: dict[str, Any]) -> None:
        """Publish one announcement."""
        try:
            await get_channel_layer().group_send(GROUP, {"type": "relay", "origin": ORIGIN, "message": message})
        except Exception:  # noqa: BLE001 (any failure of Redis: the rows stay the truth)
            log.warning("Redis did not take an announcement; waiters re-read at their next wake-up")
            self.redis_up = False

    async def listen_redis(self) -> None:
        """Deliver what comes over Redis; reconnect for as long as the process lives."""
        while True:
            try:
                layer = get_channel_layer()
                channel = await layer.new_channel("relay")
                await layer.group_add(GROUP, channel)
                self.redis_up = True
                while True:
                    found = await layer.receive(channel)
                    if found["origin"] != ORIGIN:
                        deliver(found["message"])
            except asyncio.CancelledError:
                raise
            except Exception:  # noqa: BLE001 (see above)
                self.redis_up = False
                log.warning("Redis cannot be reached; trying again")
                await asyncio.sleep(RETRY_S)

    async def listen_postgresql(self) -> None:
        """Deliver what comes over NOTIFY; reconnect for as long as the process lives."""
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(postgresql_dsn(), autocommit=True) as link:
                    await link.execute(f"listen {GROUP}")
                    await self.deliver_notices(link.pgconn)
            except asyncio.CancelledError:
                raise
            except Exception:  # noqa: BLE001 (a lost listener costs re-reads, never an answer)
                log.warning("the PostgreSQL listener is gone; trying again")
            await asyncio.sleep(RETRY_S)

    async def deliver_notices(self, pgconn: psycopg.pq.abc.PGconn) -> None:
        """Deliver what comes until the connection is lost; psycopg's own `notifies` looks ten times a second."""
        readable = asyncio.Event()
        socket = pgconn.socket
        self.loop.add_reader(socket, readable.set)
        try:
            while True:
                while (found := pgconn.notifies()) is not None:
                    facts = json.loads(found.extra)
                    if facts["origin"] != ORIGIN:
                        deliver(facts["message"])
                await readable.wait()
                readable.clear()
                pgconn.consume_input()
        finally:
            self.loop.remove_reader(socket)


def notify(message: dict[str, Any]) -> None:
    """Send an announcement over NOTIFY on this thread's own connection."""
    payload = json.dumps({"origin": ORIGIN, "message": message})
    if len(payload.encode()) > NOTIFY_LIMIT:
        short = {name: message[name] for name in ("event", "keys", "profile", "user") if name in message}
        payload = json.dumps({"origin": ORIGIN, "message": short})
    with connection.cursor() as cursor:
        cursor.execute("select pg_notify(%s, %s)", [GROUP, payload])


def postgresql_dsn() -> str:
    """Return the connection string of the default database."""
    parameters = connection.get_connection_params()
    wanted = ("host", "port", "user", "password", "dbname")
    return psycopg.conninfo.make_conninfo(**{name: parameters[name] for name in wanted if parameters.get(name)})
