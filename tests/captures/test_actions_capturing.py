"""Sixteen writers on one scope, each with a database connection of its own."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from apps.captures.actions.capturing import capture
from apps.captures.models import Scope, Source
from apps.captures.rules import SourceConflict, check_request
from apps.ledger.models import LedgerEntry, LedgerHead
from tests.factories.calendars import NOW_MS, make_world

WRITERS = 16
EACH = 25


@pytest.fixture
def agent(transactional_db, clock):
    return make_world().agent


def at_once(work):
    """Run the work of every writer in a thread of its own, all from the same moment on."""
    start = threading.Barrier(WRITERS)

    def run(number):
        try:
            start.wait()
            return work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(WRITERS) as pool:
        return list(pool.map(run, range(WRITERS)))


def sent(agent, source_id, content="x"):
    request = check_request({"scope_id": "main", "source_id": source_id, "content": content})
    try:
        return capture(by=agent, request=request, now_ms=NOW_MS)
    except SourceConflict:
        return "conflict"


def test_positions_are_contiguous_and_replays_stable(agent):
    def write(writer):
        """Capture own sources, each twice, and those that all the others capture too."""
        found = {}
        for number in range(EACH):
            names = (f"own:{writer}:{number}", f"shared:{number}")
            for source_id in (*names, *names):
                outcome = sent(agent, source_id)
                assert found.setdefault(source_id, outcome.position) == outcome.position
                found[f"{outcome.name} {source_id}"] = 1
        return found

    answers = at_once(write)
    stored = dict(Source.objects.values_list("source_id", "position"))
    assert sorted(stored.values()) == list(range(1, WRITERS * EACH + EACH + 1))
    assert Scope.objects.get().head == len(stored)
    created = Counter(name for found in answers for name in found if name.startswith("created "))
    assert created == {f"created {source_id}": 1 for source_id in stored}
    for found in answers:
        assert {name: found[name] for name in found if name in stored}.items() <= stored.items()
    # The ledger's chain has a row for each, in one line.
    entries = LedgerEntry.objects.filter(action="captures.source_captured").count()
    assert entries == len(stored)
    assert LedgerHead.objects.get().seq == LedgerEntry.objects.count()


def test_one_of_sixteen_payloads_is_stored(agent):
    answers = at_once(lambda writer: sent(agent, "s:1", content=f"text {writer}"))
    assert answers.count("conflict") == WRITERS - 1
    assert sent(agent, "s:2").position == 2
