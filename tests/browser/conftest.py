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

from tests.browser.chromium import ARGUMENTS
from tests.conformance.gate.story import Story
from tests.conformance.process import ServerProcess

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
SECOND_MS = 1_796_835_600_000
DENTIST_MS = 1_796_286_600_000


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
