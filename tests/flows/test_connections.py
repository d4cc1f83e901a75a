"""Answers leave at once, whole and in order, whatever the connection does next."""

import asyncio
from urllib.parse import urlsplit

import h11
import pytest


@pytest.fixture
async def line(server):
    """A raw connection: what to send, and the answers as they come."""
    parts = urlsplit(server.origin)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)

    async def exchange(*targets, close=False):
        asked = b"".join(head(target, parts.netloc, close=close and target == targets[-1]) for target in targets)
        writer.write(asked)
        return [await answer(reader, left) for _ in targets]

    left = bytearray()
    yield exchange, reader
    writer.close()


def head(target, host, *, close):
    ending = "Connection: close\r\n" if close else ""
    return f"GET {target} HTTP/1.1\r\nHost: {host}\r\n{ending}\r\n".encode()


async def answer(reader, left):
    """Read one response; what came of the next one stays in `left`."""
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    client.send(h11.EndOfMessage())
    if left:
        client.receive_data(bytes(left))
    status, body = 0, b""
    while True:
        event = client.next_event()
        if event is h11.NEED_DATA:
            client.receive_data(await reader.read(2**16))
        elif isinstance(event, h11.Response):
            status = event.status_code
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        else:
            left[:] = client.trailing_data[0]
            return status, body


async def test_large_and_small_ones_follow_each_other_on_one_connection(line):
    exchange, _ = line
    [(status, schema)] = await exchange("/api/schema/?format=json")
    assert (status, len(schema) > 2**17) == (200, True)
    assert [status for status, _ in await exchange("/healthz", "/api/schema/?format=json", "/healthz")] == [200] * 3


async def test_the_last_one_is_whole_before_the_connection_closes(line):
    exchange, reader = line
    answers = await exchange("/healthz", "/api/schema/?format=json", close=True)
    assert [status for status, _ in answers] == [200, 200]
    assert answers[1][1].rstrip().endswith(b"name: sayso_session")
    assert await reader.read() == b""
