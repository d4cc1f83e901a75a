"""A profile with people, an agent and workspaces to erase, for tests of the gate below HTTP."""

from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from apps.accounts.models import Profile, User
from apps.accounts.rules import Caller
from apps.confirmations import actions
from apps.confirmations.actions.decide import Decision
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import Decider, Frame, Outcome, new_nonce
from apps.core.contracts import Contract
from tests import factories
from tests.factories.contracts import ERASE

NOW_MS = 1_796_025_600_000


@dataclass(kw_only=True)
class Gate:
    """What a test of the gate needs at hand."""

    profile: Profile
    alice: User
    agent: Caller
    secret: str
    now_ms: int = NOW_MS

    @classmethod
    def build(cls) -> "Gate":
        profile = factories.profile()
        alice = factories.person("alice", default="owner")
        _, secret = factories.token(alice, of=profile)
        for slug in ("old", "older", "oldest"):
            factories.workspace(slug, of=profile)
        return cls(profile=profile, alice=alice, agent=factories.caller(secret), secret=secret)

    def ask(
        self, slug: str = "old", *, contract: Contract = ERASE, by: Caller | None = None, **members: Any
    ) -> Outcome:
        wanted = {"expires_ms": 300_000, "now_ms": self.now_ms, **members}
        return actions.submit(by=by or self.agent, contract=contract, arguments={"slug": slug}, **wanted)

    def row(self, outcome: Outcome) -> Confirmation:
        return Confirmation.objects.get(pk=outcome.confirmation_id)

    def decider(self, user: User | None = None, *, connection: str | None = "c1", session: str = "s1") -> Decider:
        person = user or self.alice
        return Decider(user_id=person.pk, label=person.username, session=session, connection=connection)

    def nonce(self, outcome: Outcome, by: Decider) -> str:
        return new_nonce(
            key=settings.SAYSO_KEYS.key("django_secret"),
            card=outcome.confirmation_id,
            user_id=by.user_id,
            session=by.session,
            connection=by.connection or "post",
        )

    def frame(self, outcome: Outcome, by: Decider, **changes: Any) -> Frame:
        row = self.row(outcome)
        frame = Frame(decision="approve", acknowledged=True, digest=row.digest, nonce=self.nonce(outcome, by))
        return replace(frame, **changes)

    def decide(self, outcome: Outcome, *, by: Decider | None = None, **changes: Any) -> Decision:
        who = by or self.decider()
        frame = self.frame(outcome, who, **changes)
        return actions.decide(by=who, confirmation_id=outcome.confirmation_id, frame=frame, now_ms=self.now_ms)
