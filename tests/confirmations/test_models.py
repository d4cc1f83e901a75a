"""What the database itself refuses, whatever the code does."""

import pytest
from django.db import IntegrityError, transaction

from apps.confirmations.models import Confirmation

GOOD = {
    "state": "executed",
    "decider": "user:1",
    "decider_kind": "session",
    "decided_at_ms": 5,
    "acknowledged": True,
}
DEVICE = GOOD | {"decider": "device:d1", "decider_kind": "device", "target_device": "device:d1"}


def refused(outcome, **values):
    with pytest.raises(IntegrityError), transaction.atomic():
        Confirmation.objects.filter(pk=outcome.confirmation_id).update(**values)


class TestAnExecutedRow:
    def test_with_all_it_needs_is_kept(self, gate):
        for values in (GOOD, DEVICE):
            outcome = gate.ask(by=None)
            assert Confirmation.objects.filter(pk=outcome.confirmation_id).update(**values) == 1

    @pytest.mark.parametrize(
        "missing", [{"decider": ""}, {"decided_at_ms": None}, {"acknowledged": False}, {"decider_kind": ""}]
    )
    def test_needs_decider_time_and_acknowledgement(self, gate, missing):
        refused(gate.ask(), **GOOD | missing)

    @pytest.mark.parametrize("decider", ["token:1", "device:d1", "agent:1", "server"])
    def test_needs_a_human_session(self, gate, decider):
        refused(gate.ask(), **GOOD | {"decider": decider})

    @pytest.mark.parametrize("kind", ["token", "agent", "server"])
    def test_knows_no_other_kind_of_decider(self, gate, kind):
        refused(gate.ask(), **GOOD | {"decider_kind": kind})

    @pytest.mark.parametrize("changed", [{"target_device": ""}, {"target_device": "device:d2"}, {"decider": "user:1"}])
    def test_by_a_device_needs_that_very_device_as_its_target(self, gate, changed):
        refused(gate.ask(), **DEVICE | changed)


class TestEveryRow:
    def test_has_a_state_that_is_known(self, gate):
        refused(gate.ask(), state="done")

    @pytest.mark.parametrize("state", ["denied", "changed", "failed", "uncertain", "executing"])
    def test_is_never_decided_by_a_token(self, gate, state):
        refused(gate.ask(), **GOOD | {"state": state, "decider": "token:1"})

    def test_is_open_once_for_a_requester_s_effect(self, gate):
        first, second = gate.ask(), gate.ask("older")
        refused(second, effect=gate.row(first).effect)
