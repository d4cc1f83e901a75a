"""Sixteen processes write one scope for a minute: positions contiguous, no duplicates, replays stable.

`tests/backends.py bench/captures_writers.py [--quick]` for PostgreSQL, by itself on SQLite. It uses a database of its
own; each writer captures texts of its own and such as all the others send too, and repeats what it sent before.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from own_database import own_database

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

WRITERS = 16
SECONDS = 8 if "--quick" in sys.argv else 60
TIMEOUT_S = 600


def write(number: int, secret: str) -> None:
    """Capture until the moment that a line on stdin names, then print the position of each source id."""
    import fill  # noqa: F401 (sets Django up)

    from apps.accounts.queries import caller_of_token
    from apps.captures.actions.capturing import capture
    from apps.captures.rules import check_request
    from apps.core.values import now_ms

    found = caller_of_token(secret=secret, now_ms=now_ms())
    assert found is not None
    places: dict[str, int] = {}
    counts = {"created": 0, "replayed": 0}
    chance = random.Random(number)
    step = 0
    print("ready", flush=True)
    until_s = float(sys.stdin.readline())
    while time.time() < until_s:
        step += 1
        known = [f"own:{number}:{chance.randrange(step)}", f"shared:{chance.randrange(step)}"]
        source_id = chance.choice([f"own:{number}:{step}", f"shared:{step}", *known])
        body = {"scope_id": "main", "source_id": source_id, "content": f"text of {source_id}"}
        outcome = capture(by=found[0], request=check_request(body), now_ms=now_ms())
        counts[outcome.name] += 1
        if places.setdefault(source_id, outcome.position) != outcome.position:
            raise RuntimeError(f"{source_id} moved from {places[source_id]} to {outcome.position}")
    print(json.dumps({"places": places, "counts": counts}))


def run() -> None:
    """Start the writers on the database that is set, then compare their answers with what is stored."""
    import fill
    from django.core.management import call_command

    from apps.captures.models import Scope, Source

    call_command("migrate", verbosity=0)
    secret = fill.people()["token"]
    command = [sys.executable, __file__, "writer"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([*command, str(number), secret], **pipes) for number in range(WRITERS)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    until = f"{time.time() + SECONDS}\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(until)
        writer.stdin.flush()
    told = [json.loads(writer.communicate(timeout=TIMEOUT_S)[0]) for writer in writers]
    stored = dict(Source.objects.values_list("source_id", "position"))
    created = sum(one["counts"]["created"] for one in told)
    replayed = sum(one["counts"]["replayed"] for one in told)
    assert sorted(stored.values()) == list(range(1, len(stored) + 1)), "positions are not contiguous"
    assert Scope.objects.get().head == len(stored) == created, "something was stored twice or not at all"
    for one in told:
        assert one["places"].items() <= stored.items(), "an answer differs from what is stored"
    print(f"{WRITERS} writers, {SECONDS} s: {created} captured, {replayed} replayed, contiguous, each once, all stable")


def main() -> None:
    """Make a database, run, and remove it."""
    if "writer" in sys.argv:
        number, secret = sys.argv[-2:]
        write(int(number), secret)
        return
    with own_database():
        run()


main()
