"""People at their browsers: a cookie, a page with the dialog's socket, and the cards on it."""

import asyncio
import contextlib
import html.parser
import json
import secrets
from collections import deque
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from tests.conformance.gate.wire import Answer, Request, fetch, new_tag

FOREIGN = "https://elsewhere.example"


class LoginForm(html.parser.HTMLParser):
    """The fields of the form that asks for a password."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: list[dict[str, str]] = []
        self.kinds: list[set[str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append({})
            self.kinds.append(set())
        elif tag == "input" and self.forms and given.get("name"):
            self.forms[-1][given["name"]] = given.get("value", "")
            self.kinds[-1].add(given.get("type", "text"))

    def fields(self) -> dict[str, str]:
        return next(fields for fields, kinds in zip(self.forms, self.kinds, strict=True) if "password" in kinds)


class Socket:
    """A WebSocket whose frames are collected as they come."""

    def __init__(self) -> None:
        self.tag = new_tag()
        self.frames: list[dict[str, Any]] = []
        self.sent = 0
        self.connection: ClientConnection | None = None
        self.reader: asyncio.Task[None] | None = None
        self.closed = False

    async def open(self, origin: str, path: str, *, headers: dict[str, str], page: str | None) -> bool:
        """Connect; tells whether the server let us in. `page` is the Origin that a browser would name."""
        uri = f"{origin.replace('http', 'ws', 1)}{path}"
        try:
            self.connection = await connect(
                uri,
                origin=page,  # type: ignore[arg-type]
                additional_headers={**headers, "x-story-tag": self.tag},
                compression=None,
                ping_interval=None,
                proxy=None,
                max_size=None,
            )
        except (InvalidHandshake, ConnectionClosed, OSError):
            self.closed = True
            return False
        self.reader = asyncio.create_task(self.read(self.connection))
        return True

    async def read(self, connection: ClientConnection) -> None:
        try:
            async for text in connection:
                frame = json.loads(text)
                self.frames.append(frame)
                self.heard(frame)
        except ConnectionClosed:
            pass
        finally:
            self.closed = True

    def heard(self, frame: dict[str, Any]) -> None:
        """Take one frame in."""

    async def say(self, frame: dict[str, Any]) -> bool:
        """Send one frame; tells whether the connection was open."""
        if self.connection is None or self.closed:
            return False
        try:
            await self.connection.send(json.dumps(frame))
        except ConnectionClosed:
            return False
        self.sent += 1
        return True

    async def catch_up(self) -> None:
        """Return when every frame that the server has sent so far is taken in."""
        if self.connection is None or self.closed:
            return
        with contextlib.suppress(ConnectionClosed):
            await (await self.connection.ping())
        loop = asyncio.get_running_loop()
        for _ in range(4):
            turn = loop.create_future()
            loop.call_soon(turn.set_result, None)
            await turn
        if self.connection.close_code is not None and self.reader is not None:
            await self.reader

    async def close(self) -> None:
        if self.connection is not None:
            await self.connection.close()
        if self.reader is not None:
            await self.reader


@dataclass(kw_only=True)
class Attempt:
    """One decision that was sent, with all that came back."""

    confirmation: str
    frame: dict[str, Any]
    reply: dict[str, Any] | None = None
    request: Request | None = None
    socket: Socket | None = None
    ghost: Answer | None = None


class Page(Socket):
    """A page with `/ws/confirmations/` open."""

    def __init__(self) -> None:
        super().__init__()
        self.cards: dict[str, dict[str, Any]] = {}
        self.known: dict[str, dict[str, Any]] = {}
        self.nonces: dict[str, list[str]] = {}
        self.waiting: deque[Attempt] = deque()

    def heard(self, frame: dict[str, Any]) -> None:
        kind = frame.get("type")
        if kind == "card.shown":
            card = frame["card"]
            self.cards[card["id"]] = self.known[card["id"]] = card
            self.nonces.setdefault(card["id"], []).append(frame["nonce"])
        elif kind == "card.ended":
            self.cards.pop(frame["id"], None)
        elif kind in ("decision.taken", "decision.refused", "error"):
            if kind == "decision.refused" and frame.get("nonce"):
                self.nonces.setdefault(frame["id"], []).append(frame["nonce"])
            if self.waiting:
                self.waiting.popleft().reply = frame

    async def decide(self, attempt: Attempt) -> bool:
        self.waiting.append(attempt)
        if not await self.say(attempt.frame):
            self.waiting.remove(attempt)
            return False
        return True


@dataclass(kw_only=True)
class Person:
    """A person, signed in, at an English browser of their own."""

    name: str
    cookie: str = ""
    csrf: str = field(default_factory=lambda: secrets.token_hex(16))
    page: Page = field(default_factory=Page)
    last_nonce: str = ""

    def cookies(self) -> str:
        return f"sayso_session={self.cookie}; sayso_csrf={self.csrf}" if self.cookie else f"sayso_csrf={self.csrf}"

    def headers(self, origin: str, *, csrf: bool = True, site: str = "same-origin") -> dict[str, str]:
        """Return what a browser sends along with a request from one of our pages, or from another site's."""
        headers = {"cookie": self.cookies(), "accept-language": "en", "sec-fetch-site": site}
        headers["origin"] = origin if site == "same-origin" else FOREIGN
        if csrf:
            headers["x-csrftoken"] = self.csrf
        return headers

    async def sign_in(self, origin: str, password: str) -> bool:
        """Go through the login page; tells whether there is one."""
        shown = await fetch(origin, "GET", "/login/", headers={"accept-language": "en"})
        if shown.status == 404:
            return False
        assert shown.status == 200, shown.text
        self.csrf = shown.cookies()["sayso_csrf"]
        fields = {**LoginForm(shown.text).fields(), "username": self.name, "password": password}
        headers = self.headers(origin, csrf=False) | {"content-type": "application/x-www-form-urlencoded"}
        answer = await fetch(origin, "POST", "/login/", headers=headers, body=urlencode(fields).encode())
        cookies = answer.cookies()
        assert answer.status == 302, f"{self.name} cannot sign in: {answer.status} {answer.text[:2000]}"
        self.cookie = cookies["sayso_session"]
        self.csrf = cookies.get("sayso_csrf", self.csrf)
        return True

    async def sign_out(self, origin: str) -> bool:
        """Press the button; tells whether there is one."""
        headers = self.headers(origin) | {"content-type": "application/x-www-form-urlencoded"}
        answer = await fetch(origin, "POST", "/logout/", headers=headers)
        return answer.status != 404

    async def open_page(self, origin: str) -> Page:
        """Open the socket anew; what an earlier one showed is gone, its unspent nonces too."""
        await self.page.close()
        self.page = Page()
        await self.page.open(origin, "/ws/confirmations/", headers=self.browser_headers(), page=origin)
        return self.page

    def browser_headers(self) -> dict[str, str]:
        return {"cookie": self.cookies(), "accept-language": "en"}
