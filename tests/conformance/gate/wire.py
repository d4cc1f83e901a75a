"""HTTP over a socket of its own for every request, as agents and browsers speak it."""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import h11

_tags = count(1)


def new_tag() -> str:
    """Return a mark by which the server's side recognises a connection."""
    return f"t{next(_tags)}"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A whole response."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known.lower() == name.lower()), None)

    def cookies(self) -> dict[str, str]:
        pairs = [value.split(";")[0].partition("=") for name, value in self.headers if name.lower() == "set-cookie"]
        return {name: value for name, _, value in pairs}

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    @property
    def json(self) -> Any:
        """Return the body as JSON, None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


@dataclass(kw_only=True)
class Request:
    """One request; `answer` stays None when the connection ended without one."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    tag: str = field(default_factory=new_tag)
    answer: Answer | None = None
    task: asyncio.Task[None] | None = None
    writer: asyncio.StreamWriter | None = None
    hung_up: bool = False

    async def send(self, origin: str) -> None:
        """Send it; the answer is read in the background."""
        parts = urlsplit(origin)
        reader, self.writer = await asyncio.open_connection(parts.hostname, parts.port)
        client = h11.Connection(h11.CLIENT)
        headers = {"host": parts.netloc, "connection": "close", "x-story-tag": self.tag, **self.headers}
        if self.body or self.method in ("POST", "PUT", "PATCH"):
            headers["content-length"] = str(len(self.body))
        head = h11.Request(method=self.method, target=self.path, headers=list(headers.items()))
        self.writer.write(client.send(head) or b"")
        if self.body:
            self.writer.write(client.send(h11.Data(data=self.body)) or b"")
        self.writer.write(client.send(h11.EndOfMessage()) or b"")
        await self.writer.drain()
        self.task = asyncio.create_task(self.read(reader, client))

    async def read(self, reader: asyncio.StreamReader, client: h11.Connection) -> None:
        head: h11.Response | None = None
        body = b""
        try:
            while True:
                event = client.next_event()
                if event is h11.NEED_DATA:
                    client.receive_data(await reader.read(2**16))
                elif isinstance(event, h11.Response):
                    head = event
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                else:
                    break
        except (ConnectionError, h11.RemoteProtocolError):
            return
        finally:
            await self.close()
        if head is not None:
            pairs = tuple((name.decode("latin1"), value.decode("latin1")) for name, value in head.headers.raw_items())
            self.answer = Answer(status=head.status_code, headers=pairs, body=body)

    async def done(self) -> Answer | None:
        """Wait for the answer, or for the end of the connection."""
        if self.task is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self.task
        return self.answer

    async def hang_up(self) -> None:
        """Close the connection without waiting for the answer."""
        self.hung_up = True
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait([self.task])

    async def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
            with contextlib.suppress(ConnectionError):
                await self.writer.wait_closed()


async def fetch(
    origin: str, method: str, path: str, *, headers: dict[str, str] | None = None, body: bytes = b""
) -> Answer:
    """Send a request and return its answer."""
    request = Request(method=method, path=path, headers=headers or {}, body=body)
    await request.send(origin)
    answer = await request.done()
    assert answer is not None, f"{method} {path} got no answer"
    return answer
