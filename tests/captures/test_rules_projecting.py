import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.captures.rules import COVERAGE_KEY, InvalidRequest, problem_of, project

TURN = {"profile": "hermes-turn-text.v1", "user": "q", "assistant": "a"}
WINDOW = {"profile": "hermes-precompress-text.v1", "messages": [{"role": "user", "content": "q"}]}
GATEWAY = {
    "profile": "gateway-turn-text.v1",
    "protocol": "chat",
    "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
    "finish_reason": "stop",
}


class TestProject:
    @pytest.mark.parametrize(
        ("body", "kind", "prefix"),
        [
            (TURN, {"kind": "hermes-turn"}, "hermes-turn:"),
            (WINDOW, {"kind": "hermes-context-compression", "message_count": 1}, "hermes-compression:"),
            (GATEWAY, {"kind": "gateway-turn"}, "gateway-turn:"),
        ],
    )
    def test_each_profile_gives_text_declaration_metadata_and_identity(self, body, kind, prefix):
        found = project({**body, "session_id": "s1"}).as_object()
        assert found.keys() == {"captured", "text", "coverage", "metadata", "source_id"}
        assert problem_of(found["coverage"]) is None
        assert found["metadata"] == {**kind, "session_id": "s1", COVERAGE_KEY: found["coverage"]}
        assert found["source_id"].startswith(prefix)
        assert len(found["source_id"]) == len(prefix) + 24
        assert json.loads(json.dumps(found)) == found

    @pytest.mark.parametrize("body", [TURN, WINDOW, GATEWAY])
    def test_without_a_session_there_is_no_identity(self, body):
        found = project(body)
        assert (found.captured, found.source_id) == (True, None)
        assert "session_id" not in found.metadata

    def test_nothing_to_capture_is_told_as_nothing(self):
        nothing = {"captured": False, "text": None, "coverage": None, "metadata": None, "source_id": None}
        assert project({**TURN, "user": "", "assistant": None}).as_object() == nothing
        assert project({**WINDOW, "mode": "off"}).as_object() == nothing
        assert project({**GATEWAY, "protocol": "completions"}).as_object() == nothing

    def test_a_required_window_that_does_not_fit_says_so(self):
        long = [{"role": "user", "content": "a" * 30_000}]
        found = project({**WINDOW, "messages": long, "mode": "required"}).as_object()
        assert (found["captured"], found["error"]) == (False, "capture_incomplete")

    def test_the_stream_and_not_the_session_names_a_window(self):
        ids = {project({**WINDOW, "stream": "s", "session_id": session}).source_id for session in ("s", "t")}
        assert len(ids) == 1

    @pytest.mark.parametrize(
        "body",
        [
            None,
            {},
            {**TURN, "profile": "hermes-turn-text.v2"},
            {**TURN, "profile": ["hermes-turn-text.v1"]},
            {**TURN, "session_id": 1},
            {**WINDOW, "mode": "always"},
            {**WINDOW, "mode": ["off"]},
            {**WINDOW, "messages": "q"},
            {**WINDOW, "previous": {}},
            {**WINDOW, "stream": []},
            {**GATEWAY, "messages": {}},
            {**WINDOW, "messages": [{"role": "user", "content": [{"text": "q", "n": float("nan")}]}]},
        ],
    )
    def test_an_input_that_cannot_be_read_is_refused(self, body):
        with pytest.raises(InvalidRequest):
            project(body)


KEYS = ["role", "content", "type", "text", "injected", "tool_calls", "function", "name", "arguments", "id", "call_id"]
WORDS = ["user", "assistant", "tool", "message", "text", "function_call", "function_call_output", "refusal", "q", ""]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYS, "output"]), inner, max_size=4),
    max_leaves=12,
)
MEMBERS = ["user", "assistant", "messages", "previous", "input", "output", "previous_response_id", "gap", "session_id"]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([TURN, WINDOW, GATEWAY, {**GATEWAY, "protocol": "responses", "status": "completed"}]),
    st.dictionaries(st.sampled_from(MEMBERS), ANYTHING | st.lists(ANYTHING, max_size=3), max_size=4),
)
def test_whatever_a_host_sends_is_projected_or_refused(body, members):
    try:
        found = project({**body, **members})
    except InvalidRequest:
        return
    assert found.captured == bool(found.text)
    assert found.coverage is None or problem_of(found.coverage.as_object()) is None
    assert found == project(json.loads(json.dumps({**body, **members})))


def test_the_rules_and_the_client_need_no_django():
    program = (
        "import sys; import apps.captures.rules, clients.python.sayso_client;"
        "print([name for name in ('django', 'rest_framework', 'channels') if name in sys.modules])"
    )
    root = Path(__file__).parents[2]
    found = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
