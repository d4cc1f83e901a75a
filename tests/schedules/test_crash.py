"""Whenever a dispatcher dies and whatever the clock does, each occurrence is delivered exactly once."""

import pytest
from django.db import connection

from tests import factories
from tests.schedules import crash


@pytest.fixture
def owner(transactional_db):
    profile = factories.profile()
    yield factories.human(factories.person("alice", default="owner"), of=profile)
    # Before the tables are emptied.
    crash.let_go()


@pytest.mark.timeout(600)
def test_killed_dispatchers_and_a_jumping_clock_lose_and_repeat_nothing(owner):
    crash.make_tasks(by=owner, count=300, sessions=40)
    dispatchers = 2 if connection.vendor == "postgresql" else 1
    counted = crash.storm(kills=8, dispatchers=dispatchers, seed=20_261_130)
    assert counted["delivered"] >= 300
    assert counted["missed"] > 0
    assert counted["points"] == len(crash.POINTS)
