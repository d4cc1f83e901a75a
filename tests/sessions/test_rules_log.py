"""What the vectors do not reach of the one validator."""

import json

import pytest

from apps.sessions.rules.ground import MemoryGround, mark_key
from apps.sessions.rules.plain_json import loss_in, parse_json, same_json, utf16_length
from apps.sessions.rules.refusals import LogRefused
from apps.sessions.rules.repair import inherited_marker, may_fork_at, orphans_of, reopening_events
from apps.sessions.rules.state import State
from apps.sessions.rules.validator import Validator, load
from tests.sessions import logs

OPENED = [logs.turn_start(1), logs.step_start(1, 1)]
CALLED = [*OPENED, logs.reply(1, 1, "a", logs.call_block("c"), logs.call_block("d"))]


def refused(rows, *, header=logs.HEADER):
    """Return the rule that the last of the rows breaks; those before it are legal."""
    events = logs.numbered(rows)
    load(events[:-1], header=header)
    with pytest.raises(LogRefused) as caught:
        load(events, header=header)
    assert caught.value.seq == len(events) - 1
    return caught.value.reason


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


class TestHeader:
    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"createdAt": True}, "header.field_type"),
            ({"createdAt": 2**53}, "header.field_type"),
            ({"id": ""}, "header.field_type"),
            ({"isSeeded": 0}, "header.field_type"),
            ({"agentPreset": 1}, "header.field_type"),
            ({"cwd": "srv/desk"}, "header.cwd_not_absolute"),
            ({"origin": None}, "header.origin"),
            ({"version": "4"}, "header.version"),
            ({"version": 5}, "header.version"),
            ({"isSeeded": True}, "seed.marker_missing"),
        ],
    )
    def test_is_refused(self, change, reason):
        with pytest.raises(LogRefused) as caught:
            load([], header={**logs.HEADER, **change})
        assert caught.value.reason == reason

    @pytest.mark.parametrize("cwd", ["/srv", "C:\\work", "c:/work", "\\\\host\\share"])
    def test_a_directory_is_absolute_on_any_system(self, cwd):
        load([], header={**logs.HEADER, "cwd": cwd, "agentPreset": "desk", "parentSession": "p"})


class TestEnvelope:
    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"seq": 1}, "envelope.seq_gap"),
            ({"seq": False}, "envelope.seq_gap"),
            ({"time": 1.5}, "envelope.field_type"),
            ({"type": ""}, "envelope.field_type"),
            ({"type": "who/knows"}, "envelope.unknown_type"),
            ({"ignorable": 1}, "envelope.ignorable"),
            ({"note": 1}, "envelope.unexpected_field"),
            ({"data": {"x": float("nan")}}, "envelope.not_json"),
            ({"data": {"x": -0.0}}, "envelope.not_json"),
            ({"data": {1: "x"}}, "envelope.not_json"),
            ({"data": (1,)}, "envelope.not_json"),
            ({"data": 2**53 + 1}, "envelope.not_json"),
            ({"data": deep(300)}, "envelope.not_json"),
        ],
    )
    def test_is_refused(self, change, reason):
        assert refused([{"type": "todo/write", "data": {}, **change}]) == reason

    def test_a_cycle_is_refused(self):
        data = {}
        data["self"] = data
        assert loss_in(data) != ""

    @pytest.mark.parametrize("event", [None, 7, "x", [], {"type": "todo/write", "seq": 0, "time": 0}])
    def test_anything_else_is_no_event(self, event):
        with pytest.raises(LogRefused) as caught:
            load([event], header=logs.HEADER)
        assert caught.value.reason == "envelope.missing_field"

    def test_time_may_go_backwards_and_repeat(self):
        rows = [{"type": "todo/write", "data": None, "time": time_ms} for time_ms in (5, 5, -3)]
        assert logs.loaded(rows)[0].last_time_ms == -3


class TestPlainJson:
    @pytest.mark.parametrize("text", ["NaN", "[Infinity]", "{", b"\xff", "[" * 100_000])
    def test_is_refused(self, text):
        with pytest.raises(ValueError, match=r"."):
            parse_json(text)

    def test_minus_zero_is_not_read_as_zero(self):
        assert str(parse_json("[-0]")[0]) == "-0.0"
        assert parse_json('["-0", -7, 0]') == ["-0", -7, 0]

    def test_true_is_not_one(self):
        assert not same_json({"a": 1}, other={"a": True})
        assert same_json({"a": 1, "b": 2}, other={"b": 2, "a": 1})

    def test_lengths_count_utf16_units(self):
        assert utf16_length("a😀é") == 4


class TestMessages:
    def test_a_result_flags_its_error(self):
        bent = logs.result(1, 1, "c", "no")
        bent["data"]["error"] = {"name": "E", "code": "E"}
        assert refused([*CALLED, logs.call(1, 1, "c"), bent]) == "message.error_flag"

    def test_a_result_names_its_call_twice_alike(self):
        bent = logs.result(1, 1, "c", "no")
        bent["data"]["message"]["source"]["callId"] = "d"
        assert refused([*CALLED, logs.call(1, 1, "c"), bent]) == "message.source"

    def test_a_developer_who_adds_tools_names_the_request(self):
        header = {"type": "request/header", "data": {"header": {}, "reason": "initial"}}
        adds = {"type": "tool-addition"}
        logs.loaded([*OPENED, header, logs.developer(1, 1, "d", adds, headerSeq=2)])
        assert refused([*OPENED, header, logs.developer(1, 1, "d", adds)]) == "message.header_seq"
        assert refused([*OPENED, header, logs.developer(1, 1, "d", adds, headerSeq=1)]) == "message.header_seq"
        assert refused([*OPENED, header, logs.developer(1, 1, "d", headerSeq=2)]) == "message.header_seq"

    @pytest.mark.parametrize("kind", ["agent/inbox/spliced", "session/title-llm-request"])
    def test_messages_inside_lists_are_checked_too(self, kind):
        good = logs.user("u", "hi")["data"]
        logs.loaded([{"type": kind, "data": {"messages": [good]}}])
        for bent, reason in (({"id": ""}, "message.id"), ({"role": "judge"}, "message.role")):
            assert refused([{"type": kind, "data": {"messages": [{**good, **bent}]}}]) == reason


class TestLifecycle:
    def test_numbers_are_no_booleans(self):
        assert refused([logs.turn_start(True)]) == "turn.unexpected_start"

    def test_two_calls_of_one_reply_need_two_ids(self):
        rows = [*OPENED, logs.reply(1, 1, "a", logs.call_block("c"), logs.call_block("c"))]
        assert refused(rows) == "tool.repeated"

    @pytest.mark.parametrize("bent", [{"name": "write"}, {"arguments": "{ }"}])
    def test_a_call_is_the_one_that_was_announced(self, bent):
        assert refused([*CALLED, logs.call(1, 1, "c", **bent)]) == "tool.mismatch"
        assert refused([*CALLED, logs.call(1, 1, "c"), logs.call(1, 1, "c")]) == "tool.mismatch"

    def test_a_forked_result_needs_no_fixed_text(self):
        forked = logs.result(1, 1, "c", "whatever")
        forked["data"]["message"] |= {"id": "forked-tool-result-c-9", "isError": True}
        forked["data"]["error"] = {"name": "ToolNotStartedError", "code": "TOOL_NOT_STARTED"}
        logs.loaded([*CALLED, forked])
        assert refused([*CALLED, {**forked, "sourceEventSeqs": [2]}]) == "tool.not_started"

    def test_a_call_may_be_announced_again_after_its_result(self):
        again = logs.reply(1, 1, "b", logs.call_block("c"))
        logs.loaded([*CALLED, logs.call(1, 1, "c"), logs.result(1, 1, "c", "42"), again])

    def test_a_child_may_be_listed_again_after_the_inherited_part(self):
        child = {"type": "subagent/catalog", "data": {"childId": "k"}}
        marker = {"type": "session/end-seed", "data": {"inherited": True}}
        seeded = {**logs.HEADER, "isSeeded": True}
        load(logs.numbered([child, marker, child]), header=seeded)
        load(logs.numbered([child, child, marker, child]), header=seeded)
        assert refused([child, marker, child, child], header=seeded) == "catalog.duplicate_child"
        assert refused([child, child]) == "catalog.duplicate_child"
        assert refused([marker]) == "seed.unexpected_marker"

    @pytest.mark.parametrize("cited", [[0, 0], [1], [9], ["0"], None, [True]])
    def test_a_title_cites_messages_of_the_person(self, cited):
        rows = [logs.user("u", "hi"), logs.user("n", "note", source={"kind": "schedule"})]
        title = {"type": "session/title", "data": {"messageSeqs": cited, "source": {"kind": "provider"}}}
        assert refused([*rows, title]) == "title.sources"


class TestCompactions:
    ROWS = [logs.user("u", "a"), logs.user("v", "b"), logs.user("w", "c")]

    def rows(self, *, change=None, at=1, name="k", shadowed=(0, 1)):
        compaction = logs.a_compaction(name, seq=3, shadowed=list(shadowed))
        compaction[at]["data"] = {**compaction[at]["data"], **(change or {})}
        return [*self.ROWS, *compaction[: at + 1]]

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"shadowedTokenCount": -1}, "compaction.token_count"),
            ({"shadowedTokenCount": 1.5}, "compaction.token_count"),
            ({"shadowedSeqs": [0, 1, 2]}, "compaction.span"),
            ({"shadowedSeqs": [0]}, "compaction.span"),
            ({"shadowedSeqs": []}, "compaction.span"),
            ({"shadowedSeqs": None}, "compaction.span"),
            ({"shadowedRange": {"start": 1, "end": 0}}, "compaction.span"),
            ({"shadowedRange": {"start": 0, "end": 9}}, "compaction.span"),
            ({"sourceCommandId": "x"}, "compaction.unmatched"),
            ({"sourceCommandId": None}, "compaction.unmatched"),
        ],
    )
    def test_a_summary_is_refused(self, change, reason):
        assert refused(self.rows(change=change)) == reason

    def test_a_second_summary_is_refused(self):
        rows = self.rows()
        assert refused([*rows, rows[-1]]) == "compaction.repeated_summary"

    def test_a_successful_end_needs_a_summary(self):
        rows = [*self.ROWS, {"type": "compaction/start", "data": {"compactionId": "k", "turn": None}}]
        end = {"compactionId": "k", "turn": None}
        assert refused([*rows, {"type": "compaction/end", "data": end}]) == "compaction.no_summary"
        logs.loaded([*rows, {"type": "compaction/end", "data": {**end, "error": "no"}}])

    def test_the_head_is_protected(self):
        begun = [*OPENED, logs.system(1, 1, "s", logs.text("be kind")), logs.user("u", "hi")]
        bounds = {"shadowedRange": {"start": 2, "end": 3}, "shadowedSeqs": [2, 3], "shadowedTokenCount": 1}
        assert refused([*begun, {"type": "compaction/prune", "data": bounds}]) == "surface.protected_head"
        over = {**logs.user("v", "hi"), "surfaceOp": logs.replace(2, 2), "sourceEventSeqs": [2]}
        assert refused([*begun, over]) == "surface.protected_head"
        late = logs.system(1, 1, "s", logs.text("late"))
        assert refused([*OPENED, logs.user("u", "hi"), late]) == "surface.no_protected_head"


class TestRepair:
    def test_an_open_turn_is_closed_in_order(self):
        rows = [*CALLED, logs.call(1, 1, "d")]
        state, ground = load(logs.numbered(rows, time_ms=7), header=logs.HEADER)
        closers = reopening_events(state=state)
        for event in closers:
            Validator(state=state, ground=ground).accept(event)
        assert [event["type"] for event in closers] == [
            "tool/result",
            "tool/result",
            "step/end",
            "turn/end",
            "session/end-seed",
        ]
        first, second = closers[:2]
        assert first["data"]["error"]["code"] == "TOOL_NOT_STARTED"
        assert "sourceEventSeqs" not in first
        assert (second["data"]["error"]["code"], second["sourceEventSeqs"]) == ("TOOL_OUTCOME_UNKNOWN", [3])
        assert {event["time"] for event in closers} == {7}
        assert reopening_events(state=state) == []

    def test_a_compaction_left_open_in_a_turn_is_crossed_and_dropped(self):
        rows = [*OPENED, {"type": "compaction/start", "data": {"compactionId": "k", "turn": 1}}]
        state, ground = logs.loaded(rows)
        closers = reopening_events(state=state)
        validator = Validator(state=state, ground=ground, orphans=orphans_of(state))
        for event in closers:
            validator.accept(event)
        assert state.compaction is None
        load([*logs.numbered(rows), *closers], header=logs.HEADER)

    def test_a_fork_begins_between_turns(self):
        rows = [*logs.a_turn(1), logs.user("n", "note"), *logs.a_turn(2), logs.turn_start(3)]
        state, ground = logs.loaded(rows)
        allowed = [boundary for boundary in range(-1, 16) if may_fork_at(boundary, ground=ground, state=state)]
        assert allowed == [0, 6, 7, 13]
        prefix = [*logs.numbered(rows)[:7], inherited_marker(seq=7, time_ms=0)]
        forked, _ = load(prefix, header={**logs.HEADER, "isSeeded": True, "parentSession": "p"})
        assert (forked.inherited, forked.next_turn) == (7, 2)


class TestState:
    def test_comes_back_from_its_json(self):
        state, _ = logs.loaded([*CALLED, {"type": "compaction/start", "data": {"compactionId": "k", "turn": 1}}])
        assert State.restored(json.loads(json.dumps(state.dump()))) == state

    def test_of_another_make_is_refused(self):
        with pytest.raises(ValueError, match="another make"):
            State.restored({**State().dump(), "format": 0})

    def test_long_keys_are_hashed(self):
        assert mark_key("k" * 200) == "k" * 200
        assert len(mark_key("k" * 201)) == len(mark_key("sha256:k")) == 71


class CountingGround(MemoryGround):
    """Counts how often it is asked."""

    asked = 0

    def __getattribute__(self, name):
        if name in {"event", "events", "place", "span", "mark", "citers"}:
            CountingGround.asked += 1
        return super().__getattribute__(name)


class TestCost:
    def test_an_append_asks_the_same_of_a_long_log(self):
        state, ground = State(), CountingGround()
        validator, turn, costs = Validator(state=state, ground=ground), 0, []
        for size in (100, 1_000, 10_000):
            while len(ground) < size:
                turn += 1
                CountingGround.asked = 0
                for event in logs.numbered(logs.a_turn(turn), first=len(ground)):
                    validator.accept(event)
            costs.append((CountingGround.asked, len(json.dumps(state.dump())) // 10))
        assert len({asked for asked, _ in costs}) == 1
        assert len({size for _, size in costs}) == 1
