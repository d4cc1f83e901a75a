"""No credential but a person's own sign-in moves a confirmation out of pending, through whatever route or frame.

What leads away from execution stays allowed: the requester withdraws, a phone's person aborts the session that asked.
"""

import json
from itertools import product

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.views import SpectacularAPIView

from apps.accounts import actions as accounts
from apps.confirmations.models import Confirmation
from apps.core import contracts as registry
from apps.core.frames import all_frames
from apps.core.values import clock, set_clock
from project.routing import websocket_urlpatterns
from tests import factories
from tests.conformance.clock import ManualClock
from tests.conformance.gate.browser import Socket
from tests.conformance.gate.phone import Phone
from tests.conformance.gate.story import Story
from tests.factories.contracts import ERASE
from tests.factories.gate import NOW_MS, Gate

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
TOKENS = ("requester", "agent", "person", "device", "revoked", "expired")
SESSIONS = ("viewer", "stranger")


def routes(patterns, prefix=""):
    """Give every route with its parameters, as paths to be filled."""
    for pattern in patterns:
        route = getattr(pattern.pattern, "_route", None)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, prefix + (route or ""))
        elif isinstance(pattern, URLPattern) and route is not None:
            yield prefix + route, pattern.pattern.converters


def filled(route, converters, confirmation):
    """Put the confirmation wherever a route takes an id, a number where it takes one."""
    path = route
    for name, converter in converters.items():
        value = "1" if type(converter).__name__ == "IntConverter" else confirmation
        for written in (f"<{name}>", *(f"<{kind}:{name}>" for kind in ("str", "int", "path", "slug", "uuid"))):
            path = path.replace(written, value)
    return f"/{path}"


@pytest.fixture
def gate(db, monkeypatch):
    monkeypatch.setitem(registry._contracts, ERASE.name, ERASE)
    before = clock()
    set_clock(ManualClock(NOW_MS))
    yield Gate.build()
    set_clock(before)


@pytest.fixture
def credentials(gate):
    """Make every credential that is no decider's sign-in, with a client that carries it."""
    owner = factories.human(gate.alice, of=gate.profile)
    everything = [*factories.ALL_SCOPES, "device"]
    secrets = {"requester": gate.secret}
    for name, kind in (("agent", "agent"), ("person", "person"), ("device", "device")):
        _, secrets[name] = factories.token(gate.alice, of=gate.profile, kind=kind, scopes=everything)
    revoked, secrets["revoked"] = factories.token(gate.alice, of=gate.profile, scopes=everything)
    accounts.revoke_token(token_id=revoked.pk, by=owner, now_ms=gate.now_ms)
    _, secrets["expired"] = factories.token(gate.alice, of=gate.profile, scopes=everything, expires_at_ms=1)
    factories.profile("other")
    people = {
        "viewer": factories.person("vera", default="viewer"),
        "stranger": factories.person("charlie", other="owner"),
    }
    found = {"none": (Client(enforce_csrf_checks=True), None)}
    for name, secret in secrets.items():
        found[name] = (Client(enforce_csrf_checks=True, headers={"authorization": f"Bearer {secret}"}), None)
    for name, person in people.items():
        origin = min(settings.SAYSO_ORIGINS)
        found[name] = (Client(enforce_csrf_checks=True, headers={"origin": origin, "x-csrftoken": "a" * 32}), person)
    return found


def decision(gate, outcome):
    """Return everything that a page would send, and what a phone would."""
    row = gate.row(outcome)
    facts = {"type": "decide", "id": row.pk, "decision": "approve", "acknowledged": True, "digest": row.digest}
    facts |= {"nonce": gate.nonce(outcome, gate.decider()), "session_id": "s1", "calendar_request_id": row.pk}
    return facts | {
        "reminder_request_id": row.pk,
        "status": "success",
        "result": {"item": {"id": "x", "deleted": True}},
    }


@pytest.mark.parametrize("name", ["none", *TOKENS, *SESSIONS])
def test_no_route_moves_a_pending_confirmation(gate, credentials, monkeypatch, name):
    client, person = credentials[name]
    client.raise_request_exception = False
    # Describing the routes takes a second each time and is the same for everybody.
    monkeypatch.setattr(SpectacularAPIView, "_get_schema_response", lambda *_: HttpResponse())
    found = list(routes(get_resolver().url_patterns))
    assert any("decision" in route for route, _ in found)
    outcome = gate.ask()
    moved = []
    for (route, converters), method in product(found, METHODS):
        if method in ("PUT", "PATCH") and not route.startswith("api/"):
            continue  # no form of a page sends these
        if person is not None and method == "GET":
            client.force_login(person)  # some routes end the session
            client.cookies["sayso_csrf"] = "a" * 32
        path = filled(route, converters, outcome.confirmation_id)
        body = json.dumps(decision(gate, outcome))
        answer = client.generic(method, path, body, content_type="application/json")
        state = gate.row(outcome).state
        own = name == "requester" and (method, route) == ("DELETE", "api/confirmations/<str:confirmation_id>")
        if own:
            assert (answer.status_code, state) == (200, "withdrawn")
            outcome = gate.ask()
        elif state != "pending":
            moved.append((method, path, state))
            outcome = gate.ask()
        if answer.status_code >= 500:
            moved.append((method, path, answer.status_code))
    assert moved == []
    assert not Confirmation.objects.filter(state="executed").exists()


def test_the_owner_with_the_same_frame_does(gate):
    """What the others sent was right in everything but the credential."""
    client = Client(enforce_csrf_checks=True, headers={"origin": min(settings.SAYSO_ORIGINS)})
    client.force_login(gate.alice)
    client.cookies["sayso_csrf"] = "a" * 32
    outcome = gate.ask()
    shown = client.get(f"/api/inbox/{outcome.confirmation_id}").json()
    body = decision(gate, outcome) | {"nonce": shown["nonce"]}
    answer = client.post(
        f"/api/confirmations/{outcome.confirmation_id}/decision",
        body,
        content_type="application/json",
        headers={"x-csrftoken": "a" * 32},
    )
    assert (answer.status_code, gate.row(outcome).state) == (200, "executed")


WORLD = {
    "now": "2026-11-30T08:00:00Z",
    "profiles": {
        "default": {"zone": "Europe/Berlin"},
        "phones": {"zone": "Europe/Berlin", "calendars": "device"},
        "other": {"zone": "Europe/Berlin"},
    },
    "people": {
        "alice": {"default": "owner", "phones": "owner"},
        "vera": {"default": "viewer", "phones": "viewer"},
        "charlie": {"other": "owner"},
    },
    "tokens": {
        "agent": {"person": "alice", "profile": "default", "scopes": "all"},
        "asker": {"person": "alice", "profile": "phones", "scopes": "all"},
        "mine": {"person": "alice", "profile": "phones", "scopes": "all", "kind": "person"},
        "dead": {"person": "alice", "profile": "phones", "scopes": "all"},
        "old": {"person": "alice", "profile": "phones", "scopes": "all", "expires_at_ms": 1},
    },
    "devices": {
        "phone": {"person": "alice", "profile": "phones", "device_code": "iphone"},
        "tablet": {"person": "alice", "profile": "phones", "device_code": "ipad"},
    },
    "sessions": [{"id": "s1", "profile": "phones", "run_by": "phone"}],
    "workspaces": [{"profile": "default", "id": "w1"}],
}
ERASE_ASK = {"do": "ask", "as": "r1", "by": "agent", "door": "test.erase", "id": "w1", "prefer": "respond-async"}
DEVICE_ASK = {
    "do": "ask",
    "as": "r2",
    "by": "asker",
    "door": "mobile_calendar",
    "prefer": "respond-async",
    "body": {
        "session_id": "s1",
        "capability": "calendar",
        "action": "delete",
        "purpose": "Test",
        "item": {"id": "evt-42", "title": "Project sync", "start_ms": 1796140800000},
    },
}
# By ruling 4 of calendars.md an abort takes back what the session asked.
WITHDRAWING = ("abort",)


@pytest.fixture
async def story(server):
    told = Story(server, {"input": {"world": WORLD, "steps": []}})
    await told.begin()
    await told.do({"do": "revoke_token", "token": "dead"})
    yield told
    await told.leave()


def frames(story):
    """Give every frame that any socket knows, about either confirmation."""
    events = sorted({event for _, event in all_frames()} | {"calendar.respond", "reminder.respond", "hello", "auth"})
    for ask, event in product(("r1", "r2"), ["decide", *events]):
        confirmation = story.confirmation(ask)
        page = story.people["alice"].page
        frame = {"event": event, "type": "decide", "id": confirmation, "decision": "approve", "acknowledged": True}
        frame |= {"digest": page.known.get(confirmation, {}).get("digest", "0" * 64), "session_id": "s1"}
        frame |= {"nonce": next(iter(page.nonces.get(confirmation, [])), "a.b.c"), "actions": ["delete"]}
        frame |= {"calendar_request_id": confirmation, "reminder_request_id": confirmation, "status": "success"}
        yield event, frame | {"result": {"item": {"id": "evt-42", "deleted": True}}}


def handshakes(story):
    """Give the headers and the Origin of every credential that is neither a decider's nor the target phone's."""
    origin = story.server.origin
    yield "none", {}, origin
    for name, secret in story.secrets.items():
        yield name, {"authorization": f"Bearer {secret}"}, None
        yield f"{name} in a page", {"authorization": f"Bearer {secret}"}, origin
    yield "tablet", {"authorization": f"Bearer {story.phones['tablet'].secret}"}, None
    for name in ("vera", "charlie"):
        yield name, story.people[name].browser_headers(), origin
    yield "alice from elsewhere", story.people["alice"].browser_headers(), "https://elsewhere.example"
    yield "alice from nowhere", story.people["alice"].browser_headers(), None
    both = story.people["alice"].browser_headers() | {"authorization": f"Bearer {story.secrets['mine']}"}
    yield "alice and a token", both, origin


async def test_no_frame_moves_a_pending_confirmation(story):
    await story.do(ERASE_ASK)
    await story.do(DEVICE_ASK)
    paths = [f"/{pattern.pattern._route}" for pattern in websocket_urlpatterns]
    assert "/ws/confirmations/" in paths
    moved = []
    for (name, headers, origin), path in product(list(handshakes(story)), paths):
        if path == "/ws/device/" and headers.get("cookie") and "authorization" not in headers:
            headers = {}  # a cookie does not count there; what remains is nobody
        for event, frame in frames(story):
            socket = Socket()
            if await socket.open(story.server.origin, f"{path}?profile=phones", headers=headers, page=origin):
                await socket.say(frame)
                await story.server.call("rest", seen=[], gone=[], frames={socket.tag: socket.sent})
            await socket.close()
            moved += await moves(story, f"{name} {path} {event}", event)
    assert moved == []
    assert story.server.complaints() == ""


async def moves(story, what, event):
    """List what is no longer pending, and ask for it again."""
    states = await story.server.call("states", ids=[story.confirmation("r1"), story.confirmation("r2")])
    found = []
    for ask, step in (("r1", ERASE_ASK), ("r2", DEVICE_ASK)):
        state = states[story.confirmation(ask)]["state"]
        if state == "pending":
            continue
        if not (event in WITHDRAWING and ask == "r2" and state == "withdrawn"):
            found.append(f"{what}: {ask} is {state}")
        story.asks.pop(ask)
        await story.phones["phone"].say({"event": "run.started", "session_id": "s1"})
        await story.rest()
        await story.do(step)
    return found


async def test_the_phone_that_is_asked_decides_its_own_and_nothing_else(story):
    await story.do(ERASE_ASK)
    await story.do(DEVICE_ASK)
    phone: Phone = story.phones["phone"]
    for name in ("calendar_request_id", "reminder_request_id"):
        await phone.say(
            {"event": "calendar.respond", "session_id": "s1", name: story.confirmation("r1"), "status": "denied"}
        )
    await story.rest()
    assert (await story.server.call("states", ids=[story.confirmation("r1")]))[story.confirmation("r1")][
        "state"
    ] == "pending"
    await story.do({"do": "decide", "as": "d1", "by": "tablet", "on": "r2", "decision": "approve"})
    assert story.decided["d1"] == "refused"
    await story.do({"do": "decide", "as": "d2", "by": "phone", "on": "r2", "decision": "approve"})
    assert story.decided["d2"] == "executed"
