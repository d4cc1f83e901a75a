"""The gate's table, waits, lifetimes and nonces."""

import pytest

from apps.confirmations.rules import (
    STATES,
    TRANSITIONS,
    InvalidTransition,
    Outcome,
    check_expires,
    check_transition,
    check_wait_s,
    new_nonce,
    nonce_fits,
    wait_of,
)
from apps.core.errors import InvalidField

ENDED = ("executed", "denied", "expired", "withdrawn", "changed", "failed", "uncertain")


class TestTransitions:
    @pytest.mark.parametrize("old", ENDED)
    @pytest.mark.parametrize("new", STATES)
    def test_an_ended_state_never_changes(self, old, new):
        with pytest.raises(InvalidTransition):
            check_transition(old, to=new)

    @pytest.mark.parametrize("new", [*ENDED, "executing"])
    def test_a_pending_one_may_end_in_every_way_or_be_claimed(self, new):
        check_transition("pending", to=new)

    @pytest.mark.parametrize("new", STATES)
    def test_a_claim_ends_done_failed_or_uncertain_only(self, new):
        if new in ("executed", "failed", "uncertain"):
            check_transition("executing", to=new)
        else:
            with pytest.raises(InvalidTransition):
                check_transition("executing", to=new)

    def test_nothing_leads_back_to_pending(self):
        assert all("pending" not in targets for targets in TRANSITIONS.values())

    @pytest.mark.parametrize("state", STATES)
    def test_only_pending_and_claimed_ones_are_pending_for_the_caller(self, state):
        assert Outcome(confirmation_id="c", state=state).pending is (state in ("pending", "executing"))


class TestWaits:
    @pytest.mark.parametrize(
        ("prefer", "hold_s", "expires_s"),
        [
            ("", 300, 300),
            ("wait=60", 60, 300),
            ("WAIT = 60", 60, 300),
            ('wait="60"', 60, 300),
            ("wait=9999999999", 300, 300),
            ("wait=0", 0, 86_400),
            ("wait=-1", 300, 300),
            ("wait=soon", 300, 300),
            ("wait=٣", 300, 300),
            ("respond-async", 0, 86_400),
            ("respond-async, wait=10", 0, 86_400),
            ("wait=10, respond-async", 0, 86_400),
            ("handling=lenient; x=1, wait=7", 7, 300),
        ],
    )
    def test_prefer_says_how_long_the_line_is_held(self, prefer, hold_s, expires_s):
        wait = wait_of(prefer=prefer, default_hold_s=300, expires_in_s=None)
        assert (wait.hold_ms, wait.expires_ms) == (hold_s * 1000, expires_s * 1000)

    def test_a_stated_lifetime_wins(self):
        assert wait_of(prefer="respond-async", default_hold_s=300, expires_in_s=30).expires_ms == 30_000
        assert wait_of(prefer="", default_hold_s=300, expires_in_s="604800").expires_ms == 604_800_000

    @pytest.mark.parametrize("value", [3, 604_800, "3", " 300 "])
    def test_lifetimes_in_the_range_are_taken(self, value):
        assert check_expires(value) == int(value)

    @pytest.mark.parametrize("value", [2, 604_801, -5, 0, True, False, 3.5, "3.5", "", "abc", "٣٣", [], {}, "9" * 40])
    def test_any_other_lifetime_is_refused_by_name(self, value):
        with pytest.raises(InvalidField, match="expires_in_s"):
            check_expires(value)

    @pytest.mark.parametrize(("value", "seconds"), [(None, 0), ("", 0), ("0", 0), ("300", 300), ("007", 7)])
    def test_a_poll_waits_up_to_300_seconds(self, value, seconds):
        assert check_wait_s(value) == seconds

    @pytest.mark.parametrize("value", ["301", "-1", "1.5", "x", "٣", "9" * 30])
    def test_any_other_poll_is_refused_by_name(self, value):
        with pytest.raises(InvalidField, match="wait"):
            check_wait_s(value)


class TestNonces:
    FACTS = {"key": b"k" * 32, "card": "card1", "user_id": 1, "session": "s1"}

    def test_a_nonce_fits_where_it_was_given(self):
        nonce = new_nonce(**self.FACTS, connection="c1")
        assert nonce_fits(nonce, **self.FACTS, connection="c1")
        assert nonce_fits(nonce, **self.FACTS, connection=None)

    @pytest.mark.parametrize(
        "changed", [{"key": b"x" * 32}, {"card": "card2"}, {"user_id": 2}, {"session": "s2"}, {"connection": "c2"}]
    )
    def test_a_nonce_is_good_for_one_card_person_sign_in_and_connection(self, changed):
        nonce = new_nonce(**self.FACTS, connection="c1")
        assert not nonce_fits(nonce, **{**self.FACTS, "connection": "c1", **changed})

    @pytest.mark.parametrize("nonce", ["", "a", "a.b", "a.b.c", "a.b.c.d", "c1..", "é.é.é"])
    def test_an_invented_one_fits_nowhere(self, nonce):
        assert not nonce_fits(nonce, **self.FACTS, connection=None)

    def test_two_are_never_the_same(self):
        assert new_nonce(**self.FACTS, connection="c1") != new_nonce(**self.FACTS, connection="c1")
