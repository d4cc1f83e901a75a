"""Whole decisions per second with 50 in flight: ask over HTTP, card on the socket, tick, answer."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import websockets
from load import Line, connect, peer, request_bytes, sayso

IN_FLIGHT = 50
ROUNDS = 5

Asker = Callable[[int], bytes]


async def dialog(socket: Any) -> None:
    """Tick every card as soon as it appears."""
    async for text in socket:
        frame = json.loads(text)
        if frame["type"] == "card.shown":
            answer = {"type": "decide", "id": frame["card"]["id"], "decision": "approve", "acknowledged": True}
            answer |= {"digest": frame["card"].get("digest"), "nonce": frame.get("nonce")}
            await socket.send(json.dumps(answer))
        elif frame["type"] in ("decision.refused", "error"):
            raise RuntimeError(text)


async def decisions(
    port: int, ask: Asker, first: int, count: int, headers: dict[str, str], origin: str | None
) -> float:
    """Return whole decisions per second for requests number `first` and on."""
    url = f"ws://127.0.0.1:{port}/ws/confirmations/"
    async with websockets.connect(url, additional_headers=headers, origin=origin, compression=None) as socket:  # type: ignore[arg-type]
        ticking = asyncio.ensure_future(dialog(socket))
        lines = [await connect(port) for _ in range(IN_FLIGHT)]
        numbers = iter(range(first, first + count))

        async def drive(line: Line) -> None:
            for number in numbers:
                status, body = await line.send(ask(number))
                if status != 200 or b"denied" in body or b"error" in body:
                    raise RuntimeError(f"{status} {body[:300]!r}")

        begin = time.perf_counter()
        work = asyncio.gather(*(drive(line) for line in lines))
        done, _ = await asyncio.wait([work, ticking], return_when=asyncio.FIRST_COMPLETED)
        elapsed = time.perf_counter() - begin
        for future in done:
            future.result()
        ticking.cancel()
        for line in lines:
            assert line.transport is not None
            line.transport.close()
    return count / elapsed


def sayso_asker(facts: dict[str, Any]) -> Asker:
    """Return what asks to delete event number N; tokens take turns, ten open requests each."""
    tokens, events = facts["tokens"], facts["events"]

    def ask(number: int) -> bytes:
        body = {
            "session_id": "s1",
            "capability": "calendar",
            "action": "delete",
            "purpose": "bench",
            "item": events[number],
        }
        token = tokens[number % len(tokens)]
        headers = {"Authorization": f"Bearer {token}"}
        return request_bytes("POST", "/api/studio/mobile-calendar/request", body, headers)

    return ask


def main() -> None:
    """Measure Sayso, the naive build and the floor by turns."""
    count = 300 if "--quick" in sys.argv else 1500
    figures: dict[str, list[float]] = {"sayso": [], "naive": [], "bare": []}
    plain = request_bytes("POST", "/ask", {})
    with (
        sayso("asks", tokens=20, events=count * ROUNDS) as (port, _, facts),
        peer("naive") as (naive_port, _),
        peer("bare") as (bare_port, _),
    ):
        ask = sayso_asker(facts)
        headers = {"Cookie": f"sayso_session={facts['session']}"}
        origin = f"http://127.0.0.1:{port}"
        for turn in range(ROUNDS):
            figures["naive"].append(asyncio.run(decisions(naive_port, lambda _: plain, 0, count, {}, None)))
            figures["sayso"].append(asyncio.run(decisions(port, ask, turn * count, count, headers, origin)))
            figures["bare"].append(asyncio.run(decisions(bare_port, lambda _: plain, 0, count, {}, None)))
    middle = {name: statistics.median(values) for name, values in figures.items()}
    print(f"whole decisions, {IN_FLIGHT} in flight: " + ", ".join(f"{n} {v:.0f}/s" for n, v in middle.items()))
    print(f"sayso / naive = {middle['sayso'] / middle['naive']:.2f} (durable against nothing stored)")


main()
