"""Random legal lives of a stored log: the database answers every check as a log in memory does, after any restart.

The long form, 200 lives of 300 steps: `pytest tests/sessions/test_queries_ground.py --hypothesis-profile=long`.
"""

import itertools
import json

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from apps.accounts.models import Membership
from apps.sessions.actions import create_session
from apps.sessions.actions.appending import StaleAppend, append_events
from apps.sessions.actions.writer import forget_states
from apps.sessions.models import Citation, SessionEvent, SessionMark, SurfaceNode
from apps.sessions.queries.ground import StoredGround
from apps.sessions.queries.log import all_events, load_state, surface_messages, surface_nodes, surface_page
from apps.sessions.rules.ground import Mark
from apps.sessions.rules.repair import orphans_of, reopening_events
from apps.sessions.rules.state import State
from apps.sessions.rules.surface import fold_surface
from apps.sessions.rules.validator import load
from tests import factories
from tests.sessions import logs
from tests.sessions.test_rules_state_machine import SHORT, LogLife, compacting, in_turn

pytestmark = pytest.mark.django_db
NUMBERS = itertools.count()
FEW = st.integers(1, 5)


def caller():
    found = Membership.objects.filter(role="owner").select_related("user", "profile").first()
    if found is None:
        home = factories.profile("default")
        return factories.human(factories.person("alice", default="owner"), of=home)
    return factories.human(found.user, of=found.profile)


def message_at(events, seq):
    """Give the message of an event as the contract says, without asking the rooms' own code."""
    data = events[seq]["data"]
    return data if events[seq]["type"] == "user/message" else data["message"]


def bare(event):
    """Give an event without what its place in the log says."""
    return {name: value for name, value in event.items() if name not in {"seq", "time"}}


class Looked(StoredGround):
    """The stored ground with the looks that only a test takes."""

    def __init__(self, session):
        super().__init__(session.pk)
        self.session = session

    def __len__(self):
        return SessionEvent.objects.filter(session=self.session).count()

    def nodes(self):
        return surface_nodes(self.session)

    def marks(self, *, kind):
        found = SessionMark.objects.filter(session=self.session, kind=kind).order_by("seq", "id")
        return [Mark(one.kind, one.key, one.seq) for one in found]


class StoredLogLife(LogLife):
    def __init__(self):
        super().__init__()
        self.by = caller()
        self.session = create_session(by=self.by, ref=f"life-{next(NUMBERS)}", now_ms=0)
        self.ground = Looked(self.session)
        self.state = State()

    def append(self, *rows, orphans=frozenset()):
        events = logs.numbered(json.loads(json.dumps(rows)), first=len(self.events))
        self.store(events, orphans=orphans)
        self.events += events

    def store(self, events, *, first=None, orphans=frozenset()):
        first = len(self.events) if first is None else first
        found = append_events(
            by=self.by, session=self.session, expected_seq=first, events=events, now_ms=0, orphans=orphans
        )
        self.session.refresh_from_db()
        self.state = load_state(self.session)
        return found

    def read_again(self, *, cut, clean):
        """Forget all that the process knows, read the log from the database, and close what is open."""
        forget_states()
        self.session.refresh_from_db()
        assert list(all_events(self.session)) == self.events
        self.state = load_state(self.session)
        if in_turn(self) or compacting(self) or clean:
            self.append(*(bare(one) for one in reopening_events(state=self.state)), orphans=orphans_of(self.state))
            assert reopening_events(state=self.state) == []

    @precondition(lambda machine: machine.events)
    @rule(count=FEW)
    def host_sends_the_same_again(self, count):
        first = max(0, len(self.events) - count)
        assert self.store(self.events[first:], first=first).repeated

    @precondition(lambda machine: machine.events)
    @rule(count=FEW)
    def host_missed_something(self, count):
        first = max(0, len(self.events) - count)
        with pytest.raises(StaleAppend) as stale:
            self.store(logs.numbered([logs.user("stale", "stale")], first=first), first=first)
        assert stale.value.extra == {"next_seq": len(self.events), "events": self.events[first:]}

    def opens(self):
        state, ground = load(self.events, header=json.loads(self.session.header))
        assert state == self.state
        assert surface_nodes(self.session) == ground.nodes() == fold_surface(self.events)
        seen = [one["id"] for one in surface_messages(self.session)]
        messages = [message_at(self.events, seq) for seq in ground.nodes()]
        assert seen == [message["id"] for message in messages if message["content"]]
        for kind in ("turn", "turn-end", "reply", "command", "child", "removed"):
            assert set(self.ground.marks(kind=kind)) == set(ground.marks(kind=kind))
        cites = Citation.objects.filter(session=self.session).values_list("cited", "seq")
        assert set(cites) == {(seq, citer) for seq in range(len(self.events)) for citer in ground.citers(seq)}
        self.pages_agree(ground.nodes())

    def pages_agree(self, nodes):
        found, page = [], None
        while page is None or page.more:
            page = surface_page(self.session, after=found[-1] if found else -1, limit=3)
            found += page.nodes
        assert found == nodes
        places = list(SurfaceNode.objects.filter(session=self.session).values_list("place", "seq"))
        assert [node.seq for node in self.ground.span(first=0, last=len(self.events))] == nodes
        assert [self.ground.place(seq) for _, seq in places] == [place for place, _ in places]


TestStoredLogLife = StoredLogLife.TestCase
if settings.get_current_profile_name() == "long":
    TestStoredLogLife = pytest.mark.timeout(7200)(TestStoredLogLife)
else:
    TestStoredLogLife.settings = settings(SHORT, max_examples=6)
