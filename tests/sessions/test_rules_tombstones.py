import itertools
import json

import pytest

from apps.core.errors import SaysoError
from apps.sessions.rules.recognition import removals
from apps.sessions.rules.refusals import LogRefused
from apps.sessions.rules.tombstones import RETIRED, NotRepairable, repaired, tombstones
from apps.sessions.rules.validator import load
from tests.sessions import logs


def tombstone(turn, *, start, end, sources):
    row = logs.system(turn, 1, f"tomb-{turn}")
    return {**row, "surfaceOp": logs.replace(start, end), "sourceEventSeqs": sources}


def a_log(*more):
    """Give two turns, the first of them removed as the first plugin did it."""
    first = logs.a_turn(1, words="secret")
    first.insert(2, logs.system(1, 1, "s", logs.text("be kind")))
    return logs.numbered([*first, *logs.a_turn(2), tombstone(1, start=3, end=4, sources=[3, 4]), *more])


def mended(events):
    return repaired(events, header=logs.HEADER, ids=(f"id-{number}" for number in itertools.count()))


def test_a_log_that_would_not_open_opens_and_the_turn_stays_removed():
    events = a_log()
    with pytest.raises(LogRefused, match=r"step\.not_open"):
        load(events, header=logs.HEADER)
    after, found = mended(events)
    _, ground = load(after, header=logs.HEADER)
    assert [(one.seq, one.turn, one.cited_at) for one in found] == [(13, 1, None)]
    assert (after[:13], after[13]) == (events[:13], {**events[13], "type": RETIRED, "ignorable": True})
    assert [row["type"] for row in after[14:]] == [
        "compaction/start",
        "compaction/summary",
        "user/message",
        "compaction/end",
    ]
    assert [one.turn for one in removals(after, ground=ground)] == [1]
    assert "secret" not in json.dumps([after[seq]["data"] for seq in ground.nodes()])


def test_what_came_after_it_stays_as_it_is():
    events = a_log(*logs.a_turn(3))
    after, _ = mended(events)
    _, ground = load(after, header=logs.HEADER)
    assert after[14:20] == events[14:]
    assert ground.nodes() == [2, 22, 9, 10, 16, 17]


def test_two_of_them_are_mended_together():
    events = a_log(tombstone(2, start=9, end=10, sources=[9, 10]))
    after, found = mended(events)
    _, ground = load(after, header=logs.HEADER)
    assert [one.turn for one in found] == [one.turn for one in removals(after, ground=ground)] == [1, 2]
    assert ground.nodes() == [2, 17, 21]


def test_an_open_turn_is_closed_first():
    after, _ = mended(a_log(logs.turn_start(3)))
    assert [row["type"] for row in after[15:17]] == ["turn/end", "session/end-seed"]


@pytest.mark.parametrize(
    "later",
    [
        {**logs.user("k", "x"), "surfaceOp": logs.replace(13, 13), "sourceEventSeqs": [13]},
        {**logs.user("k", "x"), "sourceEventSeqs": [13]},
        {"type": "compaction/prune", "data": {"shadowedSeqs": [13]}},
    ],
)
def test_it_is_refused_when_something_rests_on_it(later):
    events = a_log(later)
    assert [one.cited_at for one in tombstones(events, header=logs.HEADER)] == [14]
    with pytest.raises(NotRepairable):
        mended(events)


def test_there_is_nothing_to_mend_in_a_sound_log():
    with pytest.raises(NotRepairable):
        mended(logs.numbered(logs.a_turn(1)))


def test_blanking_the_system_prompt_is_no_tombstone():
    head = [logs.turn_start(1), logs.step_start(1, 1), logs.system(1, 1, "s", logs.text("be kind"))]
    blank = {**logs.system(1, 1, "s2"), "surfaceOp": logs.replace(2, 2), "sourceEventSeqs": [2]}
    events = logs.numbered([*head, blank, logs.step_end(1, 1), logs.turn_end(1)])
    load(events, header=logs.HEADER)
    assert tombstones(events, header=logs.HEADER) == []


def test_other_damage_is_named_as_it_is():
    with pytest.raises(SaysoError) as caught:
        mended(a_log(logs.turn_end(9)))
    assert caught.value.own_code == "turn.bad_end"
