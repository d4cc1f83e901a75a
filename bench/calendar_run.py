"""The phases of `bench/calendar.py` and what they print."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import repeat
from typing import Any

from calendar_file import event_lines, events, single_file, whole_file
from calendar_peers import Radicale, fresh_query, peer_rows, radicale, week_of
from icalendar import Calendar as Parsed
from load import PYTHON, ROOT, connect, median_ms, request_bytes, sayso, served

EVENTS = 10_000
WRITES_A_TOKEN = 15
GAP_S = 0.1
Span = tuple[float, float]
PARSE = """import sys, time, icalendar
data = open(sys.argv[1], "rb").read()
begin = time.perf_counter()
icalendar.Calendar.from_ical(data)
print(time.perf_counter() - begin)"""


def file_request(profile: dict[str, Any], data: bytes) -> bytes:
    """Return the request that imports a file."""
    lines = [
        f"POST /api/calendars/{profile['calendar']}/import HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {profile['tokens'][0]}",
        "Content-Type: text/calendar",
        f"Content-Length: {len(data)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


async def ask(port: int, request: bytes) -> tuple[float, bytes]:
    """Send one request on a connection of its own; returns seconds and the body."""
    line = await connect(port)
    begin = time.perf_counter()
    status, body = await line.send(request)
    took = time.perf_counter() - begin
    assert line.transport is not None
    line.transport.close()
    if not 200 <= status < 300 or status == 202:
        raise RuntimeError(f"{status} {body[:300]!r}")
    return took, body


async def imported(port: int, profile: dict[str, Any], data: bytes) -> float:
    """Import the file and check that all of it came in."""
    took, body = await ask(port, file_request(profile, data))
    report = json.loads(body)
    if report["added"] != EVENTS or report["skipped_count"]:
        raise RuntimeError(f"{report['added']} added, {report['skipped_count']} skipped")
    return took


def new_events(tokens: list[str]) -> Iterator[bytes]:
    """Yield requests that write one event each, by another token before one has written too much in a minute."""
    start_ms = int(time.time() * 1000) + 86_400_000
    for number in range(WRITES_A_TOKEN * len(tokens)):
        begin_ms = start_ms + number * 60_000
        item = {"title": f"Written {number}", "start_ms": begin_ms, "end_ms": begin_ms + 1_800_000}
        headers = {"Authorization": f"Bearer {tokens[number // WRITES_A_TOKEN]}"}
        yield request_bytes("POST", "/api/calendars/events", item, headers)
    raise RuntimeError("not enough tokens")


async def watch(gaps: list[Span], stop: asyncio.Event) -> None:
    """Note when this process itself was kept from running: what was under way then says nothing of the server."""
    last = time.perf_counter()
    while not stop.is_set():
        await asyncio.sleep(0.01)
        now = time.perf_counter()
        if now - last > GAP_S:
            gaps.append((last, now))
        last = now


async def foreign(port: int, requests: Iterator[bytes], pause_s: float, stop: asyncio.Event) -> list[Span]:
    """Send requests of another person until told to stop; returns when each began and ended."""
    line = await connect(port)
    took: list[Span] = []
    while not stop.is_set():
        begin = time.perf_counter()
        status, body = await line.send(next(requests))
        took.append((begin, time.perf_counter()))
        if status not in (200, 201):
            raise RuntimeError(f"{status} {body[:300]!r}")
        await asyncio.sleep(pause_s)
    assert line.transport is not None
    line.transport.close()
    return took


def week_requests(token: str) -> Iterator[bytes]:
    """Yield requests that list another person's week."""
    start_ms = int(time.time() * 1000)
    path = f"/api/calendars/events?start_ms={start_ms}&end_ms={start_ms + 7 * 86_400_000}"
    return repeat(request_bytes("GET", path, None, {"Authorization": f"Bearer {token}"}))


async def import_among_others(
    port: int, profile: dict[str, Any] | None, token: str, writes: Iterator[bytes], data: bytes
) -> tuple[float, list[float], list[float]]:
    """Import while somebody else reads and writes; without a profile only the others, for comparison."""
    stop = asyncio.Event()
    gaps: list[Span] = []
    watching = asyncio.ensure_future(watch(gaps, stop))
    others = [
        asyncio.ensure_future(foreign(port, week_requests(token), 0.02, stop)),
        asyncio.ensure_future(foreign(port, writes, 0.05, stop)),
    ]
    took = 0.0
    if profile is None:
        await asyncio.sleep(4)
    else:
        took = await imported(port, profile, data)
    stop.set()
    read, written = await asyncio.gather(*others)
    await watching
    kept = undisturbed(read, gaps), undisturbed(written, gaps)
    if out := len(read) + len(written) - len(kept[0]) - len(kept[1]):
        print(f"  ({out} requests left out: this process itself did not run meanwhile)")
    return took, *kept


def undisturbed(spans: list[Span], gaps: list[Span]) -> list[float]:
    """Return the seconds of those requests during which this process ran."""
    return [end - begin for begin, end in spans if not any(begin < until and end > since for since, until in gaps)]


def percentile_ms(values: list[float], hundredth: int) -> float:
    """Return a percentile of seconds, in milliseconds."""
    return statistics.quantiles(values, n=100, method="inclusive")[hundredth - 1] * 1000


def parse_alone(path: str) -> float:
    """Return how long a fresh process needs for the bare parse of a file."""
    done = subprocess.run([PYTHON, "-c", PARSE, path], stdout=subprocess.PIPE, check=True)
    return float(done.stdout)


def measure_imports(port: int, facts: dict[str, Any], data: bytes, repeats: int) -> None:
    """Import beside the bare parse, then with others at work."""
    path = f"{facts['folder']}/bench.ics"
    with open(path, "wb") as file:
        file.write(data)
    bare, own = [], []
    for number in range(repeats):
        bare.append(parse_alone(path))
        own.append(asyncio.run(imported(port, facts["profiles"][number], data)))
    a, b = statistics.median(own), statistics.median(bare)
    print(f"import of {EVENTS} events over HTTP: {a:.2f} s, bare icalendar parse {b:.2f} s, ratio {a / b:.2f}")
    token, supply = facts["other"][0], new_events(facts["other"][1:])
    _, reads, writes = asyncio.run(import_among_others(port, None, token, supply, data))
    print(f"  others alone: read p50 {median_ms(reads):.1f} p99 {percentile_ms(reads, 99):.1f} ms", end="")
    print(f", write p50 {median_ms(writes):.1f} p99 {percentile_ms(writes, 99):.1f} ms")
    took, reads, writes = asyncio.run(import_among_others(port, facts["profiles"][repeats], token, supply, data))
    print(f"  others during an import of {took:.2f} s: read p50 {median_ms(reads):.1f}", end="")
    print(f" p99 {percentile_ms(reads, 99):.1f} max {max(reads) * 1000:.1f} ms ({len(reads)}), write", end="")
    print(f" p50 {median_ms(writes):.1f} p99 {percentile_ms(writes, 99):.1f}", end="")
    print(f" max {max(writes) * 1000:.1f} ms ({len(writes)})")


def measure_writes(port: int, facts: dict[str, Any], other: Radicale, count: int) -> None:
    """Write one event over HTTP, by turns with Radicale's PUT."""
    requests = new_events(facts["profiles"][0]["tokens"][1:-1])
    own, peer = [], []
    for number in range(count):
        lines = event_lines(EVENTS + 1 + 10 * number, chance=random.Random(number))
        peer.append(other.put(f"written-{number}", single_file(lines)))
        own += [asyncio.run(ask(port, next(requests)))[0] for _ in range(5)]
    a, b = median_ms(own), median_ms(peer)
    print(f"writing one event over HTTP: {a:.1f} ms, Radicale PUT {b:.0f} ms, ratio {b / a:.0f}")


def reads_process(env: dict[str, str], *arguments: str) -> Any:
    """Run `calendar_reads.py` in a fresh process."""
    command = [PYTHON, str(ROOT / "bench/calendar_reads.py"), *arguments]
    done = subprocess.run(command, env={**os.environ, **env}, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure_reads(facts: dict[str, Any], other: Radicale, rounds: int, reports: int) -> None:
    """Read a week with a change before every read."""
    profile, env = facts["profiles"][0], facts["env"]
    firsts = {what: [reads_process(env, what, profile["profile"]) for _ in range(3)] for what in ("first", "values")}
    found = reads_process(env, "rounds", profile["profile"], profile["calendar"], profile["tokens"][-1], str(rounds))
    other.report()
    reported = [other.report()[0] for _ in range(reports)]
    own, values, warm = (median_ms(found["took"][name]) for name in ("sayso", "values", "warm"))
    report = median_ms(reported)
    print(f"a week of {found['occurrences']} occurrences, {found['checked']} reads, a change before each, all equal:")
    print(f"  sayso {own:.2f} ms; Radicale REPORT {report:.0f} ms, ratio {report / own:.0f}", end="")
    print(f"; warm recurring-ical-events {warm:.0f} ms, ratio {warm / own:.1f}; .values() {values:.2f} ms", end="")
    print(f", {own / values:.2f} times that")
    first, first_values = median_ms(firsts["first"]), median_ms(firsts["values"])
    print(f"  first read of a fresh process {first:.1f} ms (.values() {first_values:.1f} ms", end="")
    print(f", {first / first_values:.2f} times that); REPORT ratio {report / first:.0f}, warm {warm / first:.1f}")
    print(f"  a change through the room's actions {median_ms(found['took']['change']):.1f} ms")


def stored_count(folder: str) -> int:
    """Return how many objects a server has stored, asked beside it."""
    link = sqlite3.connect(f"file:{folder}/sayso.sqlite3?mode=ro", uri=True, timeout=20)
    try:
        return int(link.execute("select count(*) from calendars_calendarobject where uid like 'event-%'").fetchone()[0])
    finally:
        link.close()


async def killed_import(port: int, process: subprocess.Popen[bytes], facts: dict[str, Any], data: bytes) -> int:
    """Kill the server without warning once a part of the file is in; returns how many objects were stored."""
    importing = asyncio.ensure_future(ask(port, file_request(facts["profiles"][0], data)))
    while not importing.done() and stored_count(facts["folder"]) < EVENTS // 3:
        await asyncio.wait([importing], timeout=0.02)
    process.kill()
    process.wait()
    try:
        await importing
    except ConnectionError:
        return stored_count(facts["folder"])
    raise RuntimeError("the import ended before the kill")


def kill_in_the_middle(data: bytes) -> None:
    """Kill, start again, import again: the export is the file."""
    with sayso("calendar") as (port, process, facts):
        profile = facts["profiles"][0]
        stored = asyncio.run(killed_import(port, process, facts, data))
        with served([PYTHON, "manage.py", "serve"], port, facts["env"]):
            report = json.loads(asyncio.run(ask(port, file_request(profile, data)))[1])
            headers = {"Authorization": f"Bearer {profile['tokens'][0]}"}
            path = f"/api/calendars/{profile['calendar']}/export.ics"
            _, export = asyncio.run(ask(port, request_bytes("GET", path, None, headers)))
    file, exported = Parsed.from_ical(data), Parsed.from_ical(export)
    wanted, found = (sorted(str(e["UID"]) for e in each.walk("VEVENT")) for each in (file, exported))
    weeks = [peer_rows(week_of(fresh_query(each))) for each in (file, exported)]
    if wanted != found or weeks[0] != weeks[1] or report["added"] + stored != EVENTS:
        raise RuntimeError(f"after the kill: {stored} + {report['added']}, {len(found)} of {len(wanted)} exported")
    print(f"kill -9 after {stored} of {EVENTS}: the second import added {report['added']}, left", end="")
    print(f" {report['unchanged']} as they were; the export is the file", end="")
    print(f" ({len(found)} UIDs, {len(weeks[1])} occurrences in the week)")


def main() -> None:
    """Run every phase, or those that are named: import, read, write, kill."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    quick = "--quick" in sys.argv
    chosen = {each for each in sys.argv[1:] if each != "--quick"} or {"import", "read", "write", "kill"}
    repeats = 1 if quick else 3
    data = whole_file(EVENTS).encode()
    with contextlib.ExitStack() as stack:
        if chosen - {"kill"}:
            port, _, facts = stack.enter_context(sayso("calendar", profiles=repeats + 1))
        if "import" in chosen:
            measure_imports(port, facts, data, repeats)
        elif chosen & {"read", "write"}:
            asyncio.run(imported(port, facts["profiles"][0], data))
        if chosen & {"read", "write"}:
            other = stack.enter_context(radicale())
            first = other.fill(single_file(lines) for lines in events(EVENTS))
            print(f"(the first REPORT, which builds Radicale's cache: {first:.0f} s)", flush=True)
        if "read" in chosen:
            measure_reads(facts, other, 6 if quick else 30, 1 if quick else 5)
        if "write" in chosen:
            measure_writes(port, facts, other, 3 if quick else 20)
    if "kill" in chosen:
        kill_in_the_middle(data)
