"""Timers fire at their moment, go on to the next, and outlive a failure."""

from types import SimpleNamespace

import pytest

from apps.core import timers
from apps.core.timers import BUSY_MS, MORE, RETRY_MS, Timer
from apps.core.values import clock, set_clock
from tests.conformance.clock import ManualClock


@pytest.fixture
def at_zero(monkeypatch):
    """A clock that stands, and a lane that is this very thread."""
    before, manual = clock(), ManualClock(0)
    set_clock(manual)

    async def here(call):
        return call()

    monkeypatch.setattr(timers, "lane", SimpleNamespace(run=here))
    yield manual
    set_clock(before)


def timer(run_due, due=None):
    return Timer(name="test", next_due_ms=lambda: due, run_due=run_due, event="thing.asked")


async def test_after_its_work_it_waits_for_the_next(at_zero):
    done = []
    one = timer(lambda *, now_ms: done.append(now_ms), due=700)
    await one.work()
    assert (done, one.armed_ms, one.working) == ([0], 700, False)


async def test_an_earlier_deadline_is_heard_and_a_later_one_is_not(at_zero):
    one = timer(lambda *, now_ms: None)
    for deadline, armed in ((500, 500), (900, 500), (300, 300)):
        one.hear({"event": "thing.asked", "deadline": deadline})
        assert one.armed_ms == armed
    one.hear({"event": "thing.else", "deadline": 1})
    assert one.armed_ms == 300


async def test_a_failure_is_tried_again(at_zero, caplog):
    def fails(*, now_ms):
        raise OSError("the disk is full")

    one = timer(fails)
    await one.work()
    assert (one.armed_ms, one.working) == (RETRY_MS, False)
    assert "the timer test failed" in caplog.text


async def test_any_number_of_wakes_during_the_work_are_one_more_round(at_zero):
    rounds = []

    def work(*, now_ms):
        rounds.append(now_ms)
        if len(rounds) == 1:
            for _ in range(3):
                one.fire()

    one = timer(work)
    await one.work()
    assert len(rounds) == 2
    assert not one.working


async def test_work_that_let_go_of_the_lane_goes_on_at_once(at_zero):
    answers = [MORE, MORE, None]
    one = timer(lambda *, now_ms: answers.pop(0), due=900)
    await one.work()
    assert (answers, one.armed_ms) == ([], 900)


async def test_what_somebody_else_is_doing_is_left_to_them_for_a_moment(at_zero):
    one = timer(lambda *, now_ms: None, due=0)
    await one.work()
    assert one.armed_ms == BUSY_MS


async def test_what_is_left_to_another_process_sleeps(at_zero, monkeypatch):
    done = []
    names = ("server", "dispatcher")
    both = {
        name: Timer(
            name=name,
            next_due_ms=lambda: 700,
            run_due=lambda *, now_ms, name=name: done.append(name),
            event="thing.asked",
            dispatches=name == "dispatcher",
        )
        for name in names
    }
    monkeypatch.setattr(timers, "_timers", both)
    await timers.start_all(dispatching=False)
    for one in both.values():
        one.hear({"event": "thing.asked", "deadline": 300})
    assert (done, [one.armed_ms for one in both.values()]) == (["server"], [300, None])
    await timers.start_all(serving=False)
    assert done == ["server", "dispatcher"]
