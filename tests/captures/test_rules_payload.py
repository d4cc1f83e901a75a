import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.captures.rules import (
    Held,
    InvalidRequest,
    Outcome,
    SourceConflict,
    SourcePurged,
    WindowBroken,
    check_listing,
    check_request,
    check_window,
    outcome_of,
    payload_of,
)
from apps.core.values import canonical_json

BODY = {"scope_id": "A", "source_id": "s:1", "content": "a", "metadata": {}}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
METADATA = st.dictionaries(TEXT, JSON, max_size=4)


def payload(**members):
    return payload_of(check_request({**BODY, **members}))


def turned(value):
    """Write the members of every object in the other order."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


class TestRequest:
    @pytest.mark.parametrize(
        "change",
        [
            {"scope_id": ""},
            {"scope_id": " A"},
            {"scope_id": "A\u2003"},
            {"scope_id": "A" * 257},
            {"source_id": "\t"},
            {"source_id": "s" * 257},
            {"source_id": 1},
            {"source_id": None},
            {"source_id": "\ud800"},
            {"content": " \n"},
            {"content": "a" * 200_001},
            {"content": "\udfff"},
            {"content": ["a"]},
            {"metadata": []},
            {"metadata": "{}"},
            {"metadata": False},
            {"metadata": {"a": float("nan")}},
            {"metadata": {"a": [float("-inf")]}},
            {"metadata": {"a": "\ud800"}},
            {"metadata": {"\ud800": 1}},
            {"metadata": {"a": "x" * 16_377}},
            {"source_type": "content"},
            {"session_id": "s"},
        ],
    )
    def test_what_cannot_be_stored_is_refused(self, change):
        with pytest.raises(InvalidRequest) as caught:
            check_request({**BODY, **change})
        assert (caught.value.own_code, caught.value.own_status) == ("invalid_request", 422)
        assert caught.value.extra["field"] == next(iter(change))

    @pytest.mark.parametrize("missing", ["scope_id", "source_id", "content"])
    def test_what_is_missing_is_refused(self, missing):
        with pytest.raises(InvalidRequest):
            check_request({key: value for key, value in BODY.items() if key != missing})
        with pytest.raises(InvalidRequest):
            check_request([BODY])

    def test_metadata_too_deep_to_write_is_refused(self):
        deep = {}
        for _ in range(100_000):
            deep = {"a": deep}
        with pytest.raises(InvalidRequest):
            check_request({**BODY, "metadata": deep})
        while deep:  # let go of it level by level
            deep = deep.pop("a")

    def test_the_largest_is_taken_as_it_is(self):
        sizes = {"scope_id": "é" * 256, "source_id": "中" * 256, "content": "😀" * 199_999 + " "}
        request = check_request({**sizes, "metadata": {"a": "x" * 16_376}})
        assert (request.scope_id, request.source_id, request.content) == tuple(sizes.values())


class TestPayload:
    @settings(deadline=None)
    @given(METADATA)
    def test_the_order_of_keys_never_matters(self, metadata):
        assert payload(metadata=metadata) == payload(metadata=turned(metadata))

    @settings(deadline=None)
    @given(METADATA, METADATA)
    def test_equal_bytes_are_equal_values(self, one, two):
        same = json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)
        assert (payload(metadata=one).data == payload(metadata=two).data) == same

    @settings(deadline=None)
    @given(METADATA, st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
    def test_the_bytes_hold_everything_that_was_sent(self, metadata, content):
        stored = json.loads(payload(metadata=metadata, content=content).data)
        assert stored == {
            "source_type": "content",
            "source_id": "s:1",
            "materialization": "captured",
            "content": content,
            "metadata": metadata,
        }
        assert payload(metadata=metadata, content=content).data == canonical_json(stored).encode()

    def test_nothing_is_folded_or_rounded(self):
        values = [{"x": value} for value in (1, 1.0, True, None, "1", [1, 2], [2, 1], "é", "e\u0301", "E", {})]
        assert len({payload(metadata=metadata).data for metadata in [{}, *values]}) == 12
        assert len({payload(content=content).data for content in ("a", "a ", "A", " a", "a\n")}) == 5

    def test_no_metadata_is_empty_metadata(self):
        bare = {key: value for key, value in BODY.items() if key != "metadata"}
        assert payload() == payload(metadata=None) == payload_of(check_request(bare))


class TestJournal:
    def held(self, of):
        return Held(position=3, payload_sha256=of.sha256, payload=of.data)

    def test_a_new_identity_takes_the_next_position(self):
        assert outcome_of(payload(), held=None, head=6) == Outcome(name="created", position=7)

    def test_the_same_payload_is_replayed_at_its_own_position(self):
        assert outcome_of(payload(), held=self.held(payload()), head=6) == Outcome(name="replayed", position=3)

    def test_another_payload_is_a_conflict_that_tells_nothing(self):
        with pytest.raises(SourceConflict) as caught:
            outcome_of(payload(content="hidden"), held=self.held(payload(content="stored")), head=6)
        assert (caught.value.own_code, caught.value.own_status) == ("source_conflict", 409)
        assert caught.value.extra == {}
        assert "stored" not in caught.value.message

    def test_a_purged_identity_stays_taken_for_any_payload(self):
        tombstone = Held(position=3, payload_sha256=payload().sha256, payload=None)
        assert tombstone.purged
        for content in ("a", "b"):
            with pytest.raises(SourcePurged) as caught:
                outcome_of(payload(content=content), held=tombstone, head=6)
            assert (caught.value.own_code, caught.value.own_status) == ("source_purged", 409)

    def test_a_window_is_the_run_after_the_cursor(self):
        check_window([], after=5)
        check_window([6, 7, 8], after=5)
        for positions in ([7], [6, 8], [6, 6], [7, 6]):
            with pytest.raises(WindowBroken):
                check_window(positions, after=5)

    def test_a_listing_starts_in_the_journal_and_asks_for_something(self):
        check_listing(after=0, limit=None)
        check_listing(after=9, limit=1)
        for after, limit in ((-1, None), (0, 0), (0, -1)):
            with pytest.raises(InvalidRequest):
                check_listing(after=after, limit=limit)
