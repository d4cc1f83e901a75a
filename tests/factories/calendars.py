"""A profile in Berlin with a person, an agent and a calendar, and short ways to ask and decide."""

import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.test import Client

from apps.accounts.actions import create_profile, create_token
from apps.accounts.models import User
from apps.accounts.queries import caller_for, caller_of_token, memberships_of
from apps.accounts.rules import SCOPES, Caller
from apps.calendars.actions.calendars import create_calendar
from apps.confirmations.actions.decide import Decider, Frame, decide
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import new_nonce
from apps.core import values
from apps.sessions.actions import create_session

NOW_MS = 1_796_025_600_000
"""2026-11-30T08:00Z."""
NINE_MS = 1_796_112_000_000
"""2026-12-01T09:00 in Berlin."""
DAY_MS = 86_400_000


class FixedClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.ms = NOW_MS

    def now_ms(self) -> int:
        return self.ms

    def call_at(self, at_ms, callback):
        raise AssertionError("nothing waits here")


@dataclass
class World:
    """What a test acts in."""

    owner: Caller
    agent: Caller
    secret: str
    calendar: Any
    client: Client

    def post(self, path, body, **headers):
        return self.client.post(
            path,
            data=body if isinstance(body, bytes | str) else json.dumps(body),
            content_type=headers.pop("content_type", "application/json"),
            headers={"Authorization": f"Bearer {self.secret}", **headers},
        )

    def call(self, method, path, body=None, **headers):
        return self.client.generic(
            method,
            path,
            data=b"" if body is None else json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.secret}", **headers},
        )

    def mobile(self, action, *, capability="calendar", **members):
        headers = members.pop("headers", {})
        body = {"session_id": "s1", "capability": capability, "action": action, "purpose": "p", **members}
        headers.setdefault("Prefer", "wait=0")
        return self.post("/api/studio/mobile-calendar/request", body, **headers)

    def add(self, title="Dentist", start_ms=NINE_MS, minutes=30, **members):
        item = {"title": title, "start_ms": start_ms, "end_ms": start_ms + minutes * 60_000, **members}
        answer = self.post("/api/calendars/events", item)
        assert answer.status_code == 201, answer.content
        return answer.json()["item"]

    def remind(self, title="Buy milk", **members):
        answer = self.post("/api/calendars/reminders", {"title": title, **members})
        assert answer.status_code == 201, answer.content
        return answer.json()["item"]

    def events(self, **members):
        answer = self.mobile("list", **members)
        assert answer.status_code == 200, answer.content
        return answer.json()["result"]["items"]

    def titles(self, **members):
        return [item["title"] for item in self.events(**members)]

    def starts(self, **members):
        return [item["start"][:16] for item in self.events(**members)]

    def card(self, confirmation_id) -> Confirmation:
        return Confirmation.objects.get(pk=confirmation_id)

    def facts(self, confirmation_id):
        return json.loads(self.card(confirmation_id).facts)

    def decide(self, confirmation_id, decision="approve"):
        row = self.card(confirmation_id)
        who = Decider(user_id=self.owner.user_id, label="alice", session="s")
        nonce = new_nonce(
            key=settings.SAYSO_KEYS.key("django_secret"),
            card=row.pk,
            user_id=who.user_id,
            session="s",
            connection="c",
        )
        frame = Frame(decision=decision, acknowledged=True, digest=row.digest, nonce=nonce)
        result = decide(by=who, confirmation_id=row.pk, frame=frame, now_ms=values.now_ms())
        assert result.error is None, result.error
        return result.row


def make_world(client=None) -> World:
    """Make everything; the clock must stand at `NOW_MS`."""
    user = User.objects.create_user("alice")
    profile = create_profile(name="default", time_zone="Europe/Berlin", owner=user)
    owner = caller_for(user=user, membership=memberships_of(user_id=user.pk).get())
    scopes = [scope for scope in SCOPES if scope != "device"]
    _, secret = create_token(user=user, profile=profile, label="Agent", scopes=scopes)
    found = caller_of_token(secret=secret, now_ms=NOW_MS)
    assert found is not None
    create_session(by=owner, ref="s1", now_ms=NOW_MS)
    calendar = create_calendar(by=owner, name="work", now_ms=NOW_MS)
    return World(owner=owner, agent=found[0], secret=secret, calendar=calendar, client=client or Client())
