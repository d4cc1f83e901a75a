"""The server of the stories: `python -m tests.conformance.server --control FD --now MS`.

The same application, timers and start as `manage.py serve`; only the clock is injected. Over the control socket, a line
of JSON each way, a test moves the clock, waits for rest, makes the world and reads what exists. Nothing here decides a
confirmation or deletes a record of it; `reset` empties the whole database between two stories.
"""

import argparse
import asyncio
import json
import os
import socket
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

TURNS_AT_REST = 12
TAG = b"x-story-tag"


class Traffic:
    """What has reached the application so far: which requests, frames and hang-ups, and what is answered."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.forget()

    def forget(self) -> None:
        self.seen: set[str] = set()
        self.answered: set[str] = set()
        self.gone: set[str] = set()
        self.frames: dict[str, int] = {}
        self.moved = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        tag = next((value.decode() for name, value in scope.get("headers", ()) if name == TAG), "")

        async def counted_receive() -> Any:
            message = await receive()
            if message["type"] in ("http.disconnect", "websocket.disconnect"):
                self.note(self.gone, tag)
            elif message["type"] == "websocket.receive":
                self.frames[tag] = self.frames.get(tag, 0) + 1
                self.moved.set()
            return message

        async def counted_send(message: Any) -> None:
            await send(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                self.note(self.answered, tag)

        self.note(self.seen, tag)
        try:
            await self.application(scope, counted_receive, counted_send)
        finally:
            self.note(self.gone, tag)

    def note(self, where: set[str], tag: str) -> None:
        where.add(tag)
        self.moved.set()

    def arrived(self, *, seen: list[str], gone: list[str], frames: dict[str, int]) -> bool:
        heard = all(tag in self.gone or self.frames.get(tag, 0) >= count for tag, count in frames.items())
        return heard and self.seen.issuperset(seen) and self.gone.issuperset(gone)


class Control:
    """Answers the test, on the serving loop."""

    def __init__(self, *, channel: socket.socket, clock: Any, traffic: Traffic) -> None:
        self.channel, self.clock, self.traffic = channel, clock, traffic
        self.commands: dict[str, Callable[..., Awaitable[Any]]] = {
            "now": self.now,
            "advance": self.advance,
            "rest": self.rest,
            "reset": self.reset,
        }

    async def serve(self) -> None:
        """Answer one line after the other until the test hangs up."""
        from tests.conformance import world

        await self.quiet()
        reader, writer = await asyncio.open_connection(sock=self.channel, limit=2**26)
        writer.write(b'{"ready":true}\n')
        while line := await reader.readline():
            message = json.loads(line)
            name, number = message.pop("do"), message.pop("number")
            call = self.commands.get(name) or world.command(name)
            try:
                answer = {"number": number, "answer": await call(**message)}
            except Exception:  # noqa: BLE001 (the test shows it)
                answer = {"number": number, "error": traceback.format_exc()}
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        os._exit(0)  # the test is gone

    async def now(self) -> int:
        return self.clock.now_ms()

    async def advance(self, ms: int) -> int:
        await self.clock.advance(ms, self.quiet)
        return self.clock.now_ms()

    async def rest(self, *, seen: list[str], gone: list[str], frames: dict[str, int]) -> dict[str, Any]:
        """Return once all that the test sent has arrived and nothing is being worked on; tell what is answered."""
        while not self.traffic.arrived(seen=seen, gone=gone, frames=frames):
            self.traffic.moved.clear()
            await self.traffic.moved.wait()
        await self.quiet()
        return {"answered": sorted(self.traffic.answered & set(seen))}

    async def quiet(self) -> None:
        """Return when many turns of the loop in a row brought nothing new."""
        from apps.core import sockets, timers
        from apps.core.threads import lane
        from apps.core.waiting import hub

        loop = asyncio.get_running_loop()
        turns = 0
        while turns < TURNS_AT_REST:
            turn = loop.create_future()
            loop.call_soon(turn.set_result, None)
            await turn
            pushing = [task for task in sockets._pending if not listens(task)]
            # A thread that waits for a host is at rest until it is told something.
            busy = len(pushing) > hub.blocked
            working = not lane.idle() or busy or any(timer.working for timer in timers._timers.values())
            if working:
                # Whatever works ends with a job of the lane or a callback of this loop.
                await lane.run(lambda: None)
            turns = 0 if working else turns + 1

    async def reset(self, now_ms: int) -> None:
        """Empty the database and begin anew at another moment."""
        from apps.core import timers
        from apps.core.threads import lane
        from apps.core.waiting import hub
        from tests.conformance import world

        await self.quiet()
        self.traffic.forget()
        for timer in timers._timers.values():
            timer.handle, timer.armed_ms = None, None
        hub.released.clear()
        self.clock.reset(now_ms)
        await lane.run(world.empty)


def listens(task: Any) -> bool:
    """Tell whether a task listens to other processes for as long as this one lives."""
    return str(getattr(task.get_coro(), "__qualname__", "")).startswith("Relay.listen_")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--control", type=int, required=True)
    options.add_argument("--now", type=int, required=True)
    given = options.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

    import daphne.server  # noqa: F401 (Twisted's reactor must be the asyncio one before anything else imports it)
    from django.conf import settings
    from django.utils.module_loading import import_string

    settings.ROOT_URLCONF = "tests.factories.urls"
    settings.PASSWORD_HASHERS = ["tests.factories.passwords.CheapScrypt"]

    from apps.core.values import set_clock
    from tests.conformance.clock import ManualClock

    clock = ManualClock(given.now)
    set_clock(clock)
    traffic = Traffic(import_string(settings.ASGI_APPLICATION))

    from apps.web.management.commands.serve import whole_server
    from tests.conformance import world
    from tests.factories import contracts

    contracts.register_for_good()
    world.prepare()
    control = Control(channel=socket.socket(fileno=given.control), clock=clock, traffic=traffic)
    server = whole_server(application=traffic, host=settings.SAYSO_HOST, port=settings.SAYSO_PORT)
    begin = server.ready_callable

    def ready() -> None:
        begin()
        control.task = asyncio.get_event_loop().create_task(control.serve())

    server.ready_callable = ready
    server.run()
    from apps.core.threads import lane

    lane.stop()


if __name__ == "__main__":
    sys.exit(main())
