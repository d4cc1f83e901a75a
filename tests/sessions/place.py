"""A profile with sessions, the people around it and two hosts, for tests below HTTP and with Django's client."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from apps.accounts.models import Profile, User, Workspace
from apps.accounts.rules import Caller
from apps.sessions.actions import create_session
from apps.sessions.models import Session
from tests import factories

NOW = 1_796_025_600_000


@dataclass(kw_only=True)
class Place:
    """What a test acts in: Alice owns, Bob is a colleague, Charlie must see nothing."""

    profile: Profile
    alice: User
    bob: User
    secrets: dict[str, str] = field(default_factory=dict)

    @classmethod
    def build(cls) -> "Place":
        place = cls(
            profile=factories.profile(),
            alice=factories.person("alice", default="owner"),
            bob=factories.person("bob", default="decider"),
        )
        theirs = factories.profile("theirs")
        charlie = factories.person("charlie", theirs="owner")
        for name, user, of in (
            ("agent", place.alice, place.profile),
            ("other", place.alice, place.profile),
            ("bobs", place.bob, place.profile),
            ("charlies", charlie, theirs),
        ):
            _, place.secrets[name] = factories.token(user, of=of)
        return place

    def caller(self, name: str = "agent") -> Caller:
        return factories.caller(self.secrets[name])

    @property
    def owner(self) -> Caller:
        return factories.human(self.alice, of=self.profile)

    def session(self, ref: str = "s1", *, now_ms: int = NOW, **members: Any) -> Session:
        return create_session(by=self.owner, ref=ref, now_ms=now_ms, **members)

    def copy(self, ref: str, *, slug: str) -> Session:
        """Make a stray copy of a session in another workspace, as an import does."""
        workspace, _ = Workspace.objects.get_or_create(profile=self.profile, slug=slug)
        return Session.objects.create(profile=self.profile, workspace=workspace, ref=ref, created_at_ms=NOW)

    def restrict(self, *members: User, slug: str = "default") -> None:
        workspace = Workspace.objects.get(profile=self.profile, slug=slug)
        workspace.restricted = True
        workspace.save()
        workspace.members.set(members)

    def call(self, method: str, path: str, body: Any = None, *, by: str = "agent", **headers: str) -> Any:
        """Send a request and return the response."""
        data = b"" if body is None else json.dumps(body)
        headers = {"authorization": f"Bearer {self.secrets[by]}", **headers}
        return Client(headers=headers).generic(method, path, data, content_type="application/json")
