"""One measurement of `bench/sessions.py` in a process of its own: `sessions_run.py NAME OPTIONS-JSON`, prints JSON."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402

from apps.accounts.actions import create_profile  # noqa: E402
from apps.accounts.models import User  # noqa: E402
from apps.accounts.queries import owner_of, workspace_of  # noqa: E402
from apps.accounts.rules import Caller  # noqa: E402
from apps.core.threads import lane  # noqa: E402
from apps.sessions.actions import create_session  # noqa: E402
from apps.sessions.actions.appending import append_events, append_soon  # noqa: E402
from apps.sessions.actions.storing import store_log  # noqa: E402
from apps.sessions.models import Session  # noqa: E402
from apps.sessions.queries.ground import StoredGround  # noqa: E402
from apps.sessions.queries.log import load_state, surface_nodes, surface_page  # noqa: E402
from apps.sessions.rules.price import shadowed_price  # noqa: E402
from apps.sessions.rules.removal import removal_events  # noqa: E402
from apps.sessions.rules.removal_plan import plan_removal, target_by_turn  # noqa: E402
from apps.sessions.rules.validator import Survey  # noqa: E402

APPENDERS = 50
BATCH = 100
TURN = 6
COMPACTED_EVERY = 40
WORDS = "Please look at what was said about the figures of last month and tell me where they come from. " * 2
HEADER = {"version": 4, "createdAt": 0, "isSeeded": False, "delegationDepth": 0}
RAW_TABLE = """
create table event (id integer primary key, session_id varchar(32), seq bigint, type varchar(64), time_ms bigint,
  turn integer, body text, unique (session_id, seq))
"""
RAW = "insert into event (session_id, seq, type, time_ms, turn, body) values (?, ?, ?, ?, ?, ?)"
Event = dict[str, Any]


def message(turn: int, kind: str, role: str, source: dict[str, str], /, **place: int) -> Event:
    """Return a message of a turn as an event."""
    block = {"type": "text", "text": WORDS}
    body = {"id": f"{role}-{turn}", "role": role, "content": [block], "source": source}
    return {"type": kind, "data": {**place, "message": body} if place else body, "surfaceOp": "append"}


def turn_rows(turn: int) -> list[Event]:
    """Return one question and its answer."""
    place = {"turn": turn, "step": 1}
    model = {"kind": "model", "provider": "p", "model": "m"}
    return [
        {"type": "turn/start", "data": {"turn": turn}},
        {"type": "step/start", "data": place},
        message(turn, "user/message", "user", {"kind": "user"}),
        message(turn, "assistant/message", "assistant", model, **place),
        {"type": "step/end", "data": place},
        {"type": "turn/end", "data": {"turn": turn, "reason": {"kind": "completed"}}},
    ]


def compaction_rows(seq: int, nodes: list[int]) -> list[Event]:
    """Return what puts one message in the place of all there are."""
    block = {"type": "text", "text": "What was said so far."}
    name = f"c{seq}"
    summary = {
        "compactionId": name,
        "summary": [block],
        "shadowedRange": {"start": nodes[0], "end": nodes[-1]},
        "shadowedSeqs": nodes,
        "shadowedTokenCount": 1,
        "provider": "p",
        "model": "m",
    }
    source = {"kind": "compact-checkpoint", "compactionId": name}
    told = {"id": f"k{seq}", "role": "user", "content": [block], "source": source}
    replace = {"op": "replace", "startSeq": nodes[0], "endSeq": nodes[-1]}
    return [
        {"type": "compaction/start", "data": {"compactionId": name, "turn": None}},
        {"type": "compaction/summary", "data": summary},
        {
            "type": "user/message",
            "data": told,
            "surfaceOp": replace,
            "sourceEventSeqs": [seq, seq + 1, *nodes],
        },
        {"type": "compaction/end", "data": {"compactionId": name, "turn": None}},
    ]


def log_events(count: int, *, first: int = 0, turn: int = 1, compacted: bool = False) -> Iterator[Event]:
    """Give so many events: turns, and with `compacted` a compaction after every forty of them."""
    seq, nodes, last = first, list[int](), first + count
    while True:
        rows = turn_rows(turn)
        nodes += [seq + 2, seq + 3]
        if compacted and turn % COMPACTED_EVERY == 0:
            rows += compaction_rows(seq + TURN, nodes)
            nodes = [seq + TURN + 2]
        for row in rows:
            if seq == last:
                return
            yield {**row, "seq": seq, "time": 1}
            seq += 1
        turn += 1


def begin() -> None:
    """Make the tables and an owner."""
    call_command("migrate", verbosity=0, interactive=False)
    create_profile(name="default", owner=User.objects.create_user("alice"))


def owner() -> Caller:
    """Return the owner as a caller."""
    return owner_of(profile_name="default")


class Raw:
    """The same events in one table through nothing but the driver."""

    def __init__(self) -> None:
        """Make a database of its own beside Sayso's."""
        self.link = sqlite3.connect(Path(settings.SAYSO_DATA_DIR) / "raw.sqlite3", isolation_level=None)
        self.link.execute("pragma journal_mode=wal")
        self.link.execute("pragma synchronous=full")
        self.link.execute(RAW_TABLE)

    def write(self, session: str, events: list[Event], size: int) -> float:
        """Insert and commit batches of a size; returns events per second."""
        rows = [(session, one["seq"], one["type"], one["time"], 1, json.dumps(one)) for one in events]
        begin = time.perf_counter()
        for at in range(0, len(rows), size):
            self.link.execute("begin immediate")
            if size == 1:
                self.link.execute(RAW, rows[at])
            else:
                self.link.executemany(RAW, rows[at : at + size])
            self.link.execute("commit")
        return len(rows) / (time.perf_counter() - begin)


async def appender(by: Caller, session_id: str, events: list[Event], size: int) -> None:
    """Append batches of a size, each as soon as the one before is answered."""
    for at in range(0, len(events), size):
        await append_soon(
            by=by,
            session_id=session_id,
            expected_seq=events[at]["seq"],
            events=events[at : at + size],
            now_ms=1,
        )


def rates(rounds: int, singles: int, each: int, batched: int) -> dict[str, list[float]]:
    """Return events per second of each round: raw and Sayso by turns."""
    by, raw = owner(), Raw()
    figures: dict[str, list[float]] = {}

    async def timed(name: str, count: int, *appenders: Any) -> None:
        begin = time.perf_counter()
        await asyncio.gather(*appenders)
        figures.setdefault(name, []).append(count / (time.perf_counter() - begin))

    def new(name: str, number: int) -> str:
        return str(create_session(by=by, ref=f"{name}-{number}", now_ms=1).pk)

    one, many, batch = (list(log_events(count)) for count in (singles, each, batched))

    async def go(number: int, alone: str, full: str, crowd: list[str]) -> None:
        figures.setdefault("raw single", []).append(raw.write(f"{number}-one", one, 1))
        await timed("single", singles, appender(by, alone, one, 1))
        await timed("crowd", each * APPENDERS, *(appender(by, session, many, 1) for session in crowd))
        figures.setdefault("raw batch", []).append(raw.write(f"{number}-many", batch, BATCH))
        await timed("batch", batched, appender(by, full, batch, BATCH))

    for number in range(rounds):
        crowd = [new(f"crowd-{place}", number) for place in range(APPENDERS)]
        asyncio.run(go(number, new("alone", number), new("batch", number), crowd))
    lane.stop()
    return figures


def build(ref: str, count: int, compacted: bool) -> dict[str, float]:
    """Store a log of so many events, as an import does; returns seconds."""
    by = owner()
    begin = time.perf_counter()
    store_log(
        by=by,
        workspace=workspace_of(profile_id=by.profile_id),
        header={**HEADER, "id": ref},
        # Whole turns: what follows begins one.
        events=log_events(count - count % TURN, compacted=compacted),
        survey=Survey(),
        now_ms=1,
    )
    return {"seconds": time.perf_counter() - begin}


def append_one(ref: str, count: int) -> dict[str, float]:
    """Return the median milliseconds of one append in a process that has just begun, and of the first one."""
    by, session = owner(), Session.objects.get(ref=ref)
    took = []
    first, turn = session.next_seq, load_state(session).next_turn
    for event in log_events(count, first=first, turn=turn):
        begin = time.perf_counter()
        append_events(by=by, session=session, expected_seq=event["seq"], events=[event], now_ms=1)
        took.append((time.perf_counter() - begin) * 1000)
    return {"median": statistics.median(took), "first": took[0]}


def read_surface(ref: str, count: int) -> dict[str, float]:
    """Return the milliseconds of reading what the model sees: all messages, and the numbers of the nodes alone."""
    session = Session.objects.get(ref=ref)
    whole, nodes = [], []
    for _ in range(count):
        begin = time.perf_counter()
        page = surface_page(session, limit=10**6)
        whole.append((time.perf_counter() - begin) * 1000)
        begin = time.perf_counter()
        found = surface_nodes(session)
        nodes.append((time.perf_counter() - begin) * 1000)
    assert page is not None
    return {
        "messages": statistics.median(whole),
        "read": len(page.nodes),
        "nodes": statistics.median(nodes),
        "count": len(found),
    }


def remove_turns(ref: str, count: int, skipped: int) -> dict[str, float]:
    """Return the median milliseconds of planning and writing the removal of one of the last turns but some."""
    by, took = owner(), []
    last = load_state(Session.objects.get(ref=ref)).next_turn - 1 - skipped
    for turn in range(last, last - count, -1):
        session = Session.objects.get(ref=ref)
        begin = time.perf_counter()
        ground = StoredGround(session.pk)
        plan = plan_removal(
            target=target_by_turn(turn=turn, ground=ground), ground=ground, open_turn=False, open_compaction=False
        )
        price = shadowed_price(event for seq in plan.source_seqs if (event := ground.event(seq)))
        events = removal_events(
            plan=plan,
            price=price,
            compaction_id=f"removal-{turn}",
            message_id=f"notice-{turn}",
            next_seq=session.next_seq,
            time_ms=1,
        )
        append_events(by=by, session=session, expected_seq=session.next_seq, events=events, now_ms=1)
        took.append((time.perf_counter() - begin) * 1000)
    return {"median": statistics.median(took)}


RUNS = {
    "begin": begin,
    "rates": rates,
    "build": build,
    "append_one": append_one,
    "read_surface": read_surface,
    "remove_turns": remove_turns,
}

if __name__ == "__main__":
    print(json.dumps(RUNS[sys.argv[1]](**json.loads(sys.argv[2]))))
