"""Profiles with sessions; `--hypothesis-profile=long` runs the state machine of logs 200 times 300 steps."""

import pytest
from hypothesis import settings

from apps.core.values import clock, set_clock
from tests.conformance.clock import ManualClock
from tests.sessions.hosts import HostHouse
from tests.sessions.place import NOW, Place

settings.register_profile("long", max_examples=200, stateful_step_count=300, deadline=None, print_blob=True)


@pytest.fixture
def place(transactional_db):
    """A profile below HTTP."""
    before = clock()
    set_clock(ManualClock(NOW))
    yield Place.build()
    set_clock(before)


@pytest.fixture
async def house(server):
    """The house of the tests that need a server."""
    house = HostHouse(server)
    try:
        yield await house.begin()
    finally:
        await house.leave()
    assert server.complaints() == ""
