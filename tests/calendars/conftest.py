"""The world of the calendar tests."""

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
    from tests.factories.calendars import make_world

    return make_world()


@pytest.fixture
def policies(world):
    from apps.accounts.actions import set_policies

    return lambda **values: set_policies(by=world.owner, policies=values)
