"""The gate with a contract of the tests."""

import pytest

from apps.core import contracts as registry
from tests.factories import contracts
from tests.factories.gate import Gate


@pytest.fixture
def contract_registry(monkeypatch):
    """The contracts of the tests are registered until the end of the test."""
    for contract in contracts.ALL:
        monkeypatch.setitem(registry._contracts, contract.name, contract)


@pytest.fixture
def gate(transactional_db, contract_registry):
    return Gate.build()
