"""A stage for the browser stories: a real server, an agent process, and people in Chromium profiles of their own."""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page, Playwright, async_playwright, expect

from apps.captures.rules import COVERAGE_KEY, declare
from tests.browser.chromium import ARGUMENTS
from tests.conformance.gate.story import Story
from tests.conformance.process import ServerProcess
from tests.sessions.logs import (
    call,
    call_block,
    numbered,
    reply,
    result,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)

expect.set_options(timeout=20_000)
WORLD = {
    "now": "2026-11-30T08:00:00Z",
    "profiles": {"default": {"zone": "Europe/Berlin"}},
    "people": {"alice": {"default": "owner"}, "bob": {"default": "decider"}},
    "tokens": {"agent": {"person": "alice", "profile": "default", "scopes": "all"}},
    "sessions": [{"id": "s1", "profile": "default"}],
    "calendars": {
        "Home": {
            "profile": "default",
            "events": [
                {
                    "uid": "dentist",
                    "title": "Dentist",
                    "start": "2026-12-03T09:30",
                    "minutes": 45,
                    "location": "Dr. Sommer",
                },
                {
                    "uid": "swim",
                    "title": "Swimming",
                    "start": "2026-12-02T18:00",
                    "minutes": 60,
                    "rrule": "FREQ=WEEKLY;COUNT=4",
                },
            ],
        }
    },
}
SWIMMING = ["2026-12-02T18:00", "2026-12-09T18:00", "2026-12-16T18:00", "2026-12-23T18:00"]


def covered(projection: str, *losses: str, unmeasured: bool = False) -> dict[str, Any]:
    """Return a declaration as a capturer sends it."""
    return declare(projection=projection, losses=losses, unmeasured=unmeasured).as_object()


NOW_MS = 1_796_025_600_000
SECOND_MS = 1_796_835_600_000
DENTIST_MS = 1_796_286_600_000


PLAN = "A first plan:\n\n1. Friday: arrival, dinner in Alfama.\n2. Saturday: Belém and the river.\n3. Home."
LOOK = '{"path": "notes/trains.md"}'
CONVERSATION = [
    {"type": "session/title", "data": {"title": "Trip to Lisbon", "messageSeqs": [], "source": {"kind": "user"}}},
    turn_start(1),
    step_start(1, 1),
    user("u1", "Can you plan a weekend in Lisbon for two?"),
    reply(1, 1, "a1x", text("I look up the trains first."), call_block("c1", name="read_file", arguments=LOOK)),
    call(1, 1, "c1", name="read_file", arguments=LOOK),
    result(1, 1, "c1", "Friday 18:04, platform 3"),
    step_end(1, 1),
    step_start(1, 2),
    reply(1, 2, "a1", text(PLAN)),
    step_end(1, 2),
    turn_end(1),
    turn_start(2),
    step_start(2, 1),
    user("u2", "Which tram goes to Belém?"),
    reply(2, 1, "a2", text("Tram 15E, from Praça da Figueira. It takes about half an hour.")),
    step_end(2, 1),
    turn_end(2),
]
SCHEDULES = [
    {
        "title": "Check the trains",
        "prompt": "Is the Friday train on time?",
        "weekly": {"time": "08:30:00", "time_zone": "Europe/Berlin", "weekdays": [1, 5]},
    },
    {
        "title": "Pack the passports",
        "prompt": "Both of them.",
        "at": {"date": "2026-12-24", "time": "18:00:00", "time_zone": "Europe/Berlin"},
    },
    {
        "title": "Meter reading",
        "prompt": "Ask for it.",
        "cron": {"expression": "0 9 1 * *", "time_zone": "America/New_York"},
        "options": {"paused": True},
    },
]
CAPTURES = [
    {"source_id": "hermes-turn:0190", "content": "[user]\nUse uv here.\n\n[assistant]\nDone: uv runs the tests."},
    {
        "source_id": "hermes-turn:0191",
        "content": "[user]\nPlan the trip to Lisbon.\n\n[assistant]\nFriday 18:04, platform 3.",
        "metadata": {"kind": "hermes-turn", "session_id": "s1", COVERAGE_KEY: covered("hermes-turn-text.v1")},
    },
    {
        "source_id": "hermes-compression:77",
        "content": "[user] What is open?\n[assistant] The electricity bill.",
        "metadata": {
            "kind": "hermes-context-compression",
            "message_count": 2,
            COVERAGE_KEY: covered("hermes-precompress-text.v1", "character_limit"),
        },
    },
    {
        "source_id": "gateway-turn:5",
        "content": '{"omitted_steps":0,"steps":[{"kind":"user","text":"hi"},{"kind":"assistant","text":"hello"}]}',
        "metadata": {COVERAGE_KEY: covered("gateway-turn-text.v1", unmeasured=True)},
    },
]


@dataclass(kw_only=True)
class Asked:
    """A request of the agent process that is under way."""

    process: asyncio.subprocess.Process

    async def answer(self) -> dict[str, Any]:
        """Wait for the process to end and return what the server answered."""
        out, error = await self.process.communicate()
        assert self.process.returncode == 0, error.decode()
        return dict(json.loads(out))


@dataclass(kw_only=True)
class Stage:
    """What a story plays on."""

    server: ServerProcess
    story: Story
    playwright: Playwright
    chromium: str
    contexts: list[BrowserContext] = field(default_factory=list)
    asks: list[Asked] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    folders: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    async def open(self, person: str, path: str = "/inbox/", **options: Any) -> Page:
        """Let a person sign in, in a Chromium with a profile of its own, and open a page."""
        folder = self.folders.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        context = await self.playwright.chromium.launch_persistent_context(
            folder,
            executable_path=self.chromium,
            headless=True,
            args=list(ARGUMENTS),
            locale=options.pop("locale", "en-GB"),
            timezone_id="Europe/Berlin",
            **{"viewport": {"width": 1440, "height": 900}, **options},
        )
        self.contexts.append(context)
        page = context.pages[0]
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console", lambda line: self.errors.append(line.text) if "Content Security Policy" in line.text else None
        )
        await page.goto(f"{self.server.origin}/login/?next={path}")
        await page.locator("#username").fill(person)
        await page.locator("#password").fill(f"{person} says so")
        await page.locator("#password").press("Enter")
        await page.wait_for_url(f"**{path}*")
        await expect(page.locator("[data-connection]")).to_have_attribute("data-connection", "open")
        return page

    async def ask(self, *, item: dict[str, Any], purpose: str = "It was moved to January", **members: Any) -> Asked:
        """Let the agent process ask for a deletion; it waits for the decision."""
        body = {
            "session_id": "s1",
            "capability": "calendar",
            "action": "delete",
            "purpose": purpose,
            "item": item,
            **members,
        }
        return await self.send("POST", "/api/studio/mobile-calendar/request", body)

    async def send(self, method: str, path: str, body: Any = None) -> Asked:
        """Start the agent process with one request."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.browser.agent",
            method,
            f"{self.server.origin}{path}",
            *([json.dumps(body)] if body is not None else []),
            env={**os.environ, "SAYSO_TOKEN": self.story.secrets["agent"]},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        asked = Asked(process=process)
        self.asks.append(asked)
        return asked

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """Let the agent do something that nobody is asked for, and return what was answered."""
        answer = await (await self.send(method, path, body)).answer()
        assert answer["status"] < 300, answer
        return answer["body"]

    async def tell(self, session: str, rows: list[dict[str, Any]]) -> None:
        """Append to the log of a session."""
        path = f"/api/sessions/{session}/events"
        first = (await self.call("GET", f"{path}?limit=1"))["next_seq"]
        await self.call("POST", path, {"expected_seq": first, "events": numbered(rows, first=first, time_ms=NOW_MS)})

    async def furnish(self) -> None:
        """Put something onto the pages of sessions, schedules and captures."""
        await self.call("POST", "/api/sessions", {"id": "s2", "title": "Electricity bills"})
        await self.tell("s1", CONVERSATION)
        await self.call("POST", "/api/sessions/s1/pin")
        for schedule in SCHEDULES:
            await self.call("POST", "/api/sessions/s1/schedules", schedule)
        await self.fill_journal()
        await self.refused(
            source_id="hermes-turn:0191", content="[user]\nPlan the trip to Porto.\n\n[assistant]\nSoon."
        )

    async def fill_journal(self, scope: str = "travel") -> None:
        """Capture something under each badge."""
        for body in CAPTURES:
            await self.call("POST", "/api/captures/sources", {"scope_id": scope, **body})

    async def refused(self, scope: str = "travel", **body: Any) -> None:
        """Send another payload under a name that is taken."""
        answer = await (await self.send("POST", "/api/captures/sources", {"scope_id": scope, **body})).answer()
        assert answer["status"] == 409, answer

    async def restart(self, how: str = "stop") -> None:
        """End the server and start it again on what it has stored."""
        await self.story.do({"do": "restart_server", "how": how})

    async def swimming(self, slot: str = "2026-12-09T18:00") -> dict[str, Any]:
        """Return one date of the series as the agent lists it."""
        ids = await self.server.call("ids", names=[f"occurrence:swim@{slot}"])
        return {"id": ids[f"occurrence:swim@{slot}"], "title": "Swimming", "start_ms": SECOND_MS}

    async def dentist(self) -> dict[str, Any]:
        """Return the single event as the agent lists it."""
        ids = await self.server.call("ids", names=["event:dentist"])
        return {"id": ids["event:dentist"], "title": "Dentist", "start_ms": DENTIST_MS}

    async def stored(self, uid: str) -> Any:
        """Return the starts that are stored of an event, or that its row is gone."""
        found = await self.server.call("rows", wanted={"events": {f"Home/{uid}": []}}, world=WORLD)
        return found["events"][f"Home/{uid}"]

    async def ends(self) -> list[str]:
        """Return how confirmations ended, from the ledger, whose chain holds."""
        book = await self.server.call("book")
        assert book["faults"] == []
        return [state for _ids, state in book["ends"]]

    async def close(self) -> None:
        """End what was begun."""
        for context in self.contexts:
            await context.close()
        for asked in self.asks:
            if asked.process.returncode is None:
                asked.process.kill()
                await asked.process.communicate()
        self.folders.close()


@pytest.fixture
async def stage(server, chromium):
    story = Story(server, {"input": {"world": WORLD, "steps": []}})
    await story.begin()
    async with async_playwright() as playwright:
        made = Stage(server=server, story=story, playwright=playwright, chromium=chromium)
        try:
            yield made
        finally:
            await made.close()
    await story.leave()
    assert made.errors == []


@pytest.fixture(scope="session")
def pictures() -> Path | None:
    """The folder for the pictures of the docs, when SAYSO_PICTURES names one."""
    named = os.environ.get("SAYSO_PICTURES")
    return Path(named) if named else None
