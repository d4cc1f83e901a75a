"""The client over a transport that answers from memory, or as each test has it."""

import json
import logging

import httpx
import pytest

from apps.captures.rules import COVERAGE_KEY, declare
from clients.python.sayso_client import CaptureClient, CaptureIncomplete, CheckpointFailed, Checkpoints
from tests.captures.memory import MemoryServer
from tests.conformance.captures_ops import OPS
from tests.conformance.captures_steps import Steps
from tests.conftest import VECTORS

COVERAGE = declare(projection="hermes-turn-text.v1", losses=[]).as_object()
DECLARED = {"kind": "hermes-turn", "prefix": {"handle": "h"}, COVERAGE_KEY: COVERAGE}
PLAIN = {"kind": "hermes-turn", "prefix": {"handle": "h"}}
CASES = json.loads((VECTORS / "captures.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_each_vector_holds_for_the_rules_and_the_client(case):
    if case["op"] in OPS:
        OPS[case["op"]](case["input"], case["expect"])
        return
    server = MemoryServer()
    with Steps(transport=server.transport(), restart=server.transport) as steps:
        steps.run(case["input"], case["expect"])


class Scripted:
    """Answers with what the test lists, in order, and keeps what was sent."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.sent = []

    def __call__(self, request):
        self.sent.append(json.loads(request.content))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer, json={"outcome": "created", "position": 7} if answer < 300 else {})

    def captures(self):
        return CaptureClient(http=httpx.Client(transport=httpx.MockTransport(self), base_url="http://sayso.test"))

    def send(self, metadata):
        found = self.captures().send_hermes(scope_id="A", source_id="s:1", content="text", metadata=metadata)
        return found.outcome, found.attempts, found.status


class TestLegacyRetry:
    def test_a_conflict_is_sent_once_more_without_the_declaration_alone(self):
        server = Scripted(409, 200)
        found = server.captures().send_hermes(scope_id="A", source_id="s:1", content="text", metadata=DECLARED)
        assert (found.outcome, found.attempts, found.position, found.stored) == ("legacy_replayed", 2, 7, True)
        assert found.coverage == "unknown"
        assert [sent["metadata"] for sent in server.sent] == [DECLARED, PLAIN]
        first, second = ({**sent, "metadata": None} for sent in server.sent)
        assert first == second == {"scope_id": "A", "source_id": "s:1", "content": "text", "metadata": None}

    @pytest.mark.parametrize("second", [409, 401, 422, 500, httpx.ReadTimeout("late")])
    def test_any_other_second_answer_is_the_original_conflict(self, second):
        server = Scripted(409, second)
        assert server.send(DECLARED) == ("conflict", 2, 409)

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500, 503])
    def test_no_other_status_is_tried_again(self, status):
        assert Scripted(status).send(DECLARED) == ("failed", 1, status)

    @pytest.mark.parametrize("error", [httpx.ConnectError("no"), httpx.ReadTimeout("late")])
    def test_a_server_out_of_reach_is_not_tried_again(self, error):
        assert Scripted(error).send(DECLARED) == ("failed", 1, None)

    def test_a_conflict_without_a_declaration_is_not_tried_again(self):
        assert Scripted(409).send(PLAIN) == ("conflict", 1, 409)

    def test_a_server_of_another_make_says_less(self):
        transport = httpx.MockTransport(lambda request: httpx.Response(202, json={"status": "accepted", "position": 4}))
        captures = CaptureClient(
            http=httpx.Client(transport=transport, base_url="http://x"), path="/v1/sources/content"
        )
        found = captures.send_hermes(scope_id="A", source_id="s", content="t", metadata=DECLARED)
        assert (found.outcome, found.position, found.coverage, found.stored) == ("accepted", 4, None, True)

    def test_an_answer_that_is_no_json_is_durable_all_the_same(self):
        transport = httpx.MockTransport(lambda request: httpx.Response(201, text="fine"))
        captures = CaptureClient(http=httpx.Client(transport=transport, base_url="http://x"))
        found = captures.send_hermes(scope_id="A", source_id="s", content="t", metadata={})
        assert (found.stored, found.position) == (True, None)

    def test_text_that_is_not_unicode_is_a_failure_and_no_crash(self):
        found = Scripted().captures().send_hermes(scope_id="A", source_id="s", content="\ud800", metadata={})
        assert (found.outcome, found.status) == ("failed", None)


class TestRendering:
    @pytest.fixture
    def server(self):
        return MemoryServer()

    @pytest.fixture
    def captures(self, server):
        with httpx.Client(transport=server.transport(), base_url="http://sayso.test") as http:
            yield CaptureClient(http=http)

    def stored(self, server, delivery):
        (held,) = [one for one in server.held.values() if one.position == delivery.position]
        return json.loads(held.payload)

    def test_a_turn_is_sent_with_its_declaration_and_the_keys_of_others(self, server, captures):
        given = {"scope_id": "A", "session_id": "session-1", "user": "Use uv.", "assistant": "Done."}
        delivery = captures.capture_turn(**given, metadata={"prefix": {"handle": "h"}})
        assert (delivery.outcome, delivery.position, delivery.coverage) == ("created", 1, "complete")
        stored = self.stored(server, delivery)
        assert stored["source_id"] == "hermes-turn:34c9a41cdcab7c357c887df6"
        assert stored["metadata"] == {
            "prefix": {"handle": "h"},
            "kind": "hermes-turn",
            "session_id": "session-1",
            COVERAGE_KEY: COVERAGE,
        }
        assert captures.capture_turn(**given, metadata={"prefix": {"handle": "h"}}).outcome == "replayed"

    def test_nothing_said_is_nothing_sent(self, server, captures):
        assert captures.capture_turn(scope_id="A", session_id="s", user=" ", assistant="") is None
        assert captures.capture_gateway_turn({"protocol": "completions"}, scope_id="A", session_id="s") is None
        assert server.held == {}

    def test_of_a_gateway_turn_the_first_write_wins(self, server, captures):
        messages = [{"role": "user", "content": "a" * 9_000}, {"role": "assistant", "content": "ok"}]
        exchange = {"protocol": "chat", "messages": messages, "finish_reason": "stop"}
        first = captures.capture_gateway_turn(exchange, scope_id="A", session_id="s")
        assert (first.outcome, first.coverage) == ("created", "partial")
        assert captures.capture_gateway_turn(exchange, scope_id="A", session_id="s").outcome == "replayed"
        late = captures.capture_gateway_turn({**exchange, "gap": True}, scope_id="A", session_id="s")
        assert (late.outcome, late.attempts, late.coverage, late.stored) == ("already_captured", 1, None, False)


class TestCheckpoints:
    MESSAGES = ({"role": "user", "content": "1"}, {"role": "assistant", "content": "2"})
    LONG = ({"role": "user", "content": "a" * 40_000},)

    def checkpoints(self, server, mode, **members):
        made = {"captures": server.captures(), "scope": lambda: "A", "stream": "s", "mode": mode}
        return Checkpoints(**{**made, **members})

    def test_off_sends_nothing(self):
        server = Scripted()
        assert self.checkpoints(server, "off").run(session_id="s", messages=self.MESSAGES).delivery is None

    def test_required_raises_when_the_window_does_not_fit_and_keeps_the_snapshot(self):
        server = Scripted()
        checkpoints = self.checkpoints(server, "required")
        with pytest.raises(CaptureIncomplete):
            checkpoints.run(session_id="s", messages=self.LONG)
        assert (server.sent, checkpoints.snapshot) == ([], ())

    def test_required_raises_when_the_server_refuses_and_offers_the_window_again(self):
        server = Scripted(503, 201)
        checkpoints = self.checkpoints(server, "required")
        with pytest.raises(CheckpointFailed):
            checkpoints.run(session_id="s", messages=self.MESSAGES)
        assert checkpoints.snapshot == ()
        assert checkpoints.run(session_id="s", messages=self.MESSAGES).snapshot_advanced
        assert server.sent[0] == server.sent[1]

    def test_optional_logs_what_it_could_not_send(self, caplog):
        server = Scripted(httpx.ConnectError("no"), 201)
        checkpoints = self.checkpoints(server, "optional")
        with caplog.at_level(logging.WARNING, "sayso.captures"):
            result = checkpoints.run(session_id="s", messages=self.MESSAGES)
        assert (result.delivery.outcome, result.snapshot_advanced) == ("failed", False)
        assert "a checkpoint was not stored: failed" in caplog.messages
        assert checkpoints.run(session_id="s", messages=self.MESSAGES).message_count == 2

    def test_the_host_s_own_list_is_preferred(self):
        server = Scripted(201)
        self.checkpoints(server, "optional").run(session_id="s", messages=self.LONG, evidence=self.MESSAGES)
        assert server.sent[0]["content"] == "[user] 1\n[assistant] 2"

    def test_a_failing_extraction_takes_nothing_back(self, caplog):
        def extract(delivery):
            raise RuntimeError("no model")

        checkpoints = self.checkpoints(Scripted(201), "required", extract=extract)
        assert checkpoints.run(session_id="s", messages=self.MESSAGES).snapshot_advanced
        assert "the extraction after a checkpoint failed" in caplog.messages

    @pytest.mark.parametrize("mode", ["optional", "required"])
    def test_a_scope_that_changed_while_waiting_stops_the_capture(self, mode):
        server, scope = Scripted(), ["A"]
        checkpoints = self.checkpoints(server, mode, scope=lambda: scope[0])

        def run():
            return checkpoints.run(session_id="s", messages=self.MESSAGES, wait=lambda: scope.__setitem__(0, "B"))

        if mode == "required":
            with pytest.raises(CheckpointFailed):
                run()
        else:
            assert run().delivery is None
        assert (server.sent, checkpoints.snapshot) == ([], ())

    def test_another_stream_starts_from_nothing_under_another_id(self):
        server = Scripted(201, 201)
        checkpoints = self.checkpoints(server, "optional")
        checkpoints.run(session_id="s", messages=self.MESSAGES)
        checkpoints.restart(stream="t")
        checkpoints.run(session_id="t", messages=self.MESSAGES)
        assert server.sent[0]["content"] == server.sent[1]["content"]
        assert server.sent[0]["source_id"] != server.sent[1]["source_id"]

    def test_a_retry_after_the_session_changed_is_a_conflict_that_is_told(self):
        memory = MemoryServer()
        with httpx.Client(transport=memory.transport(), base_url="http://sayso.test") as http:
            for session_id, mode in (("s", "required"), ("t", "required")):
                checkpoints = self.checkpoints(Scripted(), mode, captures=CaptureClient(http=http))
                if session_id == "s":
                    checkpoints.run(session_id=session_id, messages=self.MESSAGES)
                    continue
                with pytest.raises(CheckpointFailed) as caught:
                    checkpoints.run(session_id=session_id, messages=self.MESSAGES)
                assert caught.value.extra == {"outcome": "conflict"}
