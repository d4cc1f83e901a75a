import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.captures.rules import project_gateway_turn, read_turn
from tests.captures.texts import texts

FIELD, TRANSCRIPT = 8_192, 65_536
TEXT = texts(1, 2_047, 2_048, 2_730, 2_731, 4_096, 8_190, 8_192, 8_193, 9_000)
SPOKEN = TEXT.map(lambda text: f"{text}.")
NAME = st.sampled_from(["cat", "工具", "n" * 8_193])
CALLS = st.lists(st.tuples(st.text('a{}"\\', max_size=5) | TEXT, NAME, TEXT), max_size=3)
ROUNDS = st.lists(st.tuples(TEXT, CALLS), max_size=4)
LONG_ROUNDS = st.lists(st.tuples(st.just(""), st.lists(st.tuples(st.just("{}"), NAME, TEXT), min_size=2)), min_size=3)


def steps_of(user, rounds, answer):
    """Write the steps of a turn from what was said and called, without any limit."""
    steps = [{"kind": "user", "text": user}] if user.strip() else []
    for said, calls in rounds:
        steps += [{"kind": "assistant", "text": said}] if said.strip() else []
        steps += [{"kind": "tool_call", "name": name, "arguments": arguments} for arguments, name, _ in calls]
        steps += [{"kind": "tool_result", "name": name, "output": output} for _, name, output in calls]
    return [*steps, {"kind": "assistant", "text": answer}]


def chat_of(user, rounds, answer):
    messages = [{"role": "user", "content": "before"}, {"role": "assistant", "content": "earlier"}]
    messages += [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": user}]}]
    for number, (said, calls) in enumerate(rounds):
        functions = [{"name": name, "arguments": arguments} for arguments, name, _ in calls]
        listed = [{"id": f"{number}.{index}", "function": one} for index, one in enumerate(functions)]
        messages.append({"role": "assistant", "content": said or None, "tool_calls": listed})
        messages += [
            {"role": "tool", "tool_call_id": f"{number}.{index}", "content": output}
            for index, (_, _, output) in enumerate(calls)
        ]
    messages.append({"role": "assistant", "content": answer})
    return {"protocol": "chat", "messages": messages, "finish_reason": "stop"}


def responses_of(user, rounds, answer):
    items = [{"role": "user", "content": "before"}, {"type": "message", "role": "user", "content": user}]
    for number, (said, calls) in enumerate(rounds):
        items.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]})
        for index, (arguments, name, _) in enumerate(calls):
            call = {"type": "function_call", "call_id": f"{number}.{index}", "name": name, "arguments": arguments}
            items += [{"type": "reasoning", "encrypted_content": "zz"}, call]
        items += [
            {"type": "function_call_output", "call_id": f"{number}.{index}", "output": output}
            for index, (_, _, output) in enumerate(calls)
        ]
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]}]
    return {"protocol": "responses", "input": items, "output": output, "status": "completed"}


def cut_by_hand(value):
    """Keep whole characters while they fit."""
    size = len(value.encode())
    if size <= FIELD:
        return value
    kept = value[:FIELD]
    while len(kept.encode()) > FIELD:
        kept = kept[:-1]
    return f"{kept}[truncated {size - len(kept.encode())} bytes]"


def bounded_by_hand(steps):
    """Cut the fields, then drop one step after the other, and write everything out each time."""
    steps = [{key: cut_by_hand(value) for key, value in step.items()} for step in steps]
    omitted = 0

    def text():
        value = {"omitted_steps": omitted, "steps": steps}
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    opening = 1 if steps[0]["kind"] == "user" else 0
    while len(text().encode()) > TRANSCRIPT and len(steps) > 1:
        del steps[opening if len(steps) > opening + 1 else 0]
        omitted += 1
    return text(), omitted


def check(exchange, steps):
    found = project_gateway_turn(exchange)
    text, omitted = bounded_by_hand(steps)
    kept = json.loads(found.text)
    long = [value for step in steps for value in step.values() if len(value.encode()) > FIELD]
    whole = kept == {"omitted_steps": 0, "steps": steps}
    assert len(found.text.encode()) <= TRANSCRIPT
    assert (found.text, found.omitted) == (text, omitted)
    assert (found.coverage.status == "complete") == whole
    assert found.coverage.reasons == tuple(
        reason for reason, fired in [("field_byte_limit", bool(long)), ("transcript_byte_limit", omitted > 0)] if fired
    )
    assert found.kinds == tuple(step["kind"] for step in kept["steps"])
    assert (found.steps, len(found.cuts)) == (len(steps), len(long))
    assert found == project_gateway_turn(json.loads(json.dumps(exchange)))


class TestTurn:
    @settings(max_examples=40, deadline=None)
    @given(TEXT, ROUNDS, SPOKEN)
    def test_complete_says_that_nothing_was_dropped(self, user, rounds, answer):
        steps = steps_of(user, rounds, answer)
        check(chat_of(user, rounds, answer), steps)
        check(responses_of(user, rounds, answer), steps)

    @settings(max_examples=15, deadline=None)
    @given(TEXT, LONG_ROUNDS, SPOKEN)
    def test_long_turns_lose_their_oldest_steps(self, user, rounds, answer):
        check(chat_of(user, rounds, answer), steps_of(user, rounds, answer))

    def test_one_byte_decides(self):
        """Eight outputs that fill the transcript to the byte, then one more character."""
        calls = [("{}", "cat", "z" * 8_000)] * 8
        spare = TRANSCRIPT - len(bounded_by_hand(steps_of("q", [("", calls)], "."))[0].encode())
        for more, omitted in ((spare, 0), (spare + 1, 1)):
            exchange = chat_of("q", [("", calls)], "a" * more + ".")
            found = project_gateway_turn(exchange)
            assert (found.omitted, len(found.text.encode()) == TRANSCRIPT) == (omitted, omitted == 0)

    def test_the_digits_of_omitted_steps_count(self):
        """Around the size at which the tenth omitted step, with its second digit, is just enough."""
        small, large = [("s", [])] * 12, [("z" * 7_000, [])] * 9
        kept = steps_of("q", small[:2] + large, ".")
        spare = TRANSCRIPT - len(json.dumps({"omitted_steps": 10, "steps": kept}, separators=(",", ":")))
        omitted = set()
        for more in range(spare - 35, spare + 4):
            answer = "a" * more + "."
            exchange = chat_of("q", small + large, answer)
            check(exchange, steps_of("q", small + large, answer))
            omitted.add(project_gateway_turn(exchange).omitted)
        assert omitted == {9, 10, 11}

    @pytest.mark.parametrize("times", [1, 431, 432])
    def test_marks_that_people_wrote_change_nothing(self, times):
        marked = project_gateway_turn(chat_of("[truncated 9 bytes]" * times, [], "omitted_steps"))
        other = project_gateway_turn(chat_of("x" * 19 * times, [], "omitted_steps"))
        assert (marked.coverage, marked.cuts, marked.omitted) == (other.coverage, other.cuts, other.omitted)

    def test_a_cut_field_is_told_even_when_its_step_was_dropped(self):
        calls = [("{}", "cat", "z" * 9_000), *[("{}", "cat", "z" * 8_000)] * 8]
        found = project_gateway_turn(chat_of("q", [("", calls)], "a"))
        assert "[truncated" not in found.text
        assert found.coverage.reasons == ("field_byte_limit", "transcript_byte_limit")

    def test_the_steps_before_any_cut_make_the_identity(self):
        one, two = (project_gateway_turn(chat_of("u" * 9_000 + end, [], "a")) for end in ("1", "2"))
        assert one.text == two.text
        assert one.steps_sha256 != two.steps_sha256


def chat(*messages, **members):
    return {"protocol": "chat", "messages": list(messages), "finish_reason": "stop", **members}


def responses(*items, output=None, **members):
    answer = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}]
    given = {"input": list(items), "output": answer if output is None else output, "status": "completed"}
    return {"protocol": "responses", **given, **members}


Q, A = {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}
CALL = {"type": "function_call", "call_id": "k", "name": "f", "arguments": "{}"}
SAID = responses()["output"]


class TestNothingToCapture:
    @pytest.mark.parametrize(
        "exchange",
        [
            {},
            {"protocol": ["chat"]},
            {"protocol": "chat"},
            {"protocol": "chat", "messages": "q", "finish_reason": "stop"},
            chat(Q, A, finish_reason="tool_calls"),
            chat(Q, A, finish_reason=None),
            chat(Q, A, finish_reason=["stop"]),
            chat(Q, {**A, "tool_calls": [{"id": "c"}]}),
            chat(Q, A, Q),
            chat(Q, {"role": "assistant", "content": [{"type": "thinking", "thinking": "z"}]}),
            chat(A),
            chat({**Q, "injected": True}, A),
            responses(Q, status="failed"),
            responses(Q, status=None),
            responses(Q, output=[]),
            responses(Q, output=[*SAID, CALL]),
            responses(Q, output=[{"type": "custom_tool_call", "call_id": "k", "name": "f", "input": ""}, *SAID]),
            responses(Q, output=[*SAID, {"type": "message", "role": "assistant", "content": []}]),
            responses({"type": "function_call_output", "call_id": "k", "output": "1"}),
            responses(output=SAID, previous_response_id=""),
        ],
    )
    def test_the_exchange_is_left_alone(self, exchange):
        assert project_gateway_turn(exchange) is None


class TestReading:
    def kinds(self, exchange):
        return [step["kind"] for step in read_turn(exchange).steps]

    def test_a_model_that_stopped_for_length_is_complete_to_us(self):
        for exchange in (chat(Q, A, finish_reason="length"), responses(Q, status="incomplete")):
            assert project_gateway_turn(exchange).coverage.status == "complete"

    def test_text_is_not_trimmed_and_parts_join_with_a_newline(self):
        parts = [{"type": "text", "text": " a"}, {"type": "image_url"}, {"type": "input_text", "text": "b "}]
        turn = read_turn(chat({"role": "user", "content": parts}, {"role": "assistant", "content": " ok "}))
        assert [step["text"] for step in turn.steps] == [" a\nb ", " ok "]

    def test_an_input_of_text_is_the_user(self):
        assert self.kinds({**responses(), "input": "q"}) == ["user", "assistant"]

    def test_a_refusal_is_visible(self):
        parts = {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}
        beside = {"role": "assistant", "content": None, "refusal": "no"}
        for answer in (parts, beside):
            assert read_turn(chat(Q, answer)).steps[-1]["text"] == "no"

    def test_arguments_that_are_no_text_become_canonical_json(self):
        call = {"id": "c", "function": {"name": "f", "arguments": {"b": 1, "a": "é"}}}
        turn = read_turn(chat(Q, {"role": "assistant", "content": None, "tool_calls": [call]}, A))
        assert turn.steps[1]["arguments"] == '{"a":"é","b":1}'

    def test_outputs_are_text_parts_or_what_was_sent(self):
        outputs = ["1", [{"type": "input_text", "text": "a"}, {"type": "input_image"}], {"b": 1}, [1, 2], None, ""]
        items = [{"type": "function_call_output", "call_id": "k", "output": output} for output in outputs]
        turn = read_turn(responses(Q, *items))
        assert [step["output"] for step in turn.steps[1:-1]] == ["1", "a", '{"b":1}', "[1,2]", "", ""]

    def test_a_call_before_the_turn_names_a_result_inside_it(self):
        result = {"type": "function_call_output", "call_id": "k", "output": "1"}
        turn = read_turn(responses(Q, CALL, Q, result))
        assert turn.steps[1] == {"kind": "tool_result", "name": "f", "output": "1"}

    def test_tools_of_its_own_making_are_calls_too(self):
        custom = [
            {"type": "custom_tool_call", "call_id": "k", "name": "sql", "input": "select 1"},
            {"type": "custom_tool_call_output", "call_id": "k", "output": "1"},
        ]
        assert self.kinds(responses(Q, *custom)) == ["user", "tool_call", "tool_result", "assistant"]
        call = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
        turn = read_turn(chat(Q, {"role": "assistant", "content": "", "tool_calls": [call]}, A))
        assert turn.steps[1] == {"kind": "tool_call", "name": "sql", "arguments": "select 1"}

    def test_an_injected_message_does_not_start_the_turn(self):
        block = [{"type": "text", "text": "memory", "injected": True}]
        for injected in ({"role": "user", "content": block}, {"role": "user", "content": "memory", "injected": True}):
            turn = read_turn(chat(Q, injected, A))
            assert turn.steps == [{"kind": "user", "text": "q"}, {"kind": "assistant", "text": "a"}]

    def test_a_sole_user_message_of_injected_parts_still_starts_it(self):
        block = {"role": "user", "content": [{"type": "text", "text": "memory", "injected": True}]}
        assert self.kinds(chat(block, A)) == ["assistant"]

    def test_what_was_missed_is_unknown_with_the_losses_that_were_seen(self):
        long = {"role": "user", "content": "a" * 9_000}
        found = project_gateway_turn(chat(long, A, gap=True))
        assert found.coverage.status == "unknown"
        assert found.coverage.reasons == ("field_byte_limit", "unmeasured_projection")
        assert project_gateway_turn(chat(A, gap=True)).coverage.status == "unknown"

    def test_a_turn_that_began_earlier_is_unknown_and_one_that_did_not_is_measured(self):
        result = {"type": "function_call_output", "call_id": "k", "output": "1"}
        earlier = project_gateway_turn(responses(result, previous_response_id="r"))
        assert (earlier.coverage.status, earlier.kinds) == ("unknown", ("tool_result", "assistant"))
        assert project_gateway_turn(responses(Q, previous_response_id="r")).coverage.status == "complete"

    def test_lone_surrogates_do_not_stop_the_projection(self):
        found = project_gateway_turn(chat({"role": "user", "content": "\ud800" * 9_000}, A))
        assert found.coverage.reasons == ("field_byte_limit",)
