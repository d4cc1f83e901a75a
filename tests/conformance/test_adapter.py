"""The adapter goes through the doors: it knows no action and no table, and what it sends is what decides."""

import ast
import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

from apps.calendars.actions import importing, removing
from apps.calendars.queries import listing
from tests.confirmations.test_stories import told_of_workspaces
from tests.conformance import gate_ops, ics_ops, ics_store
from tests.conformance.gate import decisions
from tests.conformance.gate.story import Story
from tests.conformance.process import ServerFailed
from tests.conftest import VECTORS

HERE = Path(__file__).parent
# What runs inside the server process, and the vectors of pure functions.
INSIDE = {"server.py", "clock.py", "drive_ops.py", "ics_ops.py", "ics_store.py", "mobile_ops.py"}
OUTSIDE = [
    path
    for path in [*HERE.glob("*.py"), *HERE.glob("gate/*.py"), *HERE.glob("flow/*.py")]
    if path.name not in INSIDE and not path.name.startswith(("world", "test_"))
]
DECIDING = ("decide", "settle", "withdraw", "run_claimed", "hang_up", "delete", "expire")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


@pytest.mark.parametrize("path", [pytest.param(path, id=str(path.relative_to(HERE))) for path in OUTSIDE])
def test_outside_the_server_process_nothing_of_the_rooms_is_imported(path):
    # Plain rules and their errors change nothing; whatever else is of the rooms does.
    apps = [name for name in imported(path) if name.startswith("apps")]
    assert [name for name in apps if ".rules" not in name and name != "apps.core.errors"] == []
    inside = [name for name in imported(path) if name.startswith("tests.conformance.world") or name.endswith(".server")]
    assert inside == []


def test_no_command_of_the_control_socket_decides_or_deletes():
    from tests.conformance.world import COMMANDS

    assert [name for name in COMMANDS if any(word in name for word in DECIDING)] == []


def test_the_world_calls_no_action_that_decides():
    for path in HERE.glob("world*.py"):
        called = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        names = [func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in called]
        assert [name for name in names if any(name.startswith(word) for word in DECIDING)] == [], path.name


def page_story(name):
    stories = json.loads((VECTORS / "gate.json").read_text(encoding="utf-8"))
    return told_of_workspaces(next(story for story in stories if story["id"] == name))


class TestAStoryFails:
    async def fails(self, server, story, text):
        with pytest.raises(AssertionError, match=text):
            await gate_ops.story(server, story)

    async def test_when_the_decision_is_never_sent(self, server, monkeypatch):
        async def nothing(story, step):
            """Swallow the frame."""

        monkeypatch.setattr(decisions, "send", nothing)
        await self.fails(server, page_story("dec-by-a-decider"), "expected 'executed', got 'pending'")

    async def test_when_the_answer_is_another(self, server):
        story = copy.deepcopy(page_story("page-denied"))
        story["expect"]["answers"]["r1"]["status"] = 200
        await self.fails(server, story, "expected status 200, got 403")

    async def test_when_a_card_is_missing(self, server):
        story = copy.deepcopy(page_story("page-wait-ends"))
        story["expect"]["cards"]["alice"] = []
        await self.fails(server, story, "cards of alice")

    async def test_when_something_else_is_left(self, server):
        story = copy.deepcopy(page_story("page-denied"))
        story["expect"]["rows"]["workspaces"] = story["expect"]["rows"].pop("pages", None) or {"doc_1": "gone"}
        story["expect"]["rows"]["workspaces"]["doc_1"] = "gone"
        await self.fails(server, story, "rows.workspaces.doc_1")

    async def test_when_the_ledger_says_something_else(self, server):
        story = copy.deepcopy(page_story("page-denied"))
        story["expect"] |= {"ledger": [], "executions": 1}
        await self.fails(server, story, "ledger")

    async def test_when_hidden_is_expected_and_more_is_said(self, server):
        story = copy.deepcopy(page_story("dec-by-others"))
        story["expect"]["decided"]["d2"] = "hidden"
        await self.fails(server, story, "decided d2")

    async def test_when_a_step_is_unknown(self, server):
        story = copy.deepcopy(page_story("page-denied"))
        story["input"]["steps"].append({"do": "wish"})
        with pytest.raises(AttributeError, match="do_wish"):
            await gate_ops.story(server, story)


class TestAFileFails:
    """The store of the iCalendar vectors is the room itself: what its gate does is what counts."""

    def run(self, name="delete_one_of_weekly.ics"):
        cases = dict(ics_ops.cases(directory=VECTORS / "ics", make_store=ics_store.DatabaseStore))
        cases[name]()

    def test_when_the_decision_is_never_made(self, db, monkeypatch):
        monkeypatch.setattr(ics_store.DatabaseStore, "_approve", lambda store, confirmation_id: None)
        with pytest.raises(AssertionError):
            self.run()

    def test_when_the_room_deletes_more_than_was_asked(self, db, monkeypatch):
        monkeypatch.setattr(removing, "remove_occurrence", lambda **given: None)
        with pytest.raises(AssertionError):
            self.run()

    def test_when_a_cancellation_is_carried_out_unasked(self, db, monkeypatch):
        monkeypatch.setattr(importing, "_ask_deletion", lambda *given: {"outcome": "unchanged"})
        with pytest.raises(AssertionError):
            self.run("method_cancel_one_instance.ics")

    def test_when_windows_miss_what_lies_beyond_the_rows(self, db, monkeypatch):
        monkeypatch.setattr(listing, "expanded_items", lambda **given: [])
        with pytest.raises(AssertionError):
            self.run("rrule_count_billion.ics")

    def test_when_a_worker_of_the_room_reckons_for_too_long(self, db, monkeypatch):
        quick = ics_store.DatabaseStore.import_ics
        burning = "import time\nwhile time.process_time() < 0.6: pass"

        def slow(store, data):
            subprocess.run([sys.executable, "-c", burning], check=True)
            return quick(store, data)

        monkeypatch.setattr(ics_store.DatabaseStore, "import_ics", slow)
        with pytest.raises(AssertionError, match="import took"):
            self.run("rrule_count_billion.ics")


class TestTheServerProcess:
    async def test_says_what_went_wrong_in_a_command(self, server):
        with pytest.raises(ServerFailed, match="KeyError"):
            await server.call("no_such_command")

    async def test_rests_only_when_what_was_sent_has_arrived(self, server):
        story = Story(server, page_story("page-wait-ends"))
        await story.begin()
        await story.do(story.steps[0])
        assert story.asks["r1"].confirmation in story.people["alice"].page.cards
        await story.leave()
