"""Reading the past: in the order in which it ended, over all profiles of a person, page by page."""

import pytest

from apps.confirmations import actions, queries
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import check_before
from apps.ledger import actions as ledger
from tests import factories
from tests.factories.contracts import ERASE


@pytest.fixture
def past(gate):
    """Six ends, by turns in two profiles whose numbers are far apart; the third and fourth at one moment."""
    other = factories.profile("other")
    alice = factories.person("alison", other="owner")
    _, secret = factories.token(alice, of=other)
    for number in range(40):
        ledger.append(profile_id=other.pk, actor="user:1", action="a", target="t", now_ms=number)
    agents = {gate.profile.pk: gate.agent, other.pk: factories.caller(secret)}
    ended = []
    for number, moment in enumerate((10, 20, 30, 30, 40, 50)):
        by = list(agents.values())[number % 2]
        slug = f"past-{number}"
        factories.workspace(slug, of=other if number % 2 else gate.profile)
        outcome = actions.submit(
            by=by, contract=ERASE, arguments={"slug": slug}, expires_ms=300_000, now_ms=gate.now_ms + moment
        )
        actions.withdraw(by=by, confirmation_id=outcome.confirmation_id, now_ms=gate.now_ms + moment)
        ended.append(outcome.confirmation_id)
    return list(agents), ended


class TestPastCards:
    def test_are_in_the_order_of_their_ends_whatever_the_profile(self, past):
        profiles, ended = past
        found = [row.pk for row in queries.past_cards(profile_ids=profiles, limit=10)]
        assert found[:2] == ended[:3:-1]
        assert set(found[2:4]) == set(ended[2:4])
        assert found[4:] == [ended[1], ended[0]]

    @pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
    def test_come_page_by_page_each_once(self, past, size):
        profiles, ended = past
        found, before = [], None
        for _ in range(len(ended)):
            rows = queries.past_cards(profile_ids=profiles, limit=size, before=before)
            found += [row.pk for row in rows]
            if rows:
                before = check_before(f"{rows[-1].decided_at_ms}.{rows[-1].change_seq}")
        assert found == [row.pk for row in queries.past_cards(profile_ids=profiles, limit=10)]
        assert sorted(found) == sorted(ended)

    def test_are_those_of_the_named_profiles_only(self, past):
        profiles, _ = past
        assert {row.profile_id for row in queries.past_cards(profile_ids=profiles[:1], limit=10)} == {profiles[0]}
        assert queries.past_cards(profile_ids=[], limit=10) == []
        assert Confirmation.objects.count() == 6


class TestWhereAListGoesOn:
    @pytest.mark.parametrize(("text", "found"), [("5", (5, 0)), ("5.7", (5, 7)), ("5.", (5, 0))])
    def test_is_read(self, text, found):
        assert check_before(text) == found

    @pytest.mark.parametrize("text", ["", "x", ".5", "-1", "5.x", "1" * 19, "٣"])
    def test_is_nowhere_for_anything_else(self, text):
        assert check_before(text) is None


def test_a_stream_ends_with_its_token_and_when_its_person_is_looked_at_anew(gate, client):
    answer = client.get("/api/confirmations/events", headers={"authorization": f"Bearer {gate.secret}"})
    assert set(answer.stream.ends) == {f"user:{gate.alice.pk}", f"token:{gate.agent.token_id}"}
    assert answer.stream.key == f"requester:{gate.agent.ref}"
