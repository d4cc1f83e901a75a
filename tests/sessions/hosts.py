"""Agent hosts against a real server process."""

import json
from typing import Any

from tests.conformance.gate.browser import Person, Socket
from tests.conformance.gate.wire import Answer, Request, fetch
from tests.conformance.process import ServerProcess

NOW = 1_796_025_600_000
JSON = {"content-type": "application/json"}
HOST_SCOPES = ["session.read", "session.append", "session.delete", "confirmation.read"]
WORLD = {
    "settings": {"denied_recently_s": 600, "max_open": 10},
    "profiles": {name: {"zone": "UTC"} for name in ("default", "charlies")},
    "people": {
        "alice": {"default": "owner"},
        "bob": {"default": "decider"},
        "charlie": {"charlies": "owner"},
        "vera": {"default": "viewer"},
    },
    "tokens": {
        "host": {"person": "alice", "profile": "default", "scopes": [*HOST_SCOPES, "page.delete"]},
        "other": {"person": "alice", "profile": "default", "scopes": HOST_SCOPES},
        "bobs": {"person": "bob", "profile": "default", "scopes": HOST_SCOPES},
        "script": {"person": "alice", "profile": "default", "scopes": HOST_SCOPES, "kind": "person"},
        "reader": {"person": "alice", "profile": "default", "scopes": ["session.read"]},
        "calendars": {"person": "alice", "profile": "default", "scopes": ["calendar.delete", "calendar.write"]},
        "looker": {"person": "vera", "profile": "default", "scopes": HOST_SCOPES},
        "charlies": {"person": "charlie", "profile": "charlies", "scopes": HOST_SCOPES},
        "phone": {"person": "alice", "profile": "default", "scopes": HOST_SCOPES, "kind": "device"},
        "short": {"person": "alice", "profile": "default", "scopes": HOST_SCOPES, "expires_at_ms": NOW + 90_000},
    },
    "sessions": [
        {"id": "s1", "profile": "default"},
        {"id": "s2", "profile": "default"},
        {"id": "s9", "profile": "charlies"},
    ],
}


class HostHouse:
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

    async def begin(self) -> "HostHouse":
        await self.server.reset(NOW)
        self.secrets = (await self.server.call("world", world=WORLD))["secrets"]
        for name in WORLD["people"]:
            self.people[name] = Person(name=name, cookie=await self.server.call("sign_in", person=name))
        return self

    async def socket(self, *, query: str = "", **headers: str) -> Socket:
        """Open the hosts' socket with these headers, whoever that is."""
        socket = Socket()
        self.sockets.append(socket)
        await socket.open(self.origin, f"/ws/agent/{query}", headers=headers, page=None)
        await self.rest()
        return socket

    async def host(self, name: str = "host", *, takes: str = "") -> Socket:
        """Connect a host that is let in, and take a session."""
        socket = await self.socket(authorization=f"Bearer {self.secrets[name]}")
        assert [frame["event"] for frame in socket.frames] == ["host.accepted"]
        if takes:
            (taken,) = await self.say(socket, event="lease.take", session_id=takes)
            assert taken["event"] == "lease.taken", taken
        return socket

    async def say(self, socket: Socket, **frame: Any) -> list[dict[str, Any]]:
        """Send a frame and return what came back to that socket."""
        known = len(socket.frames)
        await socket.say(frame)
        await self.rest()
        return socket.frames[known:]

    async def hang_up(self, socket: Socket) -> None:
        """Close a socket and return when the server knows."""
        await socket.close()
        await self.server.call("rest", seen=[], gone=[socket.tag], frames={})

    async def start(self, method: str, path: str, body: Any = None, *, by: str = "host", **headers: str) -> Request:
        """Send a request that may wait."""
        data = b"" if body is None else json.dumps(body).encode()
        credential = {"authorization": f"Bearer {self.secrets[by]}", **JSON, **headers}
        request = Request(method=method, path=path, headers=credential, body=data)
        self.requests.append(request)
        await request.send(self.origin)
        await self.rest()
        return request

    async def call(self, method: str, path: str, body: Any = None, *, by: str = "host", **headers: str) -> Answer:
        """Send a request and return its answer."""
        request = await self.start(method, path, body, by=by, **headers)
        answer = await request.done()
        assert answer is not None
        await self.rest()
        return answer

    async def page(self, method: str, path: str, *, by: str = "alice", body: Any = None) -> Answer:
        """Send a request as a person's page does."""
        data = b"" if body is None else json.dumps(body).encode()
        headers = self.people[by].headers(self.origin) | JSON
        answer = await fetch(self.origin, method, path, headers=headers, body=data)
        await self.rest()
        return answer

    async def put(self, session: str = "s1", *, count: int = 1, **payload: Any) -> list[str]:
        """Let messages arrive in an inbox."""
        found = await self.server.call("put", session=session, payload=payload or {"text": "Water"}, count=count)
        await self.rest()
        return list(found)

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


def new(socket: Socket, *, since: int) -> list[dict[str, Any]]:
    """Return what a socket was sent since it had so many frames."""
    return socket.frames[since:]
