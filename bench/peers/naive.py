"""The usual build: a Django async view and a Channels consumer that keep everything in memory and store nothing."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from typing import Any

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="bench",
    DEBUG=False,
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["channels", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 100000}}},
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ.get("BENCH_DB", ":memory:")}},
)
django.setup()

from channels.generic.websocket import AsyncJsonWebsocketConsumer  # noqa: E402
from channels.layers import get_channel_layer  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402
from django.http import HttpRequest, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402

waiting: dict[str, asyncio.Future[str]] = {}
numbers = itertools.count(1)


@csrf_exempt
async def ask(request: HttpRequest) -> JsonResponse:
    """Hold a POST until its card is decided."""
    card = str(next(numbers))
    future = waiting[card] = asyncio.get_running_loop().create_future()
    await get_channel_layer().group_send("pages", {"type": "card.shown", "id": card})
    state = await future
    del waiting[card]
    return JsonResponse({"state": state})


class Page(AsyncJsonWebsocketConsumer):
    """The dialog."""

    async def connect(self) -> None:
        """Join the pages."""
        await self.channel_layer.group_add("pages", self.channel_name)
        await self.accept()

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Decide."""
        future = waiting.get(content["id"])
        if future is not None and not future.done():
            future.set_result("executed")
        await self.send_json({"type": "decision.taken", "id": content["id"]})

    async def card_shown(self, event: dict[str, Any]) -> None:
        """Show a card."""
        await self.send_json({"type": "card.shown", "card": {"id": event["id"]}})


urlpatterns = [path("ask", ask)]
application = ProtocolTypeRouter(
    {"http": get_asgi_application(), "websocket": URLRouter([path("ws/confirmations/", Page.as_asgi())])}
)
print(json.dumps({"peer": "naive"}), flush=True)
