"""The house of the tests that need a server."""

import pytest

from tests.devices.house import House


@pytest.fixture
async def house(server):
    house = House(server)
    try:
        yield await house.begin()
    finally:
        await house.leave()
    assert server.complaints() == ""
