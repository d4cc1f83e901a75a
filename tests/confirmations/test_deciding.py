"""Deciding: who may, what a decision must carry, what is re-checked, and what is written."""

import json
from dataclasses import replace

import pytest
from django.conf import settings

from apps.accounts import actions as accounts
from apps.accounts.models import Membership, Workspace
from apps.confirmations import actions
from apps.confirmations.rules import (
    AlreadyEnded,
    ConfirmationNotFound,
    DigestMismatch,
    NonceUsed,
    NotAcknowledged,
    NotADecider,
)
from apps.core.errors import InvalidField
from apps.ledger.models import LedgerEntry, Receipt
from tests import factories
from tests.factories.contracts import BY_POLICY, OUTSIDE, outside


def untouched(gate, outcome):
    row = gate.row(outcome)
    return row.state == "pending" and row.decider == "" and Workspace.objects.filter(slug="old").exists()


def ends():
    return [entry.action for entry in LedgerEntry.objects.order_by("seq")]


class TestYes:
    def test_it_is_done_once_with_a_receipt_and_one_ledger_entry(self, gate):
        outcome = gate.ask()
        decision = gate.decide(outcome)
        row = gate.row(outcome)
        assert decision.error is None
        assert (row.state, row.decider, row.decider_kind) == ("executed", f"user:{gate.alice.pk}", "session")
        assert (row.acknowledged, row.decided_at_ms) == (True, gate.now_ms)
        assert not Workspace.objects.filter(slug="old").exists()
        assert ends() == ["confirmation.asked", "confirmation.executed"]
        body = json.loads(Receipt.objects.get(pk=row.receipt_id).body)
        assert body["confirmation_id"] == row.pk
        assert body["contract"] == "accounts.erase_workspace"
        assert body["digest"] == row.digest
        assert body["decider"]["label"] == "alice"
        assert body["outcome"] == {"slug": "old", "deleted": True}
        assert (body["asked_at_ms"], body["decided_at_ms"]) == (gate.now_ms, gate.now_ms)

    def test_a_decider_may(self, gate):
        bob = factories.person("bob", default="decider")
        outcome = gate.ask()
        gate.decide(outcome, by=gate.decider(bob))
        assert gate.row(outcome).decider_label == "bob"

    def test_the_second_is_told_who_and_when(self, gate):
        outcome = gate.ask()
        gate.decide(outcome)
        error = gate.decide(outcome, decision="deny").error
        assert isinstance(error, AlreadyEnded)
        assert error.extra == {"state": "executed", "by": "alice", "at": gate.now_ms}
        assert ends() == ["confirmation.asked", "confirmation.executed"]


class TestNo:
    def test_it_ends_denied_with_the_person_s_words(self, gate):
        outcome = gate.ask()
        gate.decide(outcome, decision="deny", acknowledged=None, reason="  Not today.  ")
        row = gate.row(outcome)
        assert (row.state, row.reason, row.acknowledged) == ("denied", "Not today.", False)
        assert Workspace.objects.filter(slug="old").exists()
        assert Receipt.objects.count() == 0

    def test_a_long_reason_is_cut(self, gate):
        outcome = gate.ask()
        gate.decide(outcome, decision="deny", reason="x" * 2000)
        assert len(gate.row(outcome).reason) == 500


class TestRefusals:
    @pytest.mark.parametrize("acknowledged", [False, None, 1, "true", "missing", [True]])
    def test_yes_needs_the_tick(self, gate, acknowledged):
        outcome = gate.ask()
        error = gate.decide(outcome, acknowledged=acknowledged).error
        assert (type(error), error.own_status, error.own_code) == (NotAcknowledged, 400, "not_acknowledged")
        assert untouched(gate, outcome)

    @pytest.mark.parametrize("digest", ["0" * 64, "", None, 5])
    def test_another_digest_is_refused(self, gate, digest):
        outcome = gate.ask()
        error = gate.decide(outcome, digest=digest).error
        assert (type(error), error.own_status) == (DigestMismatch, 409)
        assert untouched(gate, outcome)

    @pytest.mark.parametrize("decision", ["yes", "", None, True, "APPROVE"])
    def test_another_word_is_refused(self, gate, decision):
        outcome = gate.ask()
        assert isinstance(gate.decide(outcome, decision=decision).error, InvalidField)
        assert untouched(gate, outcome)

    def test_a_reason_must_be_a_text(self, gate):
        outcome = gate.ask()
        assert isinstance(gate.decide(outcome, decision="deny", reason={"a": 1}).error, InvalidField)
        assert untouched(gate, outcome)

    @pytest.mark.parametrize("nonce", [None, "", "a.b.c", 7, ["x"]])
    def test_an_invented_nonce_is_refused(self, gate, nonce):
        outcome = gate.ask()
        assert isinstance(gate.decide(outcome, nonce=nonce).error, NonceUsed)
        assert untouched(gate, outcome)

    def test_a_nonce_is_spent_by_a_refused_frame(self, gate):
        outcome = gate.ask()
        nonce = gate.nonce(outcome, gate.decider())
        assert isinstance(gate.decide(outcome, nonce=nonce, acknowledged=False).error, NotAcknowledged)
        error = gate.decide(outcome, nonce=nonce).error
        assert (type(error), error.own_status) == (NonceUsed, 409)
        assert untouched(gate, outcome)
        assert gate.decide(outcome).error is None

    def test_a_nonce_of_another_card_connection_sign_in_or_person_is_refused(self, gate):
        outcome, other = gate.ask(), gate.ask("older")
        bob = factories.person("bob", default="decider")
        strangers = [
            gate.nonce(other, gate.decider()),
            gate.nonce(outcome, gate.decider(connection="c2")),
            gate.nonce(outcome, gate.decider(session="s2")),
            gate.nonce(outcome, gate.decider(bob)),
        ]
        for nonce in strangers:
            assert isinstance(gate.decide(outcome, nonce=nonce).error, NonceUsed)
        assert untouched(gate, outcome)


class TestWhoMayNot:
    def test_a_viewer_is_refused_and_spends_nothing(self, gate):
        vera = factories.person("vera", default="viewer")
        outcome = gate.ask()
        for decision in ("approve", "deny"):
            with pytest.raises(NotADecider) as caught:
                gate.decide(outcome, by=gate.decider(vera), decision=decision)
            assert caught.value.own_status == 403
        assert untouched(gate, outcome)

    def test_a_stranger_finds_nothing_like_a_ghost(self, gate):
        factories.profile("other")
        charlie = factories.person("charlie", other="owner")
        outcome = gate.ask()
        frame = gate.frame(outcome, gate.decider(charlie))
        errors = []
        for name in (outcome.confirmation_id, "ghost"):
            with pytest.raises(ConfirmationNotFound) as caught:
                actions.decide(by=gate.decider(charlie), confirmation_id=name, frame=frame, now_ms=gate.now_ms)
            errors.append((caught.value.message, caught.value.own_code, caught.value.own_status, caught.value.extra))
        assert errors[0] == errors[1]
        assert untouched(gate, outcome)

    def test_who_lost_the_membership_finds_nothing(self, gate):
        bob = factories.person("bob", default="decider")
        outcome = gate.ask()
        Membership.objects.filter(user=bob).delete()
        with pytest.raises(ConfirmationNotFound):
            gate.decide(outcome, by=gate.decider(bob))

    def test_a_request_to_a_device_is_no_person_s_to_decide(self, gate):
        outcome = gate.ask(target_device="device:d1")
        with pytest.raises(ConfirmationNotFound):
            gate.decide(outcome)


class TestWhatIsRechecked:
    def test_a_changed_target_ends_changed_and_nothing_is_deleted(self, gate):
        outcome = gate.ask()
        Workspace.objects.filter(slug="old").update(restricted=True)
        gate.decide(outcome)
        assert gate.row(outcome).state == "changed"
        assert Workspace.objects.filter(slug="old").exists()
        assert Receipt.objects.count() == 0

    def test_a_target_that_is_gone_ends_changed(self, gate):
        outcome = gate.ask()
        Workspace.objects.filter(slug="old").delete()
        gate.decide(outcome)
        assert gate.row(outcome).state == "changed"

    def test_a_rule_that_no_longer_holds_ends_failed_with_the_contract_s_code(self, gate, tmp_path, monkeypatch):
        outcome = gate.ask()
        monkeypatch.setattr(settings, "SAYSO_DATA_DIR", tmp_path)
        (tmp_path / "lock-old").touch()
        gate.decide(outcome)
        row = gate.row(outcome)
        assert (row.state, row.code) == ("failed", "workspace_locked")
        assert Workspace.objects.filter(slug="old").exists()

    def test_a_changed_policy_ends_changed(self, gate):
        outcome = gate.ask(contract=BY_POLICY)
        accounts.set_policies(by=factories.human(gate.alice, of=gate.profile), policies={"update": "ask"})
        gate.decide(outcome)
        assert gate.row(outcome).state == "changed"

    def test_an_action_that_fails_half_way_leaves_nothing_half_done(self, gate):
        factories.workspace("broken", of=gate.profile)
        outcome = gate.ask("broken")
        gate.decide(outcome)
        row = gate.row(outcome)
        assert (row.state, row.code) == ("failed", "workspace_locked")
        assert json.loads(row.outcome) == {"message": "It broke half way."}
        assert Workspace.objects.filter(slug="broken").exists()

    def test_after_the_deadline_it_is_told_expired(self, gate):
        outcome = gate.ask(expires_ms=3000)
        late = replace(gate, now_ms=gate.now_ms + 3000)
        error = late.decide(outcome).error
        assert isinstance(error, AlreadyEnded)
        assert error.extra["state"] == "expired"
        assert gate.row(outcome).state == "expired"
        assert Workspace.objects.filter(slug="old").exists()


class TestEffectsOutside:
    def claim(self, gate, slug="old"):
        if slug != "old":
            factories.workspace(slug, of=gate.profile)
        outcome = gate.ask(slug, contract=OUTSIDE)
        assert gate.decide(outcome).row.state == "executing"
        return outcome

    @pytest.fixture(autouse=True)
    def own_folder(self, tmp_path, monkeypatch):
        monkeypatch.setattr(settings, "SAYSO_DATA_DIR", tmp_path)

    def test_the_claim_is_committed_before_the_call(self, gate):
        outcome = self.claim(gate)
        assert not outside().exists()
        assert gate.row(outcome).receipt_id == ""
        row = actions.run_claimed(confirmation_id=outcome.confirmation_id, tell_ms=lambda: gate.now_ms)
        assert row.state == "executed"
        assert outside().read_text() == "old\n"
        assert ends() == ["confirmation.asked", "confirmation.executing", "confirmation.executed"]
        assert Receipt.objects.count() == 1

    def test_it_runs_once(self, gate):
        outcome = self.claim(gate)
        for _ in range(2):
            actions.run_claimed(confirmation_id=outcome.confirmation_id, tell_ms=lambda: gate.now_ms)
        assert outside().read_text() == "old\n"

    def test_a_no_from_outside_ends_failed(self, gate):
        outcome = self.claim(gate, "broken")
        actions.run_claimed(confirmation_id=outcome.confirmation_id, tell_ms=lambda: gate.now_ms)
        assert (gate.row(outcome).state, gate.row(outcome).code) == ("failed", "workspace_locked")

    def test_no_answer_ends_uncertain(self, gate):
        outcome = self.claim(gate, "silent")
        actions.run_claimed(confirmation_id=outcome.confirmation_id, tell_ms=lambda: gate.now_ms)
        assert gate.row(outcome).state == "uncertain"
        assert Receipt.objects.count() == 0

    def test_a_crash_in_between_is_uncertain_and_never_repeated(self, gate):
        outcome = self.claim(gate)
        assert actions.settle_after_crash(now_ms=gate.now_ms) == 1
        assert gate.row(outcome).state == "uncertain"
        assert actions.run_claimed(confirmation_id=outcome.confirmation_id, tell_ms=lambda: gate.now_ms) is None
        assert not outside().exists()

    def test_a_claimed_one_neither_expires_nor_is_withdrawn_nor_decided_again(self, gate):
        outcome = self.claim(gate)
        assert actions.expire_due(now_ms=gate.now_ms + 10**9) == 0
        actions.withdraw(by=gate.agent, confirmation_id=outcome.confirmation_id, now_ms=gate.now_ms)
        error = gate.decide(outcome, decision="deny").error
        assert error.extra["state"] == "executing"
        assert gate.row(outcome).state == "executing"


class TestTheDeviceThatIsAsked:
    def settle(self, gate, outcome, *, device="device:d1", state="executed"):
        return actions.settle_by_device(
            device=device,
            label="phone",
            confirmation_id=outcome.confirmation_id,
            state=state,
            parts={},
            code="",
            now_ms=gate.now_ms,
        )

    def test_it_decides_its_own(self, gate):
        outcome = gate.ask(target_device="device:d1")
        row = self.settle(gate, outcome)
        assert (row.state, row.decider, row.decider_kind) == ("executed", "device:d1", "device")
        assert Receipt.objects.count() == 1

    def test_another_device_does_not(self, gate):
        outcome = gate.ask(target_device="device:d1")
        with pytest.raises(NotADecider, match="Response is not from the target device"):
            self.settle(gate, outcome, device="device:d2")
        assert gate.row(outcome).state == "pending"

    def test_none_decides_what_is_for_people(self, gate):
        outcome = gate.ask()
        with pytest.raises(ConfirmationNotFound):
            self.settle(gate, outcome)
        assert untouched(gate, outcome)

    def test_it_decides_once(self, gate):
        outcome = gate.ask(target_device="device:d1")
        self.settle(gate, outcome, state="denied")
        with pytest.raises(AlreadyEnded):
            self.settle(gate, outcome)
        assert gate.row(outcome).state == "denied"
