"""The house of the tests of schedules."""

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
def house(db, clock):
    from tests.schedules.house import house

    return house(clock)
