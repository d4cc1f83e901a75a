"""Captures against a raw insert and commit on the same database (`synchronous=FULL`), with up to a million rows.

`bench/captures.py [--quick] [rate] [http] [flat] [project]`; all parts unless some are named.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

QUICK = "--quick" in sys.argv
ROUNDS = 3 if QUICK else 7
CALLERS = 50
TEXT = "[user]\nWhat did we decide about the garden?\n\n[assistant]\n" + "We plant beans along the fence. " * 30
_numbers = count(1)


def body() -> dict[str, Any]:
    """Return a capture that nobody sent yet: a Hermes turn of 1 KB with its declaration."""
    from apps.captures.rules import declare, metadata_of

    coverage = declare(projection="hermes-turn-text.v1", losses=())
    name = f"hermes-turn:{os.urandom(12).hex()}"
    metadata = metadata_of(kind="hermes-turn", session_id=f"s{next(_numbers)}", coverage=coverage)
    return {"scope_id": "bench", "source_id": name, "content": TEXT, "metadata": metadata}


def raw(file: Path, times: int) -> float:
    """Insert one row and commit, so many times; return commits a second."""
    with closing(sqlite3.connect(file, isolation_level=None)) as link:
        link.execute("pragma synchronous = full")
        link.execute("create table if not exists bench_raw (id text primary key, text text, data blob)")
        data = TEXT.encode()
        begin = time.perf_counter()
        for _ in range(times):
            link.execute("begin immediate")
            link.execute("insert into bench_raw values (?, ?, ?)", (os.urandom(16).hex(), TEXT[:100], data))
            link.execute("commit")
        return times / (time.perf_counter() - begin)


class Room:
    """The captures room on a database of its own in this process, called as its endpoint calls it."""

    def __init__(self, folder: str) -> None:
        """Make the tables, a person and a token."""
        from fill import people

        from apps.accounts.queries import caller_of_token
        from apps.core.values import now_ms

        found = caller_of_token(secret=people()["token"], now_ms=now_ms())
        assert found is not None
        self.by = found[0]
        self.bodies: list[dict[str, Any]] = []
        self.file = Path(folder) / "sayso.sqlite3"

    async def send(self, _: object = None) -> None:
        """Capture one text through the lane."""
        from apps.captures.actions.capturing import capture
        from apps.captures.rules import check_request
        from apps.core.threads import lane
        from apps.core.values import now_ms

        request = check_request(self.bodies.pop() if self.bodies else body())
        call = partial(capture, by=self.by, request=request, now_ms=now_ms())
        outcome = await lane.run(call, grouped=True)
        assert outcome.name == "created"


async def alone(send: Callable[[object], Awaitable[None]], times: int) -> float:
    """Return captures a second of one caller."""
    begin = time.perf_counter()
    for _ in range(times):
        await send(None)
    return times / (time.perf_counter() - begin)


async def together(send: Callable[[object], Awaitable[None]], times: int) -> float:
    """Return captures a second of fifty callers, each of which waits for its answer."""
    left = iter(range(times))

    async def drive() -> None:
        for _ in left:
            await send(None)

    begin = time.perf_counter()
    await asyncio.gather(*(drive() for _ in range(CALLERS)))
    return times / (time.perf_counter() - begin)


def told(name: str, figures: dict[str, list[float]]) -> None:
    """Print the medians and the medians of the ratios within each round."""
    middle = {key: statistics.median(values) for key, values in figures.items()}
    one = statistics.median(o / r for o, r in zip(figures["one"], figures["raw"], strict=True))
    fifty = statistics.median(f / r for f, r in zip(figures["fifty"], figures["raw"], strict=True))
    shown = ", ".join(f"{key} {value:.0f}/s" for key, value in middle.items())
    print(f"{name}: {shown}; one / raw = {one:.2f} (wanted 0.25), fifty / raw = {fifty:.1f} (wanted 2)")


def rate(room: Room) -> None:
    """Compare the room itself with raw commits."""
    figures: dict[str, list[float]] = {"raw": [], "one": [], "fifty": []}
    for _ in range(ROUNDS):
        figures["raw"].append(raw(room.file, 200))
        # What callers send is theirs to make.
        room.bodies = [body() for _ in range(2_200)]
        figures["one"].append(asyncio.run(alone(room.send, 200)))
        figures["fifty"].append(asyncio.run(together(room.send, 2_000)))
    told("in the lane", figures)


def http() -> None:
    """Compare whole requests to a server with raw commits on its database."""
    from load import connect, request_bytes, sayso

    async def measure(port: int, token: str) -> tuple[float, float]:
        lines = [await connect(port) for _ in range(CALLERS)]

        async def send(line: Any) -> None:
            headers = {"Authorization": f"Bearer {token}"}
            status, answer = await line.send(request_bytes("POST", "/api/captures/sources", body(), headers))
            assert status == 201, answer

        async def send_on_any(_: object) -> None:
            line = lines.pop()
            await send(line)
            lines.append(line)

        return await alone(send_on_any, 200), await together(send_on_any, 1_500)

    figures: dict[str, list[float]] = {"raw": [], "one": [], "fifty": []}
    with sayso("api") as (port, _, facts):
        for _ in range(ROUNDS):
            figures["raw"].append(raw(Path(facts["folder"]) / "sayso.sqlite3", 200))
            one, fifty = asyncio.run(measure(port, facts["token"]))
            figures["one"].append(one)
            figures["fifty"].append(fifty)
    told("over HTTP", figures)


def flat(room: Room) -> None:
    """Compare the cost of a capture in a scope of 1,000 rows with that in one of 1,000,000."""
    sizes = (1_000, 100_000) if QUICK else (1_000, 100_000, 1_000_000)
    first = 0.0
    for size in sizes:
        grow(room, size)
        asyncio.run(together(room.send, 500))
        costs = []
        for _ in range(ROUNDS):
            begin = time.process_time_ns()
            speed = asyncio.run(together(room.send, 500))
            costs.append((1e6 / speed, (time.process_time_ns() - begin) / 500 / 1e3))
        wall, busy = (statistics.median(column) for column in zip(*costs, strict=True))
        first = first or wall
        print(
            f"{size:,} rows: {wall:.0f} us a capture ({busy:.0f} us of it computing), {wall / first:.2f} of the first"
        )


def grow(room: Room, size: int) -> None:
    """Fill the scope up to so many rows, the way rows look that were captured."""
    from django.db import transaction

    from apps.captures.models import Scope, Source
    from apps.captures.rules import check_request, payload_of
    from apps.core import rows
    from apps.core.values import new_id, now_ms

    asyncio.run(room.send())
    scope = Scope.objects.get(name="bench")
    while scope.head < size:
        made = []
        for position in range(scope.head + 1, min(size, scope.head + 20_000) + 1):
            request = check_request({**body(), "content": f"[user]\nline {position}\n\n[assistant]\nyes"})
            payload = payload_of(request)
            values = {"payload": payload.data, "payload_sha256": payload.sha256, "metadata": "{}"}
            named = {"id": new_id(), "created_at_ms": now_ms(), "source_id": request.source_id, "position": position}
            owned = {"profile_id": room.by.profile_id, "scope_id": scope.pk, "captured_by": "bench"}
            made.append(rows.fresh(Source, **named, **owned, **values))
        with transaction.atomic():
            rows.insert_all(Source, made)
            scope.head = made[-1].position
            scope.save()


def project() -> None:
    """Measure a gateway turn of 64 KiB, in time on the processor."""
    from captures_rules import milliseconds, turn

    from apps.captures.rules import project_gateway_turn

    for name, exchange in {"large results": turn(65_000, 8_000), "small results": turn(64_000, 100)}.items():
        median, best = milliseconds(lambda exchange=exchange: project_gateway_turn(exchange), 300)  # type: ignore[misc]
        print(f"projecting a 64 KiB turn, {name}: {median:.2f} ms, best {best:.2f} ms (wanted under 2)")


def main() -> None:
    """Run the parts that are named, or all."""
    wanted = {word for word in sys.argv[1:] if not word.startswith("--")} or {"rate", "http", "flat", "project"}
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        os.environ["SAYSO_DATA_DIR"] = folder
        os.environ["SAYSO_LOG_LEVEL"] = "ERROR"
        if wanted & {"rate", "flat"}:
            import fill  # noqa: F401 (sets Django up on the folder)
            from django.core.management import call_command

            call_command("migrate", verbosity=0)
            room = Room(folder)
            if "rate" in wanted:
                rate(room)
            if "flat" in wanted:
                flat(room)
        if "http" in wanted:
            http()
        if "project" in wanted:
            project()


main()
