"""JSON from outside is taken only as far as both databases can keep it."""

import pytest

from apps.core.errors import InvalidField
from apps.core.strict_json import MalformedJson, check_storable, strict_json


class TestABody:
    @pytest.mark.parametrize("body", [b"{", b"nan", b"\xff", b"[" * 100_000])
    def test_that_is_no_json_is_refused(self, body):
        with pytest.raises(MalformedJson):
            strict_json(body)

    @pytest.mark.parametrize(
        ("body", "name"),
        [
            (rb'{"title": "a\u0000"}', "title"),
            (rb'{"title": "\ud800"}', "title"),
            (rb'{"item": {"notes": ["a\u0000"]}}', "notes"),
            (rb'{"a\u0000": 1}', "body"),
            (rb'["\udfff"]', "body"),
            (b"NaN", "body"),
            (b'{"limit": NaN}', "limit"),
            (b'{"item": {"start_ms": [-Infinity]}}', "start_ms"),
            (b'{"start_ms": ' + b"9" * 400 + b"}", "start_ms"),
            (b'{"limit": -' + b"9" * 4000 + b"}", "limit"),
            (b'{"limit": ' + b"9" * 1_000_000 + b"}", "limit"),
        ],
    )
    def test_that_cannot_be_kept_is_refused_by_name(self, body, name):
        with pytest.raises(InvalidField, match=name):
            strict_json(body)

    def test_that_is_empty_counts_as_an_empty_object(self):
        assert strict_json(b"") == {}

    @pytest.mark.parametrize("value", [None, True, 5, 1.5, "é", {"a": [1, "👩", {"b": None}]}])
    def test_that_can_be_kept_passes(self, value):
        check_storable(value, name="body")
