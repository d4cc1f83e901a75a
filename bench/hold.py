"""What 10,000 waiting requests cost, and how long a release takes while they wait."""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import statistics
import sys
import time
from typing import Any

import websockets
from load import Line, connect, cpu_s, memory_kib, peer, request_bytes, sayso, threads

WAVE = 100
RELEASES = 200


async def hold(port: int, requests: list[bytes], lines: dict[int, Line], first: int) -> None:
    """Send requests that will wait, a wave at a time, and give each wave the time to be stored."""
    for begin in range(0, len(requests), WAVE):
        for offset, request in enumerate(requests[begin : begin + WAVE]):
            line = await connect(port)
            line.send(request)
            lines[first + begin + offset] = line
        await asyncio.sleep(0)


async def settled(count: Any, wanted: int) -> None:
    """Return once the server says that so many wait."""
    end = time.monotonic() + 240
    while await count() < wanted:
        if time.monotonic() > end:
            raise RuntimeError("not all requests came to wait")
        await asyncio.sleep(0.2)


async def release(socket: Any, lines: dict[int, Line], cards: dict[int, dict[str, Any]], count: int) -> list[float]:
    """Decide random cards, one after the other; returns seconds from the frame to the caller's answer."""
    took = []
    for number in random.sample(sorted(lines), count):
        line = lines.pop(number)
        frame = json.dumps({"type": "decide", "decision": "approve", "acknowledged": True, **cards[number]})
        begin = time.perf_counter()
        await socket.send(frame)
        assert line.answer is not None
        status, body = await line.answer
        took.append(time.perf_counter() - begin)
        if status != 200 or b"error" in body:
            raise RuntimeError(f"{status} {body[:200]!r}")
        assert line.transport is not None
        line.transport.close()
    return took


async def reading(socket: Any, cards: dict[int, dict[str, Any]]) -> None:
    """Keep every card that the socket shows, by the number in its title."""
    async for text in socket:
        frame = json.loads(text)
        if frame["type"] == "card.shown":
            card = frame["card"]
            title = card.get("facts", {}).get("title") or card["id"]
            number = int(str(title).rpartition(" ")[2])
            cards[number] = {"id": card["id"], "digest": card.get("digest"), "nonce": frame.get("nonce")}
        elif frame["type"] in ("decision.refused", "error"):
            raise RuntimeError(text)


async def measure(
    port: int, pid: int, make: Any, total: int, headers: dict[str, str], origin: str | None, idle_s: float
) -> dict[str, Any]:
    """Hold 100 and release, hold all and release; returns the figures."""
    lines: dict[int, Line] = {}
    cards: dict[int, dict[str, Any]] = {}
    url = f"ws://127.0.0.1:{port}/ws/confirmations/"
    figures: dict[str, Any] = {}
    options: dict[str, Any] = {"additional_headers": headers, "origin": origin, "compression": None, "max_size": None}
    async with websockets.connect(url, ping_interval=None, **options) as socket:
        reader = asyncio.ensure_future(reading(socket, cards))

        async def shown() -> int:
            if reader.done():
                reader.result()
            return len(cards)

        warm = RELEASES + 100
        await hold(port, [make(n) for n in range(warm)], lines, 0)
        await settled(shown, warm)
        figures["release_100"] = await release(socket, lines, cards, RELEASES)
        before = memory_kib(pid)
        held = len(lines)
        await hold(port, [make(n) for n in range(warm, warm + total - held)], lines, warm)
        await settled(shown, warm + total - held)
        await asyncio.sleep(5)
        figures["kib_per_waiter"] = (memory_kib(pid) - before) / (total - held)
        figures["threads"] = threads(pid)
        links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        figures["databases"] = sum(link.endswith("sayso.sqlite3") for link in links)
        used = cpu_s(pid)
        await asyncio.sleep(idle_s)
        figures["idle_cpu"] = (cpu_s(pid) - used) / idle_s
        figures["release_all"] = await release(socket, lines, cards, RELEASES)
        reader.cancel()
    for line in lines.values():
        line.answer = None
        assert line.transport is not None
        line.transport.abort()
    return figures


def main() -> None:
    """Measure Sayso and the floor in one run."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    total, idle_s = (2000, 3.0) if "--quick" in sys.argv else (10_000, 20.0)
    with sayso("asks", tokens=total // 9 + 40, events=total + 2 * RELEASES + 200) as (port, process, facts):
        tokens, events = facts["tokens"], facts["events"]

        def make(number: int) -> bytes:
            body = {"session_id": "s1", "capability": "calendar", "action": "delete", "purpose": "hold"}
            body["item"] = events[number]
            headers = {"Authorization": f"Bearer {tokens[number % len(tokens)]}"}
            return request_bytes("POST", "/api/studio/mobile-calendar/request", body, headers)

        cookie = {"Cookie": f"sayso_session={facts['session']}"}
        ours = asyncio.run(measure(port, process.pid, make, total, cookie, f"http://127.0.0.1:{port}", idle_s))
    with peer("bare") as (bare_port, bare_process):
        floor = asyncio.run(
            measure(bare_port, bare_process.pid, lambda n: request_bytes("POST", f"/ask/{n}", {}), total, {}, None, 2.0)
        )
    for name, found in (("sayso", ours), ("bare ASGI", floor)):
        few, many = (statistics.median(found[key]) * 1000 for key in ("release_100", "release_all"))
        print(
            f"{name}: {found['kib_per_waiter']:.1f} KiB a waiter, {found['threads']} threads,"
            f" {found['databases']} database connections, idle CPU {found['idle_cpu'] * 100:.2f} %,"
            f" release {few:.2f} ms at 100, {many:.2f} ms at {total}"
        )
    ratio = statistics.median(ours["release_all"]) / statistics.median(floor["release_all"])
    print(f"release, sayso / bare = {ratio:.2f}")


if __name__ == "__main__":
    main()
