"""Asking for a deletion and ticking it, below HTTP."""

from typing import Any

from apps.confirmations import actions
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import Outcome
from apps.core.contracts import Contract
from apps.sessions.actions.appending import append_events
from apps.sessions.contracts import DELETE_SESSION, DELETE_TURN
from apps.sessions.models import Session
from tests.factories.gate import Gate
from tests.sessions.logs import a_turn, numbered
from tests.sessions.place import NOW, Place


class Desk:
    """A place with a gate: the agent asks, Alice decides."""

    def __init__(self, place: Place) -> None:
        self.place = place
        agent = place.caller()
        self.gate = Gate(
            profile=place.profile, alice=place.alice, agent=agent, secret=place.secrets["agent"], now_ms=NOW
        )

    def session(self, ref: str, *, turns: int = 0, title: str = "", parent: str = "", origin: str = "") -> Session:
        """Store a session with so many turns."""
        told = {"parentSession": parent} | ({"origin": origin, "delegationDepth": 1} if origin else {})
        self.place.session(ref, title=title, told=told if parent else None)
        for turn in range(1, turns + 1):
            self.append(ref, *a_turn(turn, words=f"ask of {ref}"))
        return Session.objects.get(ref=ref)

    def append(self, ref: str, *events: dict[str, Any]) -> None:
        """Let the host append."""
        row = Session.objects.get(ref=ref)
        append_events(
            by=self.place.caller(),
            session=row,
            expected_seq=row.next_seq,
            events=numbered(events, first=row.next_seq, time_ms=NOW),
            now_ms=NOW,
        )

    def ask(self, contract: Contract = DELETE_SESSION, *, now_ms: int = NOW, **arguments: Any) -> Outcome:
        """Ask as the agent does."""
        members = {name: arguments.pop(name) for name in ("ids", "key", "purpose", "by") if name in arguments}
        by = members.pop("by", self.place.caller())
        return actions.submit(
            by=by, contract=contract, arguments=arguments, expires_ms=300_000, now_ms=now_ms, **members
        )

    def ask_turn(self, session: str, message: str, **members: Any) -> Outcome:
        """Ask for the removal of a reply's turn."""
        return self.ask(DELETE_TURN, session=session, message=message, **members)

    def tick(self, outcome: Outcome, **frame: Any) -> Confirmation:
        """Let Alice decide, by default with a yes; returns how it ended."""
        decision = self.gate.decide(outcome, **frame)
        assert decision.error is None
        return Confirmation.objects.get(pk=outcome.confirmation_id)
