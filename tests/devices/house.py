"""Alice, her phones and her agent against a real server process."""

import json
from typing import Any

from tests.conformance.gate.browser import Person, Socket
from tests.conformance.gate.phone import Phone
from tests.conformance.gate.wire import Answer, Request, fetch
from tests.conformance.process import ServerProcess

NOW = 1_796_025_600_000
JSON = {"content-type": "application/json"}
LIST = {"session_id": "s1", "capability": "calendar", "action": "list", "purpose": "plan the day"}
DELETE = {**LIST, "action": "delete", "item": {"id": "e1", "title": "Sync", "start_ms": NOW}}
WORLD = {
    "settings": {"device_relay": True, "denied_recently_s": 600, "max_open": 10},
    "profiles": {name: {"zone": "UTC", "calendars": "device"} for name in ("default", "work", "charlies")},
    "people": {
        "alice": {"default": "owner", "work": "owner"},
        "bob": {"default": "decider"},
        "charlie": {"charlies": "owner"},
        "vera": {"default": "viewer", "work": "owner"},
    },
    "tokens": {
        "agent": {"person": "alice", "profile": "default", "scopes": "all"},
        "deleter": {"person": "alice", "profile": "default", "scopes": ["calendar.delete"]},
        "script": {"person": "alice", "profile": "default", "scopes": "all", "kind": "person"},
    },
    "sessions": [{"id": "s1", "profile": "default"}, {"id": "s9", "profile": "charlies"}],
}


class House:
    """The world, and what a test does in it; everything rests after each step."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self.people: dict[str, Person] = {}
        self.sockets: list[Socket] = []
        self.requests: list[Request] = []
        self.secrets: dict[str, str] = {}

    @property
    def origin(self) -> str:
        return self.server.origin

    async def begin(self) -> "House":
        await self.server.reset(NOW)
        self.secrets = (await self.server.call("world", world=WORLD))["secrets"]
        for name in WORLD["people"]:
            self.people[name] = Person(name=name, cookie=await self.server.call("sign_in", person=name))
        return self

    async def phone(self, code: str = "iphone", *, person: str = "alice", profile: str = "default") -> Phone:
        """Pair and connect a phone."""
        phone = Phone(name=code, device_code=code, profile=profile)
        await phone.pair(self.origin, self.people[person])
        assert await self.connect(phone)
        return phone

    async def connect(self, phone: Phone) -> bool:
        self.sockets.append(phone)
        joined = await phone.connect(self.origin)
        await self.rest()
        return joined

    async def again(self, phone: Phone) -> Phone:
        """Open another socket of the same phone."""
        other = Phone(name=phone.name, device_code=phone.device_code, profile=phone.profile)
        other.secret = phone.secret
        assert await self.connect(other)
        return other

    async def socket(self, *, query: str = "", **headers: str) -> Socket:
        """Open the socket with these headers, whoever that is."""
        socket = Socket()
        self.sockets.append(socket)
        await socket.open(self.origin, f"/ws/device/{query}", headers=headers, page=None)
        await self.rest()
        return socket

    async def say(self, socket: Socket, **frame: Any) -> list[dict[str, Any]]:
        """Send a frame and return what came back to that socket."""
        known = len(socket.frames)
        await socket.say(frame)
        await self.rest()
        return socket.frames[known:]

    async def ask(self, body: dict[str, Any], *, by: str = "agent", **headers: str) -> Request:
        """Send a request to the phone."""
        credential = {"authorization": f"Bearer {self.secrets[by]}", **JSON, **headers}
        data = json.dumps(body).encode()
        request = Request(method="POST", path="/api/studio/mobile-calendar/request", headers=credential, body=data)
        self.requests.append(request)
        await request.send(self.origin)
        await self.rest()
        return request

    async def answer(self, phone: Socket, request_id: str, **members: Any) -> list[dict[str, Any]]:
        """Answer a calendar request."""
        frame = {"event": "calendar.respond", "session_id": "s1", "calendar_request_id": request_id, "status": "denied"}
        return await self.say(phone, **{**frame, **members})

    async def page(self, method: str, path: str, *, by: str = "alice", body: Any = None) -> Answer:
        """Send a request as a person's page does."""
        data = b"" if body is None else json.dumps(body).encode()
        headers = self.people[by].headers(self.origin) | JSON
        return await fetch(self.origin, method, path, headers=headers, body=data)

    async def app(self, body: dict[str, Any]) -> Answer:
        """Send the app's login."""
        return await fetch(
            self.origin, "POST", "/api/auth/app-login", headers=dict(JSON), body=json.dumps(body).encode()
        )

    async def rest(self) -> None:
        waiting = {r.tag: r for r in self.requests if r.answer is None and r.task and not r.task.done()}
        frames = {socket.tag: socket.sent for socket in self.sockets if socket.sent and not socket.closed}
        found = await self.server.call("rest", seen=list(waiting), gone=[], frames=frames)
        for tag in found["answered"]:
            await waiting[tag].done()
        for socket in self.sockets:
            await socket.catch_up()

    async def leave(self) -> None:
        for request in self.requests:
            if request.answer is None:
                await request.hang_up()
        for socket in self.sockets:
            await socket.close()


def only_id(phone: Phone) -> str:
    """Return the id of the one request that a phone was sent."""
    (found,) = phone.requests
    return found
