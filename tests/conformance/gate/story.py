"""A story on its way: the world, the steps, and rest after each of them."""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.conformance.gate import calendars, decisions, doors, values
from tests.conformance.gate.browser import Page, Person
from tests.conformance.gate.phone import Phone
from tests.conformance.gate.wire import Answer, Request, fetch
from tests.conformance.process import ServerProcess

Step = dict[str, Any]


@dataclass(kw_only=True)
class Ask:
    """A named request and what it asked for."""

    name: str
    by: str
    request: Request
    confirmation: str = ""
    session: str = ""
    sent_ids: list[str] = field(default_factory=list)


class Story:
    """Drives one story against a server; afterwards `tests.conformance.gate.outcome` compares."""

    def __init__(self, server: ServerProcess, story: dict[str, Any]) -> None:
        self.server = server
        self.world: dict[str, Any] = story["input"]["world"]
        self.steps: list[Step] = story["input"]["steps"]
        self.people: dict[str, Person] = {}
        self.phones: dict[str, Phone] = {}
        self.secrets: dict[str, str] = {}
        self.items: dict[str, str] = {}
        self.asks: dict[str, Ask] = {}
        self.named: dict[str, Request] = {}
        self.seen: dict[str, list[dict[str, Any]]] = {}
        self.decided: dict[str, str] = {}
        self.calendars: dict[str, str] = {}
        self.ran = 0
        self.cards_before: set[str] = set()
        self.states: dict[str, str] = {}
        self.receipt_ids: dict[str, str] = {}

    async def run(self) -> None:
        """Make the world and go through the steps."""
        await self.begin()
        for step in self.steps:
            await self.do(step)

    async def begin(self) -> None:
        await self.server.reset(moment_ms(self.world["now"]))
        made = await self.server.call("world", world=self.world)
        self.secrets = made["secrets"]
        for name in self.world.get("people", {}):
            person = self.people[name] = Person(name=name)
            if not await person.sign_in(self.server.origin, f"{name} says so"):
                person.cookie = await self.server.call("sign_in", person=name)
            await person.open_page(self.server.origin)
        await calendars.make(self)
        for name, device in self.world.get("devices", {}).items():
            phone = Phone(name=name, device_code=device["device_code"], profile=device["profile"])
            self.phones[name] = phone
            await phone.pair(self.server.origin, self.people[device["person"]])
            assert await phone.connect(self.server.origin), f"{name} cannot connect"
        await self.rest()
        for session in self.world.get("sessions", ()):
            if "run_by" in session:
                await self.phones[session["run_by"]].say({"event": "run.started", "session_id": session["id"]})
        await self.look_up(self.steps)
        await self.look_up([f"<event:{s['id']}>" for s in self.steps if s.get("kind") == "event"])
        await self.rest()

    async def look_up(self, value: Any) -> None:
        """Learn the ids of the items that a value names, before any of them is gone."""
        names = {name for name in values.placeholders(value) if name.partition(":")[0] in values.OF_ITEMS}
        wanted = sorted(names - self.items.keys())
        if wanted:
            self.items |= await self.server.call("ids", names=wanted)

    async def do(self, step: Step) -> None:
        """Take one step; it ends when the server is at rest."""
        await self.prepare(step)
        await self.send(step)
        await self.rest()
        await self.settle(step)

    async def prepare(self, step: Step) -> None:
        self.cards_before = {card for page in self.pages() for card in page.known}
        self.cards_before |= {request for phone in self.phones.values() for request in phone.requests}
        for one in step["steps"] if step["do"] == "parallel" else [step]:
            if one["do"] == "decide":
                await decisions.prepare(self, one)

    async def send(self, step: Step) -> None:
        await getattr(self, f"do_{step['do']}")(step)

    async def settle(self, step: Step) -> None:
        """Take note of what the step brought about."""
        for one in step["steps"] if step["do"] == "parallel" else [step]:
            if one["do"] == "ask":
                self.name_confirmation(self.asks[one["as"]])
            elif one["do"] == "decide":
                self.decided[one["as"]] = await decisions.result(self, one)
            elif one["do"] == "see":
                self.seen[one["as"]] = list(self.people[one["by"]].page.cards.values())

    async def rest(self) -> None:
        """Return when the server is at rest and all that it sent has been taken in."""
        pending = {
            r.tag: r for r in self.named.values() if r.answer is None and not r.hung_up and r.task and not r.task.done()
        }
        hung = [r.tag for r in self.named.values() if r.hung_up]
        sockets = [*self.pages(), *self.phones.values()]
        frames = {socket.tag: socket.sent for socket in sockets if socket.sent and not socket.closed}
        if self.server.running:
            found = await self.server.call("rest", seen=list(pending), gone=hung, frames=frames)
            for tag in found["answered"]:
                await pending[tag].done()
        for socket in sockets:
            await socket.catch_up()

    def pages(self) -> list[Page]:
        return [person.page for person in self.people.values()]

    # --- steps -------------------------------------------------------------------------------------------------------

    async def do_ask(self, step: Step) -> None:
        filled = values.filled(step, self.value)
        if step["door"] == "calendars.import":
            filled["calendar_id"] = self.calendars.get(step["calendar"], step["calendar"])
        call = doors.DOORS[step["door"]](filled)
        request = Request(
            method=call.method, path=call.path, body=call.bytes(), headers=call.headers | self.credential(step["by"])
        )
        sent = list(values.texts({k: v for k, v in filled.items() if k in ("body", "id", "args")}))
        session = str((filled.get("body") or {}).get("session_id", ""))
        self.asks[step["as"]] = Ask(name=step["as"], by=step["by"], request=request, session=session, sent_ids=sent)
        await self.launch(step["as"], request)

    async def do_poll(self, step: Step) -> None:
        query = f"?wait={step['wait']}" if "wait" in step else ""
        await self.plain(step, "GET", f"/api/confirmations/{self.confirmation(step['on'])}{query}")

    async def do_withdraw(self, step: Step) -> None:
        await self.plain(step, "DELETE", f"/api/confirmations/{self.confirmation(step['on'])}")

    async def do_send(self, step: Step) -> None:
        filled = values.filled(step, self.value)
        await self.plain(step, filled["method"], filled["path"], filled.get("body"))

    async def plain(self, step: Step, method: str, path: str, body: Any = None) -> None:
        headers = self.credential(step["by"]) | ({"content-type": "application/json"} if body is not None else {})
        data = b"" if body is None else json.dumps(body).encode()
        await self.launch(step["as"], Request(method=method, path=path, headers=headers, body=data))

    async def launch(self, name: str, request: Request) -> None:
        self.named[name] = request
        await request.send(self.server.origin)

    async def do_see(self, step: Step) -> None:
        """Nothing is sent; what the page shows is noted after the rest."""

    async def do_decide(self, step: Step) -> None:
        await decisions.send(self, step)

    async def do_allow_again(self, step: Step) -> None:
        person = self.people[step["by"]]
        path = f"/api/confirmations/{self.confirmation(step['on'])}/allow-again"
        answer = await fetch(self.server.origin, "POST", path, headers=person.headers(self.server.origin))
        assert answer.status == 200, answer.text

    async def do_hang_up(self, step: Step) -> None:
        await self.asks[step["on"]].request.hang_up()

    async def do_advance(self, step: Step) -> None:
        await self.server.advance(round(step["s"] * 1000))

    async def do_restart_server(self, step: Step) -> None:
        self.ran += (await self.server.call("book"))["ran"]
        await self.server.end(step["how"])
        for request in self.named.values():
            await request.done()
        for socket in [*self.pages(), *self.phones.values()]:
            await socket.close()
        down_ms = round(step.get("down_s", 0) * 1000)
        self.server.start(now_ms=self.server.now_ms + down_ms, settings=self.world.get("settings"))
        for person in self.people.values():
            if person.cookie:
                await person.open_page(self.server.origin)
        for phone in self.phones.values():
            await phone.connect(self.server.origin)

    async def do_change_target(self, step: Step) -> None:
        if step["kind"] == "event":
            await calendars.change(self, step["id"], step["set"])
        else:
            await self.server.call("change", kind=step["kind"], id=step["id"], set=step["set"])

    async def do_revoke_token(self, step: Step) -> None:
        await self.server.call("change", kind="token", id=step["token"], set={})

    async def do_remove_member(self, step: Step) -> None:
        await self.server.call("change", kind="member", id=step["person"], set={"profile": step["profile"]})

    async def do_logout(self, step: Step) -> None:
        person = self.people[step["person"]]
        if not await person.sign_out(self.server.origin):
            await self.server.call("sign_out", person=person.name, cookie=person.cookie)

    async def do_parallel(self, step: Step) -> None:
        await asyncio.gather(*(self.send(one) for one in step["steps"]))

    # --- names -------------------------------------------------------------------------------------------------------

    def credential(self, name: str) -> dict[str, str]:
        """Return the headers by which somebody acts."""
        if name in self.people:
            return self.people[name].headers(self.server.origin)
        if name in self.phones:
            return {"authorization": f"Bearer {self.phones[name].secret}"}
        return {"authorization": f"Bearer {self.secrets[name]}"}

    def confirmation(self, ask: str) -> str:
        """Return the confirmation of an ask; one that never got an answer nor a card has none."""
        found = self.asks[ask].confirmation
        assert found, f"nothing tells which confirmation {ask} is"
        return found

    def name_confirmation(self, ask: Ask) -> None:
        """Learn which confirmation an ask created or joined: from its answer, else from the card that appeared."""
        answer = ask.request.answer
        if answer is not None:
            ask.confirmation = values.find(answer.json, "confirmation_id") or located(answer) or ask.confirmation
        if not ask.confirmation:
            taken = {other.confirmation for other in self.asks.values()}
            known = [card for page in self.pages() for card in page.known]
            known += [request for phone in self.phones.values() for request in phone.requests]
            fresh = [card for card in known if card not in self.cards_before and card not in taken]
            ask.confirmation = fresh[0] if fresh else ""

    def value(self, name: str) -> Any:
        """Return what a placeholder stands for."""
        kind, _, rest = name.partition(":")
        if kind in values.OF_ITEMS:
            return self.items[name]
        if kind == "preview":
            return next(
                p.known[self.confirmation(rest)]["facts"] for p in self.pages() if self.confirmation(rest) in p.known
            )
        if kind == "receipt":
            return self.receipt_ids[rest]
        return self.confirmation(name) if name in self.asks else f"<{name}>"

    async def finish(self) -> None:
        """Learn what the answers that came late name, and where every confirmation stands."""
        for ask in self.asks.values():
            self.name_confirmation(ask)
        confirmations = {name: ask.confirmation for name, ask in self.asks.items() if ask.confirmation}
        states = await self.server.call("states", ids=list(confirmations.values()))
        self.states = {name: states[one]["state"] for name, one in confirmations.items() if one in states}
        self.receipt_ids = {name: states[one]["receipt_id"] for name, one in confirmations.items() if one in states}

    async def leave(self) -> None:
        """Close every connection."""
        for request in self.named.values():
            if request.answer is None:
                await request.hang_up()
        for socket in [*self.pages(), *self.phones.values()]:
            await socket.close()


def located(answer: Answer) -> str:
    """Return the confirmation that an answer's Location names."""
    path = answer.header("location") or ""
    return path.rpartition("/")[2] if path.startswith("/api/confirmations/") else ""


def moment_ms(text: str) -> int:
    """Return an instant of the notation in milliseconds."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)
