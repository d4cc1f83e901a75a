"""Receipts and keys: who reads them, and that a key is used once."""

import pytest

from apps.ledger import actions
from apps.ledger.queries import receipt_for, remembered
from apps.ledger.rules import IdempotencyConflict, ReceiptNotFound
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def people():
    profile = factories.profile()
    alice = factories.person("alice", default="owner")
    _, secret = factories.token(alice, of=profile)
    return profile, alice, factories.caller(secret)


def written(profile, by):
    return actions.write_receipt(
        profile_id=profile.pk, confirmation_id="c1", requester=by.ref, facts={"contract": "x"}, now_ms=5
    )


class TestAReceipt:
    def test_is_its_requester_s_and_the_profile_s_people_s(self, people):
        profile, alice, agent = people
        receipt = written(profile, agent)
        for by in (agent, factories.human(alice, of=profile)):
            assert receipt_for(by=by, receipt_id=receipt).pk == receipt

    def test_is_hidden_from_other_tokens_and_other_profiles(self, people):
        profile, alice, agent = people
        receipt = written(profile, agent)
        _, secret = factories.token(alice, of=profile)
        other = factories.profile("other")
        charlie = factories.person("charlie", other="owner")
        for by in (factories.caller(secret), factories.human(charlie, of=other)):
            with pytest.raises(ReceiptNotFound):
                receipt_for(by=by, receipt_id=receipt)

    def test_names_what_it_is_about(self, people):
        profile, _, agent = people
        body = receipt_for(by=agent, receipt_id=written(profile, agent)).body
        assert body.startswith('{"confirmation_id":"c1","contract":"x","receipt_id":"')


class TestAKey:
    def test_is_remembered_with_its_payload(self, people):
        _, _, agent = people
        assert remembered(by=agent, key="k1", payload_hash="h") is None
        actions.remember(by=agent, key="k1", payload_hash="h", confirmation_id="c1", now_ms=5)
        assert remembered(by=agent, key="k1", payload_hash="h").confirmation_id == "c1"
        with pytest.raises(IdempotencyConflict):
            remembered(by=agent, key="k1", payload_hash="other")

    def test_belongs_to_one_requester(self, people):
        profile, alice, agent = people
        actions.remember(by=agent, key="k1", payload_hash="h", now_ms=5)
        assert remembered(by=factories.human(alice, of=profile), key="k1", payload_hash="other") is None
