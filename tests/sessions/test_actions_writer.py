"""Appends that wait together are written together; each is checked by itself and answered after the commit."""

import asyncio
import threading

import pytest
from django.db import OperationalError, connections

from apps.core.threads import Lane
from apps.sessions.actions import writer
from apps.sessions.actions.appending import StaleAppend, append_events
from apps.sessions.actions.writer import Append, Appended, forget_states, write_appends
from apps.sessions.models import Session
from apps.sessions.queries.log import all_events, load_state, surface_nodes
from apps.sessions.rules import SessionNotFound
from apps.sessions.rules.refusals import LogRefused
from apps.sessions.rules.validator import load
from tests.sessions import logs
from tests.sessions.place import NOW


@pytest.fixture
def lane(place):
    """A lane of its own, stopped after the test."""
    own = Lane()
    yield own
    own.stop()


def wanted(session, *rows, first=0):
    return Append(
        by="token:x", session_id=session.pk, expected_seq=first, events=logs.numbered(rows, first=first), now_ms=NOW
    )


async def together(lane, *appends):
    """Let appends wait while the lane is busy, so that it takes them as one group."""
    started, go = threading.Event(), threading.Event()

    def busy():
        started.set()
        go.wait(20)

    first = lane.run(busy)
    await asyncio.to_thread(started.wait, 20)
    futures = [lane.run_together(write_appends, one) for one in appends]
    go.set()
    await first
    return await asyncio.gather(*futures, return_exceptions=True)


def opens(session):
    """Load the stored log from scratch; what is stored beside it must say the same."""
    session = Session.objects.get(pk=session.pk)
    events = list(all_events(session))
    state, ground = load(events, header={**logs.HEADER, "id": session.ref})
    assert (session.next_seq, load_state(session), surface_nodes(session)) == (len(events), state, ground.nodes())
    return len(events)


async def test_one_caller_s_refusal_is_never_another_s(lane, place):
    one, two, gone = await lane.run(lambda: [place.session(ref) for ref in ("a", "b", "c")])
    await lane.run(gone.delete)
    answers = await together(
        lane,
        wanted(one, *logs.a_turn(1)),
        wanted(two, *logs.a_turn(2)),
        wanted(two, *logs.a_turn(1), first=3),
        wanted(gone, *logs.a_turn(1)),
        wanted(two, *logs.a_turn(1)),
    )
    assert [type(answer) for answer in answers] == [Appended, LogRefused, StaleAppend, SessionNotFound, Appended]
    assert await lane.run(lambda: [opens(one), opens(two)]) == [6, 6]


async def test_appends_to_one_log_follow_each_other_within_a_group(lane, place):
    session = await lane.run(place.session)
    answers = await together(
        lane,
        wanted(session, *logs.a_turn(1)),
        wanted(session, *logs.a_turn(1)),
        wanted(session, *logs.a_compaction("c", seq=6, shadowed=[2, 3]), first=6),
        wanted(session, *logs.a_turn(2), first=6),
        wanted(session, *logs.a_turn(2), first=10),
    )
    assert answers[:3] + answers[4:] == [
        Appended(first=0, next_seq=6),
        Appended(first=0, next_seq=6, repeated=True),
        Appended(first=6, next_seq=10),
        Appended(first=10, next_seq=16),
    ]
    assert isinstance(answers[3], StaleAppend)
    assert await lane.run(lambda: opens(session)) == 16


async def test_a_group_costs_one_commit(lane, place, monkeypatch):
    sessions = await lane.run(lambda: [place.session(f"s{n}") for n in range(20)])
    commits = []
    kind = type(connections["default"])
    real = kind.commit
    monkeypatch.setattr(kind, "commit", lambda self: commits.append("commit") or real(self))
    await together(lane, *(wanted(session, *logs.a_turn(1)) for session in sessions))
    assert commits == ["commit"]
    assert await lane.run(lambda: [opens(session) for session in sessions]) == [6] * 20


async def test_a_lost_commit_is_made_up_for_one_by_one(lane, place, monkeypatch):
    one, two = await lane.run(lambda: [place.session(ref) for ref in ("a", "b")])
    kind = type(connections["default"])
    real = kind.commit

    def fails(self):
        monkeypatch.setattr(kind, "commit", real)
        raise OperationalError("the disk is full")

    monkeypatch.setattr(kind, "commit", fails)
    answers = await together(lane, wanted(one, *logs.a_turn(1)), wanted(two, *logs.a_turn(2)))
    assert answers[0] == Appended(first=0, next_seq=6)
    assert isinstance(answers[1], LogRefused)
    assert await lane.run(lambda: opens(one)) == 6


async def test_what_is_remembered_of_a_log_survives_a_roll_back_and_another_writer(lane, place):
    """What another process appends is seen at once, though this one remembers where the log stood."""
    session = await lane.run(place.session)

    def in_another_life(*rows, first):
        kept = dict(writer._states)
        forget_states()
        append_events(
            by=place.owner, session=session, expected_seq=first, events=logs.numbered(rows, first=first), now_ms=NOW
        )
        writer._states.update(kept)

    assert await together(lane, wanted(session, *logs.a_turn(1))) == [Appended(first=0, next_seq=6)]
    await lane.run(lambda: in_another_life(*logs.a_turn(2), first=6))
    (late,) = await together(lane, wanted(session, logs.user("u", "late"), first=6))
    assert isinstance(late, StaleAppend)
    (refused,) = await together(lane, wanted(session, logs.turn_start(2), first=12))
    assert isinstance(refused, LogRefused)
    assert await together(lane, wanted(session, *logs.a_turn(3), first=12)) == [Appended(first=12, next_seq=18)]
    assert await lane.run(lambda: opens(session)) == 18


@pytest.mark.usefixtures("transactional_db")
def test_appenders_side_by_side_never_lose_or_double_an_event(place):
    """Eight threads with connections of their own, two to a log: as several processes would be."""
    sessions = [place.session(f"s{n}") for n in range(4)]
    failures = []

    def append_turns(session):
        turn = done = 0
        try:
            while done < 10:
                turn += 1
                try:
                    append_events(
                        by=place.owner,
                        session=session,
                        expected_seq=(turn - 1) * 6,
                        events=logs.numbered(logs.a_turn(turn, words=str(id(session))), first=(turn - 1) * 6),
                        now_ms=NOW,
                    )
                    done += 1
                except StaleAppend:
                    continue
        except BaseException as error:  # noqa: BLE001 (shown by the test)
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=append_turns, args=(session,)) for session in sessions for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    for session in sessions:
        assert opens(session) % 6 == 0
        assert opens(session) >= 60
