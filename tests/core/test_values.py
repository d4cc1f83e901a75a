"""Ids, canonical JSON and the clock."""

import asyncio

import pytest

from apps.core.values import canonical_json, digest_of, new_id, sha256_hex
from tests.conformance.clock import ManualClock


class TestIds:
    def test_are_32_hex_digits_and_sort_by_age(self):
        ids = [new_id() for _ in range(100)]
        assert all(len(one) == 32 and int(one, 16) for one in ids)
        assert len(set(ids)) == 100
        assert [one[:12] for one in ids] == sorted(one[:12] for one in ids)


class TestCanonicalJson:
    def test_order_and_blanks_do_not_matter(self):
        assert canonical_json({"b": 1, "a": [1, "é"]}) == '{"a":[1,"é"],"b":1}'
        assert digest_of({"b": 1, "a": 2}) == digest_of({"a": 2, "b": 1})

    def test_different_values_have_different_digests(self):
        values = [None, 0, 1, True, "1", [], [1], {}, {"1": 1}, "", "null"]
        assert len({digest_of(value) for value in values}) == len(values)

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_what_is_no_json_is_refused(self, value):
        with pytest.raises(ValueError, match="JSON"):
            canonical_json(value)

    def test_a_hash_of_text_with_half_a_pair_exists(self):
        assert len(sha256_hex("\ud800")) == 64


class TestTheManualClockOfTheTests:
    async def test_runs_what_is_due_in_order_and_at_its_moment(self):
        clock, log = ManualClock(1000), []

        async def rest():
            log.append(("rest", clock.now_ms()))

        clock.call_at(1500, lambda: log.append(("b", clock.now_ms())))
        clock.call_at(1200, lambda: log.append(("a", clock.now_ms())))
        clock.call_at(1300, lambda: log.append(("never", 0))).cancel()
        clock.call_at(3000, lambda: log.append(("late", clock.now_ms())))
        await clock.advance(1000, rest)
        assert log == [("a", 1200), ("rest", 1200), ("b", 1500), ("rest", 1500), ("rest", 2000)]
        assert clock.now_ms() == 2000

    async def test_runs_at_once_what_is_overdue(self):
        clock, ran = ManualClock(1000), asyncio.Event()
        clock.call_at(900, ran.set)
        await ran.wait()
