"""What open pages are told: that something which they show has changed, and what is due now.

A frame names what changed by keys that say nothing to anybody else; what it is, a page reads over the REST API, as the
person who looks at it. A log may grow by thousands of events a second: pages hear of it a few times a second.
"""

from __future__ import annotations

import asyncio
from typing import Any

from apps.confirmations.consumers import KIND
from apps.core.announce import listen
from apps.core.sockets import sockets_of
from apps.core.text import visible

GATHER_S = 0.15
ABOUT = {
    "session.listed": "sessions",
    "session.leased": "sessions",
    "session.released": "sessions",
    "session.shelved": "sessions",
    "session.deleted": "sessions",
    "log.appended": "sessions",
    "run.started": "sessions",
    "run.ended": "sessions",
    "run.aborted": "sessions",
    "schedule.changed": "schedules",
    "calendar.changed": "calendar",
    "captures.changed": "captures",
}
"""Which page an announcement concerns."""

_gathered: dict[tuple[str, str, str], dict[str, Any]] = {}
_telling: list[asyncio.AbstractEventLoop] = []


def hear(message: dict[str, Any]) -> None:
    """Gather what pages are to be told; runs on the serving loop."""
    if message["event"] == "alarm.due":
        ring(message)
        return
    about = ABOUT.get(message["event"])
    if about is None or not any(message.get("profile") in socket.readable_ids for socket in sockets_of(KIND)):
        return
    loop = asyncio.get_running_loop()
    if _telling != [loop]:
        _telling[:] = [loop]
        loop.call_later(GATHER_S, tell)
    key = (message["profile"], about, str(message.get("session", "")))
    _gathered[key] = {"type": "page.told", "profile": key[0], "about": about, "session": key[2]}


def ring(message: dict[str, Any]) -> None:
    """Tell the pages of a profile at once that an event or a reminder is due."""
    facts = {name: message[name] for name in ("profile", "kind", "item", "at", "missed")}
    frame = {"type": "alarm.due", "title": visible(message["title"]), **facts}
    for socket in sockets_of(KIND):
        if message["profile"] in socket.readable_ids:
            socket.push(frame)


def tell() -> None:
    """Send what was gathered to the pages of the people who may read there."""
    frames = list(_gathered.values())
    _gathered.clear()
    _telling.clear()
    for socket in sockets_of(KIND):
        for frame in frames:
            if frame["profile"] in socket.readable_ids:
                socket.push(frame)


listen(hear)
