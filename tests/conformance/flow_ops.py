"""The vectors `flow` of the mobile calendar: phones, browsers and a caller against a real server.

Phones are paired and connected over the real routes; every request is real HTTP. The server tells what it emitted to a
room, because a room may be empty; what is emitted to a phone that is connected must also arrive there.
"""

import asyncio
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.gate.browser import Person, Socket
from tests.conformance.gate.phone import Phone
from tests.conformance.gate.wire import Request, fetch
from tests.conformance.process import ServerProcess

JSON = {"content-type": "application/json"}
ANSWERS = ("resumed", "app.resumed")


async def flow(server: ServerProcess, vector: dict[str, Any]) -> None:
    """Run one vector and compare."""
    told = Flow(server, vector["input"]["world"], vector["input"]["steps"])
    try:
        await told.run()
        found = await told.result()
    finally:
        await told.leave()
    faults = [*told.faults, *differences(found, vector["expect"])]
    assert not faults, "\n  ".join(["", *faults])
    complaints = server.complaints()
    # A server without its relay says so, and that is logged.
    assert complaints == "" or not told.world.get("service_up", True), complaints


def differences(found: dict[str, Any], expect: dict[str, Any]) -> list[str]:
    faults = []
    for name, answer in expect["responses"].items():
        if not fits(found["responses"].get(name), answer):
            faults.append(f"{name}: {found['responses'].get(name)} instead of {answer}")
    faults += [
        f"{name}: {json.dumps(found[name])}\n     instead of {json.dumps(expect[name])}"
        for name in ("events", "pending")
        if found[name] != expect[name]
    ]
    return faults


def fits(found: Any, wanted: Any) -> bool:
    """Compare objects as subsets, all else exactly."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(name in found and fits(found[name], wanted[name]) for name in wanted)
    return bool(found == wanted) and isinstance(found, bool) == isinstance(wanted, bool)


@dataclass(kw_only=True)
class Place:
    """A socket of the world: a phone, or a browser's app without a device."""

    name: str
    profile: str
    user: str
    device_code: str | None
    socket: Socket
    read: int = 0

    def fresh(self) -> list[dict[str, Any]]:
        """Return the frames that came since the last look."""
        frames = self.socket.frames[self.read :]
        self.read = len(self.socket.frames)
        return frames

    @property
    def device(self) -> str:
        text = json.dumps([self.user, self.device_code], separators=(",", ":"), ensure_ascii=False)
        return "device:" + hashlib.sha256(text.encode()).hexdigest()[:24] if self.device_code else ""


@dataclass
class Flow:
    """One vector on its way."""

    server: ServerProcess
    world: dict[str, Any]
    steps: list[dict[str, Any]]
    places: dict[str, Place] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    requests: dict[str, Request] = field(default_factory=dict)
    bodies: dict[str, Any] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    profiles: dict[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        return self.server.origin

    async def run(self) -> None:
        if not self.server.running:
            self.server.start(now_ms=self.world["now_ms"])
        await self.server.reset(self.world["now_ms"])
        made = await self.server.call("world", world=self.rows())
        self.secrets = made["secrets"]
        self.profiles = await self.server.call("profile_ids")
        for socket in self.world["sockets"]:
            await self.arrive(socket)
        await self.rest()
        await self.server.call("emissions")
        for step in self.steps:
            await getattr(self, f"do_{step['do']}")(step)
            await self.rest()
            await self.note(step)

    def rows(self) -> dict[str, Any]:
        """Return the world in the words of the stories' server."""
        names = {one["profile"] for one in [*self.world["sessions"], *self.world["sockets"]]}
        names |= {"default", *self.world.get("profiles", ()), *self.world.get("caller_profiles", ())}
        users = max((int(one["user_id"]) for one in self.world["sockets"] if "user_id" in one), default=0)
        everywhere = dict.fromkeys(sorted(names), "decider")
        # The first person gets the key 1, and so on: a phone's public id is made of it.
        people: dict[str, Any] = {f"user{number}": everywhere for number in range(1, users + 1)}
        people |= {"owner": dict.fromkeys(names, "owner"), "browser": everywhere}
        allowed = self.world.get("caller_profiles")
        people["caller"] = dict.fromkeys(names if allowed is None else allowed, "decider")
        tokens = {f"browser {name}": self.token("browser", name, "person") for name in names}
        if allowed:
            tokens["caller"] = self.token("caller", allowed[0], "person")
        else:
            tokens |= {f"caller {name}": self.token("caller", name, "agent") for name in names if allowed is None}
        return {
            "settings": {"device_relay": self.world.get("service_up", True), "denied_recently_s": 600, "max_open": 10},
            "profiles": {name: {"zone": "UTC", "calendars": "device"} for name in sorted(names)},
            "people": people,
            "tokens": tokens,
            "sessions": self.world["sessions"],
        }

    def token(self, person: str, profile: str, kind: str) -> dict[str, Any]:
        return {"person": person, "profile": profile, "kind": kind, "scopes": "all"}

    async def arrive(self, socket: dict[str, Any]) -> None:
        """Pair and connect a phone, or connect a browser's app."""
        name, profile, code = socket["name"], socket["profile"], socket.get("device_code")
        phone = Phone(name=name, device_code=code or "", profile=profile)
        user = str(socket.get("user_id", "")) if code else "browser"
        place = Place(name=name, profile=profile, user=user, device_code=code, socket=phone)
        twin = next((one for one in self.places.values() if code and (one.user, one.device_code) == (user, code)), None)
        if twin is not None and isinstance(twin.socket, Phone):
            phone.secret = twin.socket.secret
        elif code:
            person = Person(name=f"user{user}", cookie=await self.server.call("sign_in", person=f"user{user}"))
            await phone.pair(self.origin, person)
        else:
            phone.secret = self.secrets[f"browser {profile}"]
        self.places[name] = place
        assert await phone.connect(self.origin), f"{name} cannot connect"

    async def rest(self) -> None:
        """Return when the server is at rest and all that it sent is here."""
        waiting = {r.tag: r for r in self.requests.values() if r.answer is None and r.task and not r.task.done()}
        sockets = [place.socket for place in self.places.values()]
        frames = {socket.tag: socket.sent for socket in sockets if socket.sent and not socket.closed}
        if self.server.running:
            found = await self.server.call("rest", seen=list(waiting), gone=[], frames=frames)
            for tag in found["answered"]:
                await waiting[tag].done()
        for socket in sockets:
            await socket.catch_up()

    async def note(self, step: dict[str, Any]) -> None:
        """Write down what was sent in a step, sockets first, then rooms, each as it came."""
        told = await self.server.call("emissions") if self.server.running else []
        fresh = {name: place.fresh() for name, place in self.places.items()}
        if step["do"] == "request":
            self.learn(step["as"], told)
        rooms = [one["frame"] for one in told]
        for name, frames in fresh.items():
            for frame in frames:
                event = frame.get("event", "")
                if frame in rooms or not (event in ANSWERS or event.endswith((".resolved", ".requested"))):
                    continue
                if event.endswith(".requested") or frame.get("resolved") is True:
                    self.faults.append(f"{name} was sent {frame}, which is for another room")
                payload = {key: value for key, value in frame.items() if key != "event" or event not in ANSWERS}
                self.add(f"socket:{name}", event, payload)
        for one in told:
            frame = one["frame"]
            if one["kind"] == "session":
                self.add(f"session-room:{frame['session_id']}", frame["event"], frame)
                continue
            profile = self.profiles[one["profile"]]
            room = [p for p in self.places.values() if (p.device, p.profile) == (one["to"], profile)]
            missed = [p.name for p in room if not p.socket.closed and frame not in fresh[p.name]]
            self.faults += [f"{frame['event']} did not reach {name}" for name in missed]
            self.add(f"device-room:{room[0].name if room else one['to']}", frame["event"], frame)

    def add(self, to: str, event: str, payload: dict[str, Any]) -> None:
        text = json.dumps(payload)
        for name, one in self.ids.items():
            text = text.replace(json.dumps(one), json.dumps(f"<{name}>"))
        self.events.append({"to": to, "event": event, "payload": json.loads(text)})

    def learn(self, name: str, told: list[dict[str, Any]]) -> None:
        """Learn the id of a request from its answer, else from what the phone was sent."""
        answer = self.requests[name].answer
        body = answer.json if answer else None
        found = body.get("confirmation_id") if isinstance(body, dict) else None
        for one in told:
            frame = one["frame"]
            if frame["event"].endswith(".requested"):
                found = found or frame[f"{frame['capability']}_request_id"]
        if found:
            self.ids[name] = found

    async def result(self) -> dict[str, Any]:
        responses = {}
        for name, request in self.requests.items():
            answer = request.answer
            responses[name] = {"status": answer.status, "body": answer.json} if answer else None
        return {"responses": responses, "events": self.events, "pending": await self.server.call("pending")}

    async def leave(self) -> None:
        for request in self.requests.values():
            if request.answer is None:
                await request.hang_up()
        for place in self.places.values():
            await place.socket.close()

    # --- steps -------------------------------------------------------------------------------------------------------

    async def do_run(self, step: dict[str, Any]) -> None:
        members = {name: step[name] for name in ("background", "source", "profile") if name in step}
        if step.get("from") in self.places:
            await self.say(step["from"], {"event": "run.started", "session_id": step["session"], **members})
            return
        members.pop("source", None)
        await self.host("POST", step["session"], "/runs", members)

    async def do_run_end(self, step: dict[str, Any]) -> None:
        shown = await self.host("GET", step["session"], "/runs")
        for run in shown["runs"]:
            if run["state"] == "running":
                await self.host("POST", step["session"], f"/runs/{run['id']}/end", {})

    async def host(self, method: str, session: str, path: str, body: Any = None) -> Any:
        """Speak as the agent's host, which may use the session's profile."""
        profile = next(one["profile"] for one in self.world["sessions"] if one["id"] == session)
        headers = {"authorization": f"Bearer {self.secrets[f'browser {profile}']}", **JSON}
        data = b"" if body is None else json.dumps(body).encode()
        answer = await fetch(self.origin, method, f"/api/sessions/{session}{path}", headers=headers, body=data)
        assert answer.status in (200, 201), answer.text
        return answer.json

    async def do_request(self, step: dict[str, Any]) -> None:
        profile = step.get("profile")
        secret = self.secrets.get("caller") or self.secrets.get(f"caller {profile or 'default'}") or "sayso_nobody"
        headers = {"authorization": f"Bearer {secret}", **JSON}
        if profile is not None:
            headers["x-hermes-profile"] = profile
        data = json.dumps(step["body"]).encode() if "body" in step else b""
        request = Request(method="POST", path="/api/studio/mobile-calendar/request", headers=headers, body=data)
        self.requests[step["as"]], self.bodies[step["as"]] = request, step.get("body")
        await request.send(self.origin)

    async def do_respond(self, step: dict[str, Any]) -> None:
        body = self.bodies.get(step.get("request", ""))
        session = body.get("session_id") if isinstance(body, dict) else None
        capability = step["event"].removesuffix(".respond")
        payload = step["payload"] if isinstance(step["payload"], dict) else {}
        frame = {"session_id": step.get("session_id", session or step.get("fallback_session"))}
        if not step.get("omit_id"):
            known = self.ids.get(step.get("request", ""), f"<{step.get('request')}>")
            frame[f"{capability}_request_id"] = step.get("request_id", known)
        await self.say(step["from"], {**frame, **payload, "event": step["event"]})

    async def say(self, name: str, frame: dict[str, Any]) -> None:
        assert await self.places[name].socket.say(frame), f"{name} is not connected"

    async def do_resume(self, step: dict[str, Any]) -> None:
        number = {"event": "app.resume", "id": step["id"]} if "id" in step else {"event": "resume"}
        await self.say(step["socket"], {**number, "session_id": step["session"]})

    async def do_advance(self, step: dict[str, Any]) -> None:
        await self.server.advance(step["ms"])

    async def do_disconnect(self, step: dict[str, Any]) -> None:
        socket = self.places[step["socket"]].socket
        await socket.close()
        await self.server.call("rest", seen=[], gone=[socket.tag], frames={})

    async def do_connect(self, step: dict[str, Any]) -> None:
        place = self.places[step["socket"]]
        old = place.socket
        assert isinstance(old, Phone)
        place.socket = Phone(name=old.name, device_code=old.device_code, profile=old.profile)
        place.socket.secret, place.read = old.secret, 0
        assert await place.socket.connect(self.origin)

    async def do_dispose_session(self, step: dict[str, Any]) -> None:
        await self.server.call("dispose", session=step["session"])

    async def do_shutdown(self, step: dict[str, Any]) -> None:
        """Stop in order; what is said from here on is said to the next process, by those who connect again."""
        await self.server.end("stop")
        await asyncio.gather(*(request.done() for request in self.requests.values()))
        for place in self.places.values():
            await place.socket.close()
        self.server.start(now_ms=self.server.now_ms)
