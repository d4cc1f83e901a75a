"""The world of the tests of captures."""

import pytest


@pytest.fixture
def clock():
    from apps.core import values
    from tests.factories.calendars import FixedClock

    before, fixed = values.clock(), FixedClock()
    values.set_clock(fixed)
    yield fixed
    values.set_clock(before)


@pytest.fixture
def world(db, clock):
    from tests.captures.world import CaptureWorld
    from tests.factories.calendars import make_world

    return CaptureWorld(made=make_world())
