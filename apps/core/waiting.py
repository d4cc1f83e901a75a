"""Waiting: the ASGI layer that holds a connection while a person makes up their mind.

Django authenticates, submits and answers with a response whose `deferral` names what it waits for. This layer holds
the connection at the price of one future; at release or at the end of the wait it sends the same request scope into
Django once more with a `Rendering` beside it, so rights, headers, language and shape come from one place. What the
lane itself releases is rendered there before anybody hears of it, which saves the way back. No ORM and no rules here.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from apps.core import announce
from apps.core.values import clock

SCOPE_KEY = "sayso.rendering"
ON_GONE = "sayso.on_gone"
"""The scope's way of naming what is called once the connection is gone; where there is none, a task waits for it."""
RELEASED_KEPT = 20_000
HEARTBEAT_MS = 15_000
ONCE = ("confirmation:", "token:", "job:", "message:", "lease:")
"""Keys of things that end once and stay ended."""

Cause = Literal["released", "timeout"]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferral:
    """What a response waits for: a key, the instant the wait ends, and who must be told of a hang-up."""

    key: str
    until_ms: int
    subject: str = ""
    """The id that an answer names when the server stops first."""
    on_hang_up: Callable[[str], Any] | None = None
    """Called with `subject` in the lane when this caller hangs up and nobody else waits for the key."""
    also: tuple[str, ...] = ()
    """Further keys that end the wait, such as the revocation of the caller's token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A response that goes on as Server-Sent Events for every announcement with this key."""

    key: str
    ends: tuple[str, ...] = ()
    event: Callable[[dict[str, Any]], dict[str, Any] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """The marker of the second pass: render now, for this reason. A client cannot set a scope key."""

    subject: str
    cause: Cause


@dataclass(slots=True)
class Answer:
    """A finished response on its way out."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    deferral: Deferral | None = None
    stream: Stream | None = None


class Place(asyncio.Future[str]):
    """A waiting request's future; the lane reads what stands behind it to answer it just before its release."""

    __slots__ = ("ahead", "body", "scope", "subject")

    def __init__(self, scope: Scope, body: bytes, subject: str) -> None:
        """Sit nowhere yet."""
        super().__init__()
        self.scope, self.body, self.subject = scope, body, subject
        self.ahead: Answer | None = None


class Hub:
    """Who waits for which key in this process; used on the serving loop only."""

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self.waiters: dict[str, Waiting] = {}
        self.streams: dict[str, set[asyncio.Queue[dict[str, Any] | None]]] = {}
        self.released: OrderedDict[str, None] = OrderedDict()
        self.stopping = False
        self.blocked = 0
        """How many threads wait in `block_until`."""

    def hear(self, message: dict[str, Any]) -> None:
        """Release the waiters that an announcement names."""
        for key in message.get("keys", ()):
            self.release(key)
            for queue in self.streams.get(key, ()):
                queue.put_nowait(message)

    def release(self, key: str) -> None:
        """Wake everybody who waits for the key, now or within the moment."""
        # A release may overtake the waiter that is just about to sit down; what happens once is remembered a while.
        if key.startswith(ONCE):
            self.released[key] = None
            self.released.move_to_end(key)
            while len(self.released) > RELEASED_KEPT:
                self.released.popitem(last=False)
        for future in self.waiting(key):
            if not future.done():
                future.set_result("released")

    def waiting(self, key: str) -> tuple[asyncio.Future[str], ...]:
        """Return who waits for the key; any thread may ask."""
        found = self.waiters.get(key)
        if found is None:
            return ()
        return tuple(found) if isinstance(found, set) else (found,)

    def sit(self, key: str, future: asyncio.Future[str]) -> None:
        """Let a future wait for the key."""
        found = self.waiters.get(key)
        if found is None:
            self.waiters[key] = future
        elif isinstance(found, set):
            found.add(future)
        else:
            self.waiters[key] = {found, future}
        if key in self.released and not future.done():
            future.set_result("released")

    def leave(self, key: str, future: asyncio.Future[str]) -> None:
        """Take the future away again."""
        found = self.waiters.get(key)
        if isinstance(found, set):
            found.discard(future)
        if found is future or found == set():
            del self.waiters[key]

    def prepare(self, messages: list[dict[str, Any]], answer: Callable[[Scope, bytes], Answer]) -> None:
        """Render what these announcements are about to release; runs in the lane, before they are told."""
        for message in messages:
            for key in message["keys"]:
                for place in self.waiting(key):
                    if isinstance(place, Place):
                        rendering = Rendering(subject=place.subject, cause="released")
                        place.ahead = answer({**place.scope, SCOPE_KEY: rendering}, place.body)

    def awaited(self, key: str) -> bool:
        """Tell whether anybody still waits for the key, a poll too."""
        return any(not future.done() for future in self.waiting(key))

    def stop(self) -> None:
        """Answer everybody 503: the process ends in order."""
        self.stopping = True
        for key in list(self.waiters):
            for future in self.waiting(key):
                if not future.done():
                    future.set_result("stopping")
        for queues in self.streams.values():
            for queue in queues:
                queue.put_nowait(None)

    def count(self) -> int:
        """Return how many callers wait."""
        return sum(len(self.waiting(key)) for key in self.waiters)


Waiting = asyncio.Future[str] | set[asyncio.Future[str]]
"""Who waits for a key: nearly always one alone, whom a set around would cost more than all else."""

hub = Hub()
announce.listen(hub.hear)


class WaitingLayer:
    """The outermost HTTP application: answers, or holds and answers later."""

    def __init__(
        self,
        respond: Callable[..., Awaitable[Answer]],
        call: Callable[[Callable[[], Any]], Awaitable[Any]],
        ahead: Callable[[Scope], bool] = lambda scope: False,
    ):
        """Take the way into Django (`respond(scope, body)`) and into the lane (`call(function)`).

        `ahead` tells which requests are light enough to be rendered with others in one turn of the lane.
        """
        self.respond = respond
        self.call = call
        self.ahead = ahead

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        body = await read_body(receive)
        if body is None:
            return
        answer = await self.respond(scope, body)
        if answer.deferral is not None:
            deferral = answer.deferral
            del answer
            later = await self.hold(scope, receive, body, deferral)
            if later is None:
                return
            answer = later
        if answer.stream is not None:
            await stream_events(answer, answer.stream, receive, send)
            return
        await send_answer(answer, send)

    async def hold(self, scope: Scope, receive: Receive, body: bytes, deferral: Deferral) -> Answer | None:
        """Wait, then render; None when the caller is gone."""
        may_be_ahead = self.ahead(scope)
        while True:
            place: asyncio.Future[str] = (
                Place(scope, body, deferral.subject) if may_be_ahead else asyncio.get_running_loop().create_future()
            )
            cause = await self.wait(scope, receive, deferral, place)
            if cause == "disconnect":
                return None
            if cause == "stopping":
                return stopping_answer(deferral.subject)
            ahead = place.ahead if isinstance(place, Place) and cause == "released" else None
            if ahead is not None and ahead.deferral is None:
                return ahead
            scope[SCOPE_KEY] = Rendering(
                subject=deferral.subject, cause="timeout" if cause == "timeout" else "released"
            )
            answer = await self.respond(scope, body)
            if answer.deferral is None:
                return answer
            # A wake-up that changed nothing for this caller: wait on.
            deferral = answer.deferral

    async def wait(self, scope: Scope, receive: Receive, deferral: Deferral, future: asyncio.Future[str]) -> str:
        """Return why the wait ended: released, timeout, stopping or disconnect."""
        if hub.stopping:
            return "stopping"
        unwatch = watch_gone(scope, receive, future)
        timer = clock().call_at(deferral.until_ms, lambda: None if future.done() else future.set_result("timeout"))
        for key in (deferral.key, *deferral.also):
            hub.sit(key, future)
        try:
            cause = await future
        finally:
            timer.cancel()
            unwatch()
            for key in (deferral.key, *deferral.also):
                hub.leave(key, future)
        act = deferral.on_hang_up
        if cause == "disconnect" and act is not None and not hub.stopping and not hub.awaited(deferral.key):
            await self.call(lambda: act(deferral.subject))
        return cause


def watch_gone(scope: Scope, receive: Receive, future: asyncio.Future[str]) -> Callable[[], object]:
    """End a wait as `disconnect` once the connection is gone; returns what ends the watching."""

    def hung_up(*_: Any) -> None:
        if not future.done():
            future.set_result("disconnect")

    on_gone = scope.get(ON_GONE)
    if on_gone is not None:
        on_gone(hung_up)
        return partial(on_gone, None)
    gone = asyncio.ensure_future(receive())
    gone.add_done_callback(hung_up)
    return gone.cancel


async def read_body(receive: Receive) -> bytes | None:
    """Return the whole body, or None when the caller is gone already."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)


async def send_answer(answer: Answer, send: Send) -> None:
    """Send a finished response."""
    headers = answer.headers
    if all(name.lower() != b"content-length" for name, _ in headers):
        headers.append((b"Content-Length", b"%d" % len(answer.body)))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


async def stream_events(answer: Answer, stream: Stream, receive: Receive, send: Send) -> None:
    """Send what the stream's key announces until the caller leaves, its right ends or the process stops."""
    queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    keys = (stream.key, *stream.ends)
    for key in keys:
        hub.streams.setdefault(key, set()).add(queue)
    gone = asyncio.ensure_future(receive())
    gone.add_done_callback(lambda task: queue.put_nowait(None))
    try:
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        await send({"type": "http.response.body", "body": answer.body, "more_body": True})
        while True:
            try:
                message = await asyncio.wait_for(queue.get(), HEARTBEAT_MS / 1000)
            except TimeoutError:
                await send({"type": "http.response.body", "body": b": still here\n\n", "more_body": True})
                continue
            if message is None or not set(stream.ends).isdisjoint(message["keys"]):
                break
            facts = stream.event(message)
            if facts is not None:
                text = f"event: {message['event']}\ndata: {json.dumps(facts)}\n\n"
                await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
        for key in keys:
            hub.streams[key].discard(queue)
            if not hub.streams[key]:
                del hub.streams[key]


def stopping_answer(subject: str) -> Answer:
    """Return the 503 of an orderly stop; it names what was waited for, which goes on after the restart."""
    sentence = "The server is restarting. Your request is kept; ask for its outcome in a moment."
    facts = {"ok": False, "code": "stopping", "error": sentence, "detail": sentence, "confirmation_id": subject}
    headers = [(b"Content-Type", b"application/json"), (b"Retry-After", b"5"), (b"Cache-Control", b"no-store")]
    if subject:
        headers.append((b"Location", f"/api/confirmations/{subject}".encode()))
    return Answer(status=503, headers=headers, body=json.dumps(facts).encode())
