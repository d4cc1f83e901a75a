"""An append is whole or not at all, the same again is no second one, and a stale one is told what it missed."""

import json

import pytest

from apps.sessions.actions import create_session, start_run
from apps.sessions.actions.appending import StaleAppend, append_events
from apps.sessions.actions.erasing import erase_log
from apps.sessions.models import Citation, Session, SessionEvent, SessionMark, SurfaceNode
from apps.sessions.queries.log import events_page, load_state, surface_messages, surface_nodes
from apps.sessions.rules import SessionNotFound
from apps.sessions.rules.refusals import LogRefused
from apps.sessions.rules.validator import load
from tests import factories
from tests.sessions import logs
from tests.sessions.place import NOW

pytestmark = pytest.mark.django_db
LONE = "lone \ud800 and \0 nothing"


class Log:
    """A stored session and short ways to append to it."""

    def __init__(self, ref="s1"):
        self.home = factories.profile("default")
        self.by = factories.human(factories.person("alice", default="owner"), of=self.home)
        self.session = create_session(by=self.by, ref=ref, now_ms=NOW)

    def append(self, *rows, first=None, **more):
        self.session.refresh_from_db()
        first = self.session.next_seq if first is None else first
        events = logs.numbered(rows, first=first, time_ms=NOW)
        found = append_events(by=self.by, session=self.session, expected_seq=first, events=events, now_ms=NOW, **more)
        self.session.refresh_from_db()
        return found

    @property
    def events(self):
        return events_page(self.session, limit=1000)

    def counts(self):
        return [model.objects.count() for model in (SessionEvent, SurfaceNode, SessionMark, Citation)]


@pytest.fixture
def log():
    return Log()


def test_what_was_appended_reads_back_and_opens(log):
    log.append(*logs.a_turn(1))
    log.append(*logs.a_turn(2))
    state, ground = load(log.events, header=json.loads(log.session.header))
    assert surface_nodes(log.session) == ground.nodes() == [2, 3, 8, 9]
    assert load_state(log.session) == state
    assert (log.session.next_seq, log.session.last_ms) == (12, NOW)
    assert [message["id"] for message in surface_messages(log.session)] == ["u1", "a1", "u2", "a2"]


def test_a_batch_is_whole_or_not_at_all(log):
    before = log.counts(), Session.objects.values().get()
    with pytest.raises(LogRefused) as refused:
        log.append(*logs.a_turn(1), logs.turn_start(1))
    assert (refused.value.reason, refused.value.seq) == ("turn.unexpected_start", 6)
    assert (log.counts(), Session.objects.values().get()) == before


def test_the_same_again_is_a_success_and_writes_nothing(log):
    log.append(*logs.a_turn(1))
    log.append(*logs.a_turn(2))
    before = log.counts(), Session.objects.values().get()
    again = log.append(*logs.a_turn(1), first=0)
    assert (again.first, again.next_seq, again.repeated) == (0, 12, True)
    assert log.append(*logs.a_turn(2)[:3], first=6).repeated
    assert log.append(first=12).repeated
    assert (log.counts(), Session.objects.values().get()) == before


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        (logs.a_turn(1, words="something else"), 0),
        (logs.a_turn(3), 6),
        ([*logs.a_turn(2), *logs.a_turn(3)], 6),
        ([logs.user("u", "late")], 11),
    ],
)
def test_a_stale_append_is_told_what_it_missed(log, rows, first):
    log.append(*logs.a_turn(1), *logs.a_turn(2))
    before = log.counts()
    with pytest.raises(StaleAppend) as stale:
        log.append(*rows, first=first)
    assert (stale.value.own_status, stale.value.extra) == (409, {"next_seq": 12, "events": log.events[first:]})
    assert log.counts() == before


def test_an_append_beyond_the_end_leaves_no_hole(log):
    with pytest.raises(StaleAppend) as stale:
        log.append(logs.turn_start(1), first=3)
    assert stale.value.extra == {"next_seq": 0, "events": []}


def test_a_true_and_a_one_are_two_things(log):
    log.append({"type": "todo/write", "data": {"done": 1}})
    with pytest.raises(StaleAppend):
        log.append({"type": "todo/write", "data": {"done": True}}, first=0)
    assert log.append({"type": "todo/write", "data": {"done": 1}}, first=0).repeated


def test_texts_that_no_database_keeps_come_back_as_they_were(log):
    rows = [
        logs.turn_start(1),
        logs.step_start(1, 1),
        logs.user(LONE, LONE),
        logs.reply(1, 1, LONE, logs.text(LONE), logs.call_block(LONE, name=LONE, arguments=LONE)),
        logs.call(1, 1, LONE, name=LONE, arguments=LONE),
        logs.result(1, 1, LONE, LONE),
        {"type": f"someone/{LONE}{'x' * 99}", "data": {LONE: [2**60, 1e300, -0.5, "\x7f"]}, "ignorable": True},
        {"type": "command/run", "data": {"commandId": LONE}},
        {"type": "session/title", "data": {"title": LONE + "x" * 300, "messageSeqs": [], "source": {"kind": "user"}}},
    ]
    log.append(*rows)
    assert log.events == logs.numbered(rows, time_ms=NOW)
    assert log.session.title == ("lone  and  nothing" + "x" * 300)[:200]
    with pytest.raises(LogRefused, match=r"command\.repeated"):
        log.append({"type": "command/run", "data": {"commandId": LONE}})
    state, _ = load(log.events, header=json.loads(log.session.header))
    assert load_state(log.session) == state


def test_what_came_and_went_in_one_batch_is_off_the_surface(log):
    log.append(*logs.a_turn(1), *logs.a_compaction("c1", seq=6, shadowed=[2, 3]), *logs.a_turn(2))
    assert surface_nodes(log.session) == [8, 12, 13]
    log.append(*logs.a_compaction("c2", seq=16, shadowed=[8, 12, 13]), *logs.a_compaction("c3", seq=20, shadowed=[18]))
    assert surface_nodes(log.session) == [22]
    assert list(SurfaceNode.objects.values_list("place", "seq")) == [(2, 22)]


def test_a_state_of_another_make_is_worked_out_anew(log):
    log.append(*logs.a_turn(1), logs.turn_start(2), logs.step_start(2, 1))
    state = load_state(log.session)
    Session.objects.update(state='{"format":0}')
    log.append(logs.user("u", "on"))
    assert load_state(log.session).turn == state.turn == 2


def test_one_session_s_log_is_no_other_s(log):
    log.append(*logs.a_turn(1))
    first, log.session = log.session, create_session(by=log.by, ref="s2", now_ms=NOW)
    log.append({"type": "command/run", "data": {"commandId": "k"}}, *logs.a_turn(1))
    assert (surface_nodes(first), surface_nodes(log.session)) == ([2, 3], [3, 4])


def test_a_session_that_is_gone_takes_nothing(log):
    erase_log(session=log.session)
    with pytest.raises(SessionNotFound):
        append_events(by=log.by, session=log.session, expected_seq=0, events=[], now_ms=NOW)


def test_erasing_takes_every_row_of_one_copy_and_no_other(log):
    log.append(*logs.a_turn(1), *logs.a_compaction("c1", seq=6, shadowed=[2, 3]))
    kept, log.session = log.session, create_session(by=log.by, ref="s2", now_ms=NOW)
    before = log.counts()
    log.append(*logs.a_turn(1), logs.user("u", "cites", sourceEventSeqs=[2]))
    start_run(by=log.by, ref="s2", now_ms=NOW)
    counts = erase_log(session=log.session)
    assert {name.removeprefix("agent_sessions_"): count for name, count in counts.items()} == {
        "citation": 1,
        "sessionmark": 3,
        "surfacenode": 3,
        "sessionevent": 7,
        "inboxmessage": 0,
        "lease": 0,
        "importedfile": 0,
        "run": 1,
        "session": 1,
    }
    assert (log.counts(), list(Session.objects.all())) == (before, [kept])
