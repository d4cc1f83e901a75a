"""Every vector of `--vectors DIR` is a test; one with an op that nobody knows fails."""

import importlib
import json
from functools import partial

import pytest

from tests.conformance import gate_ops
from tests.conformance.conftest import read
from tests.conformance.gate.doors import exists


def of_ops(directory):
    """Give the vectors of calendars.json but those that need a server, and those whose op is unknown."""
    return [(name, vector) for name, vector in read(directory, "calendars.json") if vector["op"] != "flow"]


def of_flows(directory):
    return [(name, vector) for name, vector in read(directory, "calendars.json") if vector["op"] == "flow"]


def of_files(directory):
    """Give the iCalendar files with what is expected of each."""
    expected = directory / "ics" / "expected.json"
    if not expected.exists():
        return []
    names = [case["file"] for case in json.loads(expected.read_text(encoding="utf-8"))["files"]]
    return [(f"ics/{name}", (directory / "ics", name)) for name in names]


def of_stories(directory):
    """Give the stories whose doors the project has, and those whose op is unknown."""
    stories = read(directory, "gate.json")
    return [(name, one) for name, one in stories if one["op"] != "story" or gate_ops.runnable(one)]


ROOMS = {
    "captures.json": ("captures_server", {"capture": "captures.purge"}),
    "schedules.json": ("schedules_ops", {}),
    "sessions.json": (
        "sessions_server",
        {"delete_session": "agent_control.session_delete", "http": "agent_control.session_delete"},
    ),
}
"""File -> the module of its ops, and the door without which an op that needs the server is not run."""


def of_rooms(directory):
    """Give the vectors of further rooms: those of plain rules, and those whose door exists."""
    return [
        (name, (module, vector))
        for file, (module, needs) in ROOMS.items()
        for name, vector in with_events(read(directory, file))
        if vector["op"] not in STORED and (vector["op"] not in needs or exists(needs[vector["op"]]))
    ]


def with_events(named):
    """Put the events of another vector into each world that names it."""
    known = {vector["id"]: vector for _, vector in named}
    for _, vector in named:
        world = vector["input"].get("world", {})
        if "events_of" in world:
            world["events"] = known[world["events_of"]]["input"]["events"]
    return named


STORED = {"drive": "drive_ops"}
"""Op -> the module of ops that need an empty database of their own."""


def of_stored(directory):
    """Give the vectors that need a database but no server."""
    return [(name, one) for file in ROOMS for name, one in read(directory, file) if one["op"] in STORED]


def vectors(kind):
    def mark(test):
        test.vectors = kind
        return test

    return mark


@vectors(of_ops)
def test_rule(case):
    from tests.conformance.mobile_ops import OPS

    assert case["op"] in OPS, f"no one knows the op {case['op']}"
    OPS[case["op"]](case["input"], case["expect"])


@vectors(of_rooms)
async def test_room(case, request):
    module, vector = case
    found = importlib.import_module(f"tests.conformance.{module}")
    on_server = getattr(found, "SERVER_OPS", {}).get(vector["op"])
    if on_server is not None:
        await on_server(request.getfixturevalue("server"), vector["input"], vector["expect"])
        return
    assert vector["op"] in found.OPS, f"no one knows the op {vector['op']}"
    found.OPS[vector["op"]](vector["input"], vector["expect"])


@vectors(of_stored)
def test_stored(case, transactional_db):
    ops = importlib.import_module(f"tests.conformance.{STORED[case['op']]}").OPS
    ops[case["op"]](case["input"], case["expect"])


@vectors(of_flows)
async def test_flow(case, server):
    from tests.conformance.flow_ops import flow

    await flow(server, case)


@vectors(of_files)
def test_file(case, db):
    from tests.conformance import ics_ops, ics_store

    directory, name = case
    # What the windows ask for lies among the stored rows of a series at one moment, and beyond them at the other.
    moments = (ics_store.IN_2026_MS, ics_store.IN_2036_MS) if b"RRULE" in (directory / name).read_bytes() else ()
    for now_ms in moments or (ics_store.IN_2026_MS,):
        make_store = partial(ics_store.DatabaseStore, now_ms=now_ms)
        dict(ics_ops.cases(directory=directory, make_store=make_store))[name]()


@vectors(of_stories)
async def test_story(case, server):
    if case["op"] != "story":
        pytest.fail(f"no one knows the op {case['op']}")
    await gate_ops.story(server, case)
