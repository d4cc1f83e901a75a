"""What a call is made of, and the things that calls are about."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.test import Client

from apps.accounts.models import User
from tests.factories import PASSWORD
from tests.factories.calendars import NINE_MS, World

Members = Callable[["Things"], dict[str, Any]]


def nothing(things: "Things") -> dict[str, Any]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call; members that need the things at hand are given as functions of them.

    `missing` are statuses that a wrong value of a field may get because it names something that is not there, or is
    refused for everybody. `sentences` are the contract's own that stand for a field.
    """

    by: str = "agent"
    path: Members = nothing
    query: Members = nothing
    body: Members = nothing
    form: Members | None = None
    """Members of a multipart body, instead of JSON."""
    status: int = 200
    missing: dict[str, set[int]] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()


def clients_of(alice: User, secret: str) -> dict[str, Client]:
    """Return a client for each credential; the person's sends what a page of ours sends."""
    person = Client(headers={"origin": min(settings.SAYSO_ORIGINS)})
    person.force_login(alice)
    found = {"agent": Client(headers={"authorization": f"Bearer {secret}"}), "person": person, "nobody": Client()}
    for client in found.values():
        client.raise_request_exception = False
    return found


@dataclass(kw_only=True)
class Things:
    """A profile with one of everything."""

    world: World
    alice: User
    event: dict[str, Any]
    series: dict[str, Any]
    reminder: dict[str, Any]
    asked: str
    """An open confirmation."""
    denied: str
    receipt: str
    clients: dict[str, Client] = field(default_factory=dict)
    """By credential: agent, person, nobody."""
    known: dict[str, str] = field(default_factory=dict)
    """What the rooms add, such as the id of a run."""

    @classmethod
    def make(cls, world: World) -> "Things":
        event, reminder = world.add(), world.remind("Call", due_ms=NINE_MS)
        other, third = world.add("Other"), world.add("Third")
        series = world.add("Weekly", rrule="FREQ=WEEKLY;COUNT=9")
        # So that there is a revision.
        changed = world.call("PATCH", f"/api/calendars/events/{event['id']}", {"location": "Room 1"})
        assert changed.status_code == 200, changed.content
        changed = world.call("PATCH", f"/api/calendars/reminders/{reminder['id']}", {"notes": "soon"})
        assert changed.status_code == 200, changed.content
        asked, gone, denied = (cls.ask(world, item) for item in (event, other, third))
        world.decide(gone)
        world.decide(denied, "deny")
        receipt = world.call("GET", f"/api/confirmations/{gone}").json()["receipt_id"]
        alice = User.objects.get(username="alice")
        alice.set_password(PASSWORD)
        alice.save()
        return cls(
            clients=clients_of(alice, world.secret),
            world=world,
            alice=alice,
            event=event,
            series=series,
            reminder=reminder,
            asked=asked,
            denied=denied,
            receipt=receipt,
        )

    @staticmethod
    def ask(world: World, item: dict[str, Any]) -> str:
        answer = world.call("DELETE", f"/api/calendars/events/{item['id']}", Prefer="respond-async")
        return str(answer.json()["confirmation_id"])
