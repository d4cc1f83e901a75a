"""The ASGI application: HTTP through the waiting layer and the lane, sockets through Channels."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
django.setup()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from apps.core.serving import LaneHandler, is_grouped  # noqa: E402
from apps.core.threads import lane  # noqa: E402
from apps.core.waiting import WaitingLayer, hub  # noqa: E402
from project.routing import websocket_urlpatterns  # noqa: E402

_sockets = URLRouter(websocket_urlpatterns)


async def sockets(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Serve a socket; an unknown path is closed before any data."""
    try:
        await _sockets(scope, receive, send)
    except ValueError as error:
        if "No route found" not in str(error):
            raise
        await receive()
        await send({"type": "websocket.close", "code": 4404})


_handler = LaneHandler()
_pages = WaitingLayer(_handler.respond, lane.run, ahead=lambda scope: is_grouped(scope["method"], scope["path"]))
lane.prepare = partial(hub.prepare, answer=_handler.answer)

application = ProtocolTypeRouter({"http": _pages, "websocket": sockets})
