"""Sockets: the base of all consumers and the registry of those that are open.

One socket costs one task; there is no channel layer channel per socket. Cards are encoded once and sent to every open
socket that may see them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer

from apps.core.threads import lane

log = logging.getLogger("sayso.sockets")

CLOSE_COME_AGAIN = 4012
"""What RFC 6455 calls 1012; the library lets a server send only 1000 and 3000 to 4999."""

SEND_NOW = "sayso.send_now"
"""The scope's way of sending a text at once; where the server has none, a task sends it."""

open_sockets: dict[str, set[Socket]] = {}


class Socket(AsyncWebsocketConsumer):
    """A consumer whose database work runs in the lane and whose frames are JSON objects."""

    channel_layer_alias: ClassVar[Any] = None
    kind: ClassVar[str] = ""

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Route a message; Channels' own version hops to a new thread each time."""
        name = message["type"]
        if name == "websocket.receive":
            await self.websocket_receive(message)
        elif name == "websocket.connect":
            await self.websocket_connect(message)
        elif name == "websocket.disconnect":
            await self.websocket_disconnect(message)
        else:
            raise StopConsumer

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Parse one frame; what is no JSON object is answered with an error frame."""
        try:
            frame = json.loads(text_data) if text_data is not None else None
        except (ValueError, RecursionError):
            frame = None
        if not isinstance(frame, dict):
            await self.send_json({"type": "error", "code": "bad_frame", "detail": "A frame must be a JSON object."})
            return
        await self.on_frame(frame)

    async def on_frame(self, frame: dict[str, Any]) -> None:
        """Handle one frame."""
        raise NotImplementedError

    async def send_json(self, value: Any) -> None:
        """Send one JSON object."""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        send_now = self.scope.get(SEND_NOW)
        if send_now is not None:
            send_now(text)
            return
        with contextlib.suppress(RuntimeError):
            await self.send(text_data=text)

    async def in_lane(self, call: Callable[..., Any], *args: Any, grouped: bool = False, **kwargs: Any) -> Any:
        """Run a function in the lane."""
        return await lane.run(partial(call, *args, **kwargs), grouped=grouped)

    def register(self) -> None:
        """List this socket among the open ones of its kind."""
        open_sockets.setdefault(self.kind, set()).add(self)

    def unregister(self) -> None:
        """Take it off the list."""
        open_sockets.get(self.kind, set()).discard(self)

    def push(self, value: Any) -> None:
        """Send from a listener, without waiting for it."""
        send_now = self.scope.get(SEND_NOW)
        if send_now is not None:
            send_now(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            return
        keep(asyncio.ensure_future(self.send_json(value)))


_pending: set[asyncio.Future[Any]] = set()


def keep(future: asyncio.Future[Any]) -> None:
    """Hold a reference to a running task until it ends, and log its failure."""
    _pending.add(future)
    future.add_done_callback(_ended)


def _ended(future: asyncio.Future[Any]) -> None:
    _pending.discard(future)
    if not future.cancelled() and future.exception() is not None:
        log.error("a push failed", exc_info=future.exception())


def sockets_of(kind: str) -> list[Any]:
    """Return the open sockets of a kind."""
    return list(open_sockets.get(kind, ()))


def rest() -> bool:
    """Tell whether nothing is being pushed."""
    return not _pending


def origin_allowed(scope: dict[str, Any], origins: frozenset[str]) -> bool:
    """Tell whether a handshake comes from one of our own pages: exactly one Origin, equal to the public origin."""
    given = [value.decode("latin1") for name, value in scope["headers"] if name == b"origin"]
    return len(given) == 1 and given[0].rstrip("/").lower() in origins


def header_of(scope: dict[str, Any], name: bytes) -> str:
    """Return a header of the handshake, or an empty text."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin1"))
    return ""
