"""The floor: a bare ASGI application that holds requests and releases them over a socket; it stores nothing."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

waiting: dict[str, asyncio.Future[str]] = {}
pages: set[Any] = set()
numbers = itertools.count(1)


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Hold a POST until its card is decided over the socket."""
    if scope["type"] == "websocket":
        await page(receive, send)
    elif scope["type"] == "http":
        await receive()
        named = scope["path"].rpartition("/")[2]
        card = named if named.isdecimal() else str(next(numbers))
        future = waiting[card] = asyncio.get_running_loop().create_future()
        for push in list(pages):
            await push({"type": "websocket.send", "text": json.dumps({"type": "card.shown", "card": {"id": card}})})
        state = await future
        del waiting[card]
        body = json.dumps({"state": state}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def page(receive: Any, send: Any) -> None:
    """Serve one dialog socket."""
    await receive()
    await send({"type": "websocket.accept"})
    pages.add(send)
    try:
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                return
            frame = json.loads(message["text"])
            future = waiting.get(frame["id"])
            if future is not None and not future.done():
                future.set_result("executed")
            await send({"type": "websocket.send", "text": json.dumps({"type": "decision.taken", "id": frame["id"]})})
    finally:
        pages.discard(send)
