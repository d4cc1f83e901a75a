"""Alarms ring at their moment by the wall clock, once, and at once when the clock is set."""

import asyncio
import os

import pytest

from apps.core.alarms import WallAlarm, alarm_at
from apps.core.values import SystemClock, clock, set_clock
from tests.conformance.clock import ManualClock


async def test_it_rings_when_the_wall_clock_gets_there():
    rang = asyncio.Event()
    due_ms = SystemClock().now_ms() + 30
    alarm_at(due_ms, rang.set)
    await asyncio.wait_for(rang.wait(), 60)
    assert SystemClock().now_ms() >= due_ms


@pytest.mark.parametrize("at_ms", [-62_135_596_800_000, 0, 1])
async def test_what_is_past_rings_at_once(at_ms):
    rang = asyncio.Event()
    alarm_at(at_ms, rang.set)
    await asyncio.wait_for(rang.wait(), 60)


async def test_a_far_one_waits_and_leaves_nothing_behind_when_it_is_cancelled():
    before = len(os.listdir("/proc/self/fd"))
    alarms = [WallAlarm(at, lambda: pytest.fail("rang")) for at in (4_102_444_800_000, 253_402_300_799_999)]
    for alarm in alarms:
        alarm.cancel()
        alarm.cancel()
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_clock_that_is_set_rings_early():
    """The kernel makes the timer readable then, and a read says that it was cancelled: there is nothing to read."""
    rang = []
    alarm = WallAlarm(4_102_444_800_000, lambda: rang.append(True))
    alarm.ring()
    assert rang == [True]
    assert alarm.handle == -1


async def test_a_clock_of_a_test_has_its_own_alarms():
    before, manual = clock(), ManualClock(0)
    set_clock(manual)
    try:
        rang = []
        alarm_at(500, lambda: rang.append(True))
        assert manual.next_moment(1_000) == 500
    finally:
        set_clock(before)
