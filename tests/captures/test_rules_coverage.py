import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.captures.rules import (
    COVERAGE_KEY,
    PROFILES,
    Coverage,
    InvalidCoverage,
    declare,
    estimate_tokens,
    evidence_item,
    evidence_text,
    interpret,
    problem_of,
    project,
    size_of,
)
from tests.conformance.captures_ops import expanded

CONTRACTS = Path(__file__).parents[2] / "docs" / "contracts"
FIXTURE = expanded(json.loads((CONTRACTS / "coverage.json").read_text(encoding="utf-8")))
TABLE = {
    "turn complete": (147, 180, 45),
    "turn partial": (163, 196, 49),
    "pre-compress complete": (155, 188, 47),
    "pre-compress partial": (171, 204, 51),
    "gateway complete": (147, 180, 45),
    "gateway both losses": (188, 221, 56),
    "gateway unknown": (169, 202, 51),
    "turn unknown": (169, 202, 51),
}
REASONS = ["character_limit", "field_byte_limit", "transcript_byte_limit", "unmeasured_projection"]


def named(part):
    return pytest.mark.parametrize("case", FIXTURE[part], ids=[case["name"] for case in FIXTURE[part]])


def cost(coverage):
    """Measure what a declaration adds to the evidence of a source that has metadata."""

    def evidence(metadata):
        item = evidence_item(source_type="content", source_id="s:1", position=1, content="hi", metadata=metadata)
        return evidence_text([item])

    without, declared = evidence({"kind": "k"}), evidence({"kind": "k", COVERAGE_KEY: coverage})
    added = len(declared.encode()) - len(without.encode())
    return size_of(coverage), added, estimate_tokens("x" * added)


class TestFixture:
    @named("declarations")
    def test_each_declaration_is_valid_and_costs_what_it_says(self, case):
        assert problem_of(case["coverage"]) is None
        assert cost(case["coverage"]) == (case["bytes"], case["added_bytes"], case["added_tokens"])

    def test_the_table_of_costs_comes_out(self, capsys):
        found = {case["name"]: cost(case["coverage"]) for case in FIXTURE["declarations"]}
        rows = [f"| {name} | {size} | {added} | {tokens} |" for name, (size, added, tokens) in found.items()]
        print("| declaration | bytes | added bytes | added tokens |\n|---|---|---|---|", *rows, sep="\n")
        printed = capsys.readouterr().out
        assert {name: found[name] for name in TABLE} == TABLE
        text = (CONTRACTS / "coverage.en.md").read_text(encoding="utf-8")
        chinese = (CONTRACTS / "coverage.zh.md").read_text(encoding="utf-8")
        for name in TABLE.keys() - {"turn unknown"}:
            row = next(line for line in printed.splitlines() if line.startswith(f"| {name} |"))
            assert row in text.splitlines()
            assert row.removeprefix(f"| {name}") in [line[line.find(" |") :] for line in chinese.splitlines()]

    @named("invalid")
    def test_each_invalid_declaration_has_its_problem(self, case):
        assert problem_of(case["coverage"]) == case["problem"]

    @named("interpretations")
    def test_each_metadata_reads_as_it_says(self, case):
        found = interpret(case["metadata"])
        assert (found.status, list(found.reasons), found.problem) == (case["status"], case["reasons"], case["problem"])

    @named("projected")
    def test_each_turn_is_projected_as_it_says(self, case):
        found, expect = project(case["input"]), case["expect"]
        assert (found.captured, found.error) == (expect["captured"], expect.get("error"))
        if found.captured:
            assert len(found.text) == expect["characters"]
            assert (found.coverage.status, list(found.coverage.reasons)) == (expect["status"], expect["reasons"])
            assert expect.get("text", found.text) == found.text
            assert expect.get("source_id", found.source_id) == found.source_id

    def test_the_projections_are_ours(self):
        ours = {name: {"unit": one.unit, "losses": sorted(one.losses)} for name, one in PROFILES.items()}
        assert FIXTURE["projections"] == ours


class TestCheck:
    def test_the_first_problem_in_order_is_named(self):
        broken = {"schema": 1, "projection": [], "unit": {}, "status": [], "reasons": {}}
        good = FIXTURE["declarations"][0]["coverage"]
        problems = []
        for member in ("schema", "projection", "unit", "status", "reasons"):
            problems.append(problem_of(broken))
            broken = {**broken, member: good[member]}
        assert problems == ["unknown_schema", "unknown_projection", "unit_mismatch", "bad_status", "bad_reasons"]
        assert problem_of(broken) is None

    def test_what_is_no_json_is_too_large_to_be_true(self):
        good = FIXTURE["declarations"][0]["coverage"]
        assert problem_of({**good, "pad": float("nan")}) == "too_large"
        assert problem_of({**good, "pad": object()}) == "too_large"

    def test_a_declaration_that_would_be_invalid_cannot_be_made(self):
        with pytest.raises(InvalidCoverage) as caught:
            Coverage(projection="hermes-turn-text.v1", status="partial", reasons=())
        assert caught.value.extra == {"problem": "bad_reasons"}
        with pytest.raises(InvalidCoverage):
            declare(projection="hermes-turn-text.v1", losses=["field_byte_limit"])
        with pytest.raises(InvalidCoverage):
            declare(projection="hermes-turn-text.v2", losses=[])

    @settings(deadline=None)
    @given(st.sampled_from(sorted(PROFILES)), st.sets(st.sampled_from(REASONS[:3])), st.booleans())
    def test_what_is_declared_reads_back(self, projection, losses, unmeasured):
        losses &= PROFILES[projection].losses
        made = declare(projection=projection, losses=losses, unmeasured=unmeasured)
        found = interpret({COVERAGE_KEY: made.as_object()})
        assert (found.status, found.reasons, found.problem) == (made.status, made.reasons, None)
        assert made.status == ("unknown" if unmeasured else "partial" if losses else "complete")
        assert 147 <= size_of(made.as_object()) <= 212

    @settings(max_examples=200, deadline=None)
    @given(
        st.sampled_from(sorted(PROFILES)),
        st.sampled_from(["complete", "partial", "unknown"]),
        st.lists(st.sampled_from(REASONS), max_size=4),
    )
    def test_reasons_are_right_only_as_the_contract_has_them(self, projection, status, reasons):
        value = {
            "schema": "powercontext.capture-coverage.v1",
            "projection": projection,
            "unit": PROFILES[projection].unit,
            "status": status,
            "reasons": reasons,
        }
        losses = [reason for reason in reasons if reason != "unmeasured_projection"]
        right = {
            "complete": not reasons,
            "partial": bool(losses) and losses == reasons,
            "unknown": "unmeasured_projection" in reasons,
        }[status]
        right = right and all(one < other for one, other in pairwise(reasons))
        right = right and set(losses) <= PROFILES[projection].losses
        assert problem_of(value) == (None if right else "bad_reasons")

    @settings(deadline=None)
    @given(st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=8), max_size=3))
    def test_silence_is_unknown_and_other_keys_say_nothing(self, metadata):
        found = interpret({key: value for key, value in metadata.items() if key != COVERAGE_KEY})
        assert (found.status, found.reasons, found.problem) == ("unknown", (), "missing")
