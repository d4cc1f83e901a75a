"""The vectors of the mobile calendar below the REST layer: requests, answers, timeouts."""

import pytest

from apps.calendars.rules.mobile_answer import normalize_response as clean_answer
from apps.calendars.rules.mobile_request import normalize_request as clean_request
from apps.calendars.rules.mobile_values import timeout_ms_of
from apps.core.errors import SaysoError


def normalize_request(given, expect):
    if "normalized" in expect:
        assert clean_request(given["body"], now_ms=given["now_ms"]) == expect["normalized"]
        return
    with pytest.raises(SaysoError) as caught:
        clean_request(given["body"], now_ms=given["now_ms"])
    assert caught.value.own_status == 400
    if "error" in expect:
        assert caught.value.message == expect["error"]
    else:
        assert expect["error_field"] in caught.value.message


def normalize_response(given, expect):
    assert clean_answer(given["answer"], request=given["request"]) == expect["normalized"]


def timeout(given, expect):
    assert timeout_ms_of(given.get("value")) == expect["ms"]


OPS = {"normalize_request": normalize_request, "normalize_response": normalize_response, "timeout": timeout}
