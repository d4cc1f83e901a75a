"""All sockets."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

ROOMS = ("confirmations", "sessions", "devices")

websocket_urlpatterns: list[Any] = []
for _room in ROOMS:
    if find_spec(f"apps.{_room}.routing"):
        websocket_urlpatterns.extend(import_module(f"apps.{_room}.routing").websocket_urlpatterns)
