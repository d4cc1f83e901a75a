"""What the sockets of agent hosts are told of schedules: that something changed, never what."""

from __future__ import annotations

from typing import Any

from apps.core.sockets import sockets_of

HOSTS = "agent"
CHANGED = "schedule.changed"


def hear(message: dict[str, Any]) -> None:
    """Tell the hosts of a profile that its schedules changed; runs on the serving loop."""
    if message["event"] != CHANGED:
        return
    for socket in sockets_of(HOSTS):
        caller = socket.caller
        if caller is not None and caller.profile_id == message["profile"] and "schedule.read" in caller.scopes:
            socket.push({"event": CHANGED})
