import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.sessions.rules.inspection import inspection
from apps.sessions.rules.log_reader import LogReader
from apps.sessions.rules.simulation import simulate_removals
from apps.sessions.rules.tolerant import Tolerant
from apps.sessions.rules.validator import load, survey_of
from tests.conftest import VECTORS
from tests.sessions import logs
from tests.sessions.test_rules_tombstones import a_log

READER = LogReader((VECTORS / "sample_session.v4.jsonl.zstd").read_bytes())
SAMPLE, HEADER = list(READER), READER.header


def inspected(events, *, header=logs.HEADER):
    log = Tolerant(header=header, survey=survey_of(events))
    log.read(events)
    return inspection(log)


class TestInspection:
    def test_tells_what_a_removal_hid_and_what_still_exists(self):
        report = inspected(SAMPLE, header=HEADER)
        (removal,) = report["removals"]
        assert (report["load"], report["events"]) == ({"ok": True}, 41)
        assert report["surface"] == [2, 4, 5, 32, 23, 26, 27, 37, 38]
        assert (removal["turn"], removal["shadowed"], removal["price"]) == (2, [10, 11, 13, 16], 215)
        assert [(one["seq"], one["turn"], one["by"]) for one in report["hidden"]] == [
            (seq, 2, "removal") for seq in (10, 11, 13, 16)
        ]
        assert report["hidden"][0]["text"] == "What is the door code? I keep forgetting it."

    def test_counts_the_visible_against_the_stored_for_each_turn(self):
        turns = {one["turn"]: one for one in inspected(SAMPLE, header=HEADER)["turns"]}
        assert {turn: (one["stored"]["messages"], one["visible"]["messages"]) for turn, one in turns.items()} == {
            1: (3, 3),
            2: (4, 0),
            3: (2, 2),
            4: (2, 2),
            None: (1, 1),
        }
        assert [turn for turn, one in turns.items() if one["removed"]] == [2]

    def test_names_the_rule_that_a_log_breaks_and_reads_on(self):
        report = inspected(a_log(*logs.a_turn(3)))
        assert (report["load"]["code"], report["load"]["seq"], report["events"]) == ("step.not_open", 13, 20)
        assert [(one["turn"], one["legacy"]) for one in report["removals"]] == [(1, True)]
        assert report["surface"] == [2, 13, 9, 10, 16, 17]

    def test_stops_where_there_are_no_events_any_more(self):
        report = inspected([*logs.numbered(logs.a_turn(1)), {"type": []}, {"x": 1}])
        assert (report["load"]["code"], report["events"], report["unreadable_events"]) == (
            "envelope.missing_field",
            6,
            2,
        )

    def test_counts_what_a_removed_turn_leaves_in_force(self):
        made = {"type": "schedule/change", "data": {"version": 1, "operation": "create", "schedule": {"id": "r"}}}
        title = {"type": "session/title", "data": {"title": "x", "messageSeqs": [2], "source": {"kind": "fallback"}}}
        rows = [*logs.a_turn(1)[:-1], made, logs.turn_end(1), title, *logs.a_turn(2)]
        cut = logs.a_compaction("c", seq=len(rows), shadowed=[2, 3], producer=("sayso", "turn-delete"))
        report = inspected(logs.numbered([*rows, *cut]))
        assert report["load"] == {"ok": True}
        assert report["left_behind"] == {"1": {"reminders": 1, "titles": 1}}

    @settings(max_examples=200, deadline=None)
    @given(st.randoms(use_true_random=False))
    def test_any_events_in_any_order_can_be_inspected(self, chance):
        rows = [dict(row) for row in chance.choices([*SAMPLE, *a_log()], k=30)]
        for row in rows:
            for name in ("surfaceOp", "sourceEventSeqs", "data", "type", "ignorable"):
                if chance.random() < 0.08:
                    row[name] = chance.choice(
                        [None, [], {}, "", 7, [3], "append", logs.replace(0, 2), True, {"turn": 1}]
                    )
        json.dumps(inspected(logs.numbered([{**row, "seq": at} for at, row in enumerate(rows)])))


class TestSimulation:
    def test_counts_what_could_be_removed(self):
        state, ground = load(SAMPLE, header=HEADER)
        count = simulate_removals(state=state, ground=ground)
        assert (count.removable, count.removed_before, count.refused, count.faults) == (3, 1, {}, [])
        assert (state.next_seq, len(ground)) == (41, 41)

    @pytest.mark.parametrize(
        ("rows", "refused"),
        [
            ([logs.turn_start(1)], {"TURN_NOT_CLOSED": 1}),
            ([*logs.a_turn(1), logs.turn_start(2)], {"AGENT_BUSY open_turn": 1, "TURN_NOT_CLOSED": 1}),
            ([logs.turn_start(1), logs.turn_end(1)], {"TURN_COMPACTED partially_covered": 1}),
            (
                [*logs.a_turn(1), *logs.a_turn(2), *logs.a_compaction("c", seq=12, shadowed=[2, 3, 8, 9])],
                {"TURN_COMPACTED not_on_surface": 2},
            ),
        ],
    )
    def test_counts_the_refusals_by_their_reason(self, rows, refused):
        state, ground = logs.loaded(rows)
        assert simulate_removals(state=state, ground=ground).refused == refused
