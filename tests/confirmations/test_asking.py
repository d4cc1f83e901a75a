"""Asking: refused before a person is bothered, joined, remembered, limited, quiet after a denial."""

import json
from dataclasses import replace

import pytest
from django.conf import settings

from apps.accounts import actions as accounts
from apps.accounts.models import Workspace
from apps.confirmations import actions
from apps.confirmations.actions import ending
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import ConfirmationNotFound, DeniedRecently, TooManyPending
from apps.core.errors import Denied, InvalidField, NotFound
from apps.core.values import name_hash
from apps.ledger.models import IdempotencyKey, LedgerEntry
from apps.ledger.rules import IdempotencyConflict
from tests import factories
from tests.factories.contracts import BY_POLICY, Locked


def ends_of(outcome):
    entries = LedgerEntry.objects.filter(ids__contains=outcome.confirmation_id).order_by("seq")
    return [entry.action.partition(".")[2] for entry in entries]


class TestBeforeAPersonIsBothered:
    def test_a_target_that_is_not_there_makes_no_card(self, gate):
        with pytest.raises(NotFound):
            gate.ask("nothing")
        assert Confirmation.objects.count() == LedgerEntry.objects.count() == 0

    def test_a_token_without_the_scope_makes_no_card(self, gate):
        with pytest.raises(Denied):
            gate.ask(by=replace(gate.agent, scopes=frozenset({"page.read"})))
        assert Confirmation.objects.count() == 0

    def test_a_viewer_makes_no_card(self, gate):
        vera = factories.person("vera", default="viewer")
        with pytest.raises(Denied):
            gate.ask(by=factories.human(vera, of=gate.profile))
        assert Confirmation.objects.count() == 0

    def test_a_rule_outside_the_digest_refuses_at_once(self, gate, tmp_path, monkeypatch):
        monkeypatch.setattr(settings, "SAYSO_DATA_DIR", tmp_path)
        (tmp_path / "lock-old").touch()
        with pytest.raises(Locked):
            gate.ask()

    def test_another_profile_s_target_is_not_there(self, gate):
        factories.profile("other")
        charlie = factories.person("charlie", other="owner")
        with pytest.raises(NotFound):
            gate.ask(by=factories.human(charlie, of=gate.profile.__class__.objects.get(name="other")))


class TestTheRow:
    def test_asking_writes_the_row_and_one_ledger_entry(self, gate):
        outcome = gate.ask(purpose="Because.", ids={"session": "s1"})
        row = gate.row(outcome)
        assert (row.state, row.requester, row.contract) == ("pending", gate.agent.ref, "accounts.erase_workspace")
        assert row.deadline_ms == gate.now_ms + 300_000
        assert (row.purpose, row.ids) == ("Because.", '{"session":"s1"}')
        assert ends_of(outcome) == ["asked"]

    def test_a_long_purpose_is_cut(self, gate):
        assert len(gate.row(gate.ask(purpose="x" * 1000)).purpose) == 240


class TestJoining:
    def test_the_same_effect_of_the_same_requester_is_joined(self, gate):
        first, second = gate.ask(), gate.ask()
        assert first.confirmation_id == second.confirmation_id
        assert (first.joined, second.joined) == (False, True)
        assert Confirmation.objects.count() == 1
        assert ends_of(first) == ["asked"]

    def test_another_requester_gets_a_card_of_its_own(self, gate):
        _, secret = factories.token(gate.alice, of=gate.profile)
        assert gate.ask().confirmation_id != gate.ask(by=factories.caller(secret)).confirmation_id

    def test_after_the_end_it_is_asked_anew(self, gate):
        first = gate.ask()
        actions.withdraw(by=gate.agent, confirmation_id=first.confirmation_id, now_ms=gate.now_ms)
        assert gate.ask().confirmation_id != first.confirmation_id

    def test_one_that_is_overdue_is_not_joined(self, gate):
        first = gate.ask(expires_ms=3000)
        second = gate.ask(now_ms=gate.now_ms + 3000)
        assert second.confirmation_id != first.confirmation_id
        assert gate.row(first).state == "expired"


class TestKeys:
    def test_the_same_key_and_payload_is_the_same_confirmation_also_after_it_ended(self, gate):
        first = gate.ask(key="k1")
        assert gate.ask(key="k1").confirmation_id == first.confirmation_id
        gate.decide(first)
        again = gate.ask(key="k1")
        assert (again.confirmation_id, again.state) == (first.confirmation_id, "executed")
        assert again.receipt_id == gate.row(first).receipt_id != ""

    def test_the_same_key_with_another_payload_conflicts_also_after_the_end(self, gate):
        first = gate.ask(key="k1")
        with pytest.raises(IdempotencyConflict):
            gate.ask("older", key="k1")
        gate.decide(first)
        with pytest.raises(IdempotencyConflict) as caught:
            gate.ask("older", key="k1")
        assert (caught.value.own_code, caught.value.own_status) == ("idempotency_conflict", 422)

    def test_a_second_key_joins_and_is_remembered(self, gate):
        first = gate.ask(key="k1")
        assert gate.ask(key="k2").confirmation_id == first.confirmation_id
        gate.decide(first)
        assert gate.ask(key="k2").confirmation_id == first.confirmation_id
        assert IdempotencyKey.objects.count() == 2

    def test_a_key_belongs_to_its_requester(self, gate):
        _, secret = factories.token(gate.alice, of=gate.profile)
        first = gate.ask(key="k1")
        assert gate.ask("older", key="k1", by=factories.caller(secret)).confirmation_id != first.confirmation_id

    @pytest.mark.parametrize("key", ["x" * 256, "é", "a\nb"])
    def test_a_key_is_1_to_255_visible_ascii_characters(self, gate, key):
        with pytest.raises(InvalidField, match="Idempotency-Key"):
            gate.ask(key=key)

    def test_a_refused_ask_uses_no_key_up(self, gate):
        with pytest.raises(NotFound):
            gate.ask("nothing", key="k1")
        assert gate.ask("old", key="k1").state == "pending"


class TestLimits:
    def test_the_eleventh_open_one_is_too_many(self, gate):
        for number in range(10):
            factories.workspace(f"w{number}", of=gate.profile)
            gate.ask(f"w{number}")
        with pytest.raises(TooManyPending) as caught:
            gate.ask()
        assert caught.value.own_status == 429
        assert caught.value.extra["retry_after_s"] > 0
        assert gate.ask("w3").joined, "what is open already is joined all the same"

    def test_the_limit_is_a_setting_of_one_requester_and_an_end_makes_room(self, gate, settings):
        settings.SAYSO_MAX_OPEN = 1
        first = gate.ask()
        with pytest.raises(TooManyPending):
            gate.ask("older")
        _, secret = factories.token(gate.alice, of=gate.profile)
        gate.ask("older", by=factories.caller(secret))
        actions.withdraw(by=gate.agent, confirmation_id=first.confirmation_id, now_ms=gate.now_ms)
        assert gate.ask("older").state == "pending"


class TestAfterADenial:
    def test_the_same_effect_is_not_asked_again_for_ten_minutes(self, gate):
        gate.decide(gate.ask(), decision="deny")
        for later_ms, left_s in ((0, 600), (599_000, 1)):
            with pytest.raises(DeniedRecently) as caught:
                gate.ask(now_ms=gate.now_ms + later_ms)
            assert caught.value.extra["retry_after_s"] in (left_s, left_s + 1)
        assert gate.ask(now_ms=gate.now_ms + 600_000).state == "pending"

    def test_another_target_and_another_requester_are_free(self, gate):
        gate.decide(gate.ask(), decision="deny")
        _, secret = factories.token(gate.alice, of=gate.profile)
        assert gate.ask("older").state == "pending"
        assert gate.ask(by=factories.caller(secret)).state == "pending"

    def test_a_person_may_allow_it_again(self, gate):
        denied = gate.ask()
        gate.decide(denied, decision="deny")
        actions.allow_again(by=gate.decider(), confirmation_id=denied.confirmation_id, now_ms=gate.now_ms)
        assert gate.ask().state == "pending"

    def test_a_viewer_may_not_and_a_stranger_finds_nothing(self, gate):
        denied = gate.ask()
        gate.decide(denied, decision="deny")
        vera = factories.person("vera", default="viewer")
        factories.profile("other")
        charlie = factories.person("charlie", other="owner")
        with pytest.raises(Denied):
            actions.allow_again(by=gate.decider(vera), confirmation_id=denied.confirmation_id, now_ms=gate.now_ms)
        with pytest.raises(ConfirmationNotFound):
            actions.allow_again(by=gate.decider(charlie), confirmation_id=denied.confirmation_id, now_ms=gate.now_ms)


class TestEndsThatNobodyDecides:
    def test_expiry_never_approves(self, gate):
        outcome = gate.ask(expires_ms=3000)
        assert actions.expire_due(now_ms=gate.now_ms + 2999) == 0
        assert actions.expire_due(now_ms=gate.now_ms + 3000) == 1
        assert gate.row(outcome).state == "expired"
        assert Workspace.objects.filter(slug="old").exists()
        assert ends_of(outcome) == ["asked", "expired"]

    def test_the_requester_withdraws_once(self, gate):
        outcome = gate.ask()
        for _ in range(2):
            row = actions.withdraw(by=gate.agent, confirmation_id=outcome.confirmation_id, now_ms=gate.now_ms)
            assert row.state == "withdrawn"
        assert ends_of(outcome) == ["asked", "withdrawn"]

    def test_nobody_else_withdraws(self, gate):
        outcome = gate.ask()
        _, secret = factories.token(gate.alice, of=gate.profile)
        for other in (factories.caller(secret), factories.human(gate.alice, of=gate.profile)):
            with pytest.raises(ConfirmationNotFound):
                actions.withdraw(by=other, confirmation_id=outcome.confirmation_id, now_ms=gate.now_ms)
        assert gate.row(outcome).state == "pending"

    def test_revoking_a_token_withdraws_what_it_asked_for(self, gate):
        mine, other = gate.ask(), gate.ask("older", by=factories.human(gate.alice, of=gate.profile))
        owner = factories.human(gate.alice, of=gate.profile)
        accounts.revoke_token(token_id=gate.agent.token_id, by=owner, now_ms=gate.now_ms)
        assert (gate.row(mine).state, gate.row(mine).code) == ("withdrawn", "token_revoked")
        assert gate.row(other).state == "pending"

    def test_removing_a_member_withdraws_what_their_tokens_asked_for(self, gate):
        bob = factories.person("bob", default="decider")
        _, secret = factories.token(bob, of=gate.profile)
        outcome = gate.ask(by=factories.caller(secret))
        owner = factories.human(gate.alice, of=gate.profile)
        accounts.remove_member(by=owner, user_id=bob.pk, now_ms=gate.now_ms)
        assert gate.row(outcome).state == "withdrawn"

    def test_a_hang_up_withdraws(self, gate):
        outcome = gate.ask()
        actions.hang_up(confirmation_ids=[outcome.confirmation_id], now_ms=gate.now_ms)
        assert gate.row(outcome).state == "withdrawn"

    @pytest.mark.parametrize("how", ["hang_up", "withdraw_of_token"])
    def test_several_at_once_are_all_locked_before_the_ledger_is(self, gate, monkeypatch, how):
        asked = sorted(gate.ask(slug).confirmation_id for slug in ("old", "older", "oldest"))
        order = []
        locked, move = ending.locked, ending.move
        monkeypatch.setattr(ending, "locked", lambda each: order.append(("lock", each)) or locked(each))
        monkeypatch.setattr(ending, "move", lambda row, **how: order.append(("move", row.pk)) or move(row, **how))
        if how == "hang_up":
            actions.hang_up(confirmation_ids=asked[::-1], now_ms=gate.now_ms)
        else:
            actions.withdraw_of_token(owner_id=gate.agent.token_id, now_ms=gate.now_ms)
        assert order == [(step, each) for step in ("lock", "move") for each in asked]

    def test_its_end_names_the_session_in_the_ledger_by_a_hash(self, gate):
        """The ledger never changes, and the id itself may have to go with its session."""
        outcome = gate.ask(ids={"session": "s1", "run": "r1"})
        gate.decide(outcome, decision="deny")
        entry = LedgerEntry.objects.order_by("seq").last()
        assert json.loads(entry.ids) == {
            "confirmation": outcome.confirmation_id,
            "contract": gate.row(outcome).contract,
            "session": name_hash(profile_id=gate.profile.pk, name="s1"),
            "run": "r1",
        }

    def test_a_person_with_the_longest_name_may_ask(self, gate):
        person = factories.person("n" * 150, default="owner")
        outcome = gate.ask(by=factories.human(person, of=gate.profile))
        assert gate.row(outcome).requester_label == "n" * 120

    def test_the_digest_covers_the_version_of_the_policy(self, gate):
        first = gate.row(gate.ask(contract=BY_POLICY)).digest
        owner = factories.human(gate.alice, of=gate.profile)
        accounts.set_policies(by=owner, policies={"update": "ask"})
        gate.profile.refresh_from_db()
        other = gate.row(gate.ask(contract=BY_POLICY, by=owner)).digest
        assert first != other
