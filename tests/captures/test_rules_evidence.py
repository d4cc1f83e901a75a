import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.captures.rules import (
    COVERAGE_KEY,
    EvidenceOverBudget,
    InvalidRequest,
    declare,
    estimate_tokens,
    evidence_item,
    evidence_text,
    window_within,
)


def item(position, content="a", metadata=None):
    found = {"source_type": "content", "source_id": f"s:{position}", "position": position, "content": content}
    return evidence_item(**found, metadata=metadata or {})


def cost(items, instructions=""):
    return estimate_tokens(f"{instructions}\n{evidence_text(items)}")


class TestEstimate:
    def test_the_examples_of_the_contract(self):
        assert [estimate_tokens(text) for text in ("", "abcd", "abcde", "ab上下")] == [0, 1, 2, 3]

    @settings(deadline=None)
    @given(st.text())
    def test_it_is_the_formula(self, text):
        plain = sum(character.isascii() for character in text)
        assert estimate_tokens(text) == math.ceil((plain + 4 * (len(text) - plain)) / 4)


class TestEvidence:
    def test_an_item_has_the_full_metadata_once(self):
        metadata = {"kind": "k", COVERAGE_KEY: declare(projection="hermes-turn-text.v1", losses=[]).as_object()}
        found = item(2, metadata=metadata)
        assert found == {
            "evidence_id": "content:2",
            "source_type": "content",
            "source_id": "s:2",
            "position": 2,
            "content": "a",
            "metadata": metadata,
        }
        assert evidence_text([found]).count(COVERAGE_KEY) == 1


class TestWindow:
    @settings(deadline=None)
    @given(st.lists(st.text(max_size=30), max_size=9), st.text(max_size=20), st.integers(1, 400))
    def test_it_is_halved_until_it_fits(self, contents, instructions, budget):
        items = [item(position + 1, content) for position, content in enumerate(contents)]
        expected, halvings = items, 0
        while cost(expected, instructions) > budget and len(expected) > 1:
            expected, halvings = expected[: max(1, len(expected) // 2)], halvings + 1
        if cost(expected, instructions) > budget:
            with pytest.raises(EvidenceOverBudget) as caught:
                window_within(items, instructions=instructions, budget=budget)
            assert caught.value.extra == {"tokens": cost(expected, instructions), "budget": budget}
            return
        found = window_within(items, instructions=instructions, budget=budget)
        assert (list(found.items), found.halvings) == (expected, halvings)
        assert found.tokens == cost(expected, instructions) <= budget

    def test_a_window_that_fitted_before_declarations_may_not_fit_now(self):
        declaration = {COVERAGE_KEY: declare(projection="gateway-turn-text.v1", losses=[]).as_object()}
        before, now = ([item(position, metadata=one) for position in (1, 2)] for one in ({}, declaration))
        budget = cost(before)
        assert len(window_within(before, budget=budget).items) == 2
        halved = window_within(now, budget=cost(now[:1]))
        assert (list(halved.items), halved.halvings) == (now[:1], 1)

    def test_an_empty_window_costs_its_brackets(self):
        assert window_within([]).tokens == 1

    def test_a_budget_of_nothing_is_refused(self):
        with pytest.raises(InvalidRequest):
            window_within([item(1)], budget=0)
