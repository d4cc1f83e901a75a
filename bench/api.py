"""Requests per second of an authenticated list of 50 and of a small authenticated GET, against stock DRF."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time

from load import connect, peer, request_bytes, sayso

LINES = 32
ROUNDS = 5


async def rate(port: int, request: bytes, seconds: float) -> float:
    """Return requests per second over 32 keep-alive connections."""
    lines = [await connect(port) for _ in range(LINES)]
    end = time.monotonic() + seconds
    count = 0

    async def drive(line: object) -> None:
        nonlocal count
        while time.monotonic() < end:
            status, _ = await line.send(request)  # type: ignore[attr-defined]
            if status != 200:
                raise RuntimeError(f"status {status}")
            count += 1

    begin = time.monotonic()
    await asyncio.gather(*(drive(line) for line in lines))
    elapsed = time.monotonic() - begin
    for line in lines:
        assert line.transport is not None
        line.transport.close()
    return count / elapsed


def main() -> None:
    """Measure both servers by turns."""
    seconds = 1.0 if "--quick" in sys.argv else 4.0
    with sayso("api") as (port, _, facts), tempfile.TemporaryDirectory() as folder:
        os.environ["BENCH_ROWS_DB"] = f"{facts['folder']}/sayso.sqlite3"
        os.environ["BENCH_PEER_DB"] = f"{folder}/peer.sqlite3"
        with peer("stock_drf") as (stock_port, _):
            ours = {"Authorization": f"Bearer {facts['token']}"}
            stock = {"Authorization": "Token benchbenchbenchbenchbenchbenchbenchbench"}
            for name, path in (("list of 50", "/api/sessions"), ("small GET", "/api/sessions/s7")):
                figures: dict[str, list[float]] = {"sayso": [], "stock": []}
                for _ in range(ROUNDS):
                    figures["stock"].append(
                        asyncio.run(rate(stock_port, request_bytes("GET", path, None, stock), seconds))
                    )
                    figures["sayso"].append(asyncio.run(rate(port, request_bytes("GET", path, None, ours), seconds)))
                a, b = statistics.median(figures["sayso"]), statistics.median(figures["stock"])
                print(f"{name}: sayso {a:.0f}/s, stock DRF {b:.0f}/s, ratio {a / b:.2f}")


main()
