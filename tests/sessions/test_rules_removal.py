import pytest

from apps.sessions.rules.loose import loose_ground
from apps.sessions.rules.price import meter_price, rough_tokens, shadowed_price
from apps.sessions.rules.recognition import removals, turn_around
from apps.sessions.rules.refusals import TargetNotFound, TurnCompacted, TurnNotClosed
from apps.sessions.rules.removal import Removed, removal_events, removed_before
from apps.sessions.rules.removal_plan import Plan, Target, plan_removal, target_by_reply, target_by_turn
from apps.sessions.rules.validator import Validator
from tests.sessions import logs

ROWS = [*logs.a_turn(1), logs.user("n", "note"), *logs.a_turn(2)]
SILENT = [logs.turn_start(3), logs.user("u3", "nobody answers"), logs.turn_end(3, "aborted")]


def planned(rows, *, target, **more):
    state, ground = logs.loaded(rows)
    chosen = target if isinstance(target, Target) else target_by_reply(message_id=target, ground=ground)
    busy = {"open_turn": state.turn is not None, "open_compaction": state.compaction is not None}
    return plan_removal(target=chosen, ground=ground, **busy, **more)


def removed(rows, *, plan):
    """Return the log with the turn removed, and what the rules keep of it."""
    state, ground = logs.loaded(rows)
    events = removal_events(plan=plan, price=3, compaction_id="k", message_id="m", next_seq=state.next_seq, time_ms=5)
    validator = Validator(state=state, ground=ground)
    for event in events:
        validator.accept(event)
    return [*logs.numbered(rows), *events], state, ground


class TestPlan:
    def test_a_message_between_turns_belongs_to_none(self):
        assert planned(ROWS, target="a1") == Plan(turn=1, start_seq=2, end_seq=3, source_seqs=(2, 3))
        assert planned(ROWS, target="a2") == Plan(turn=2, start_seq=9, end_seq=10, source_seqs=(9, 10))

    def test_a_page_may_name_a_turn_by_its_number(self):
        _, ground = logs.loaded([*ROWS, *SILENT])
        assert target_by_turn(turn=2, ground=ground) == Target(turn=2, reply=10)
        assert target_by_turn(turn=3, ground=ground) == Target(turn=3, reply=None)
        with pytest.raises(TargetNotFound):
            target_by_turn(turn=4, ground=ground)

    def test_a_turn_without_a_reply_can_go_by_its_number(self):
        rows = [*ROWS, *SILENT]
        plan = planned(rows, target=Target(turn=3, reply=None))
        events, _, ground = removed(rows, plan=plan)
        assert ground.nodes() == [2, 3, 6, 9, 10, 18]
        assert [one.turn for one in removals(events, ground=ground)] == [3]
        assert removed_before(turn=3, ground=ground) == Removed(turn=3, compaction_id="k", replacement_seq=18)

    def test_a_turn_that_left_nothing_on_the_surface_cannot_go(self):
        rows = [*ROWS, logs.turn_start(3), logs.turn_end(3)]
        with pytest.raises(TurnCompacted):
            planned(rows, target=Target(turn=3, reply=None))

    def test_an_open_turn_is_not_closed(self):
        with pytest.raises(TurnNotClosed):
            planned([*ROWS, logs.turn_start(3)], target=Target(turn=3, reply=None))

    def test_a_later_message_that_quotes_the_turn_keeps_it(self):
        quoting = logs.user("q", "as you said", sourceEventSeqs=[10])
        with pytest.raises(TurnCompacted) as caught:
            planned([*ROWS, quoting], target="a2")
        assert caught.value.extra == {"why": "shared_node"}


class TestTransaction:
    def test_four_events_take_the_turn_away(self):
        events, state, ground = removed(ROWS, plan=planned(ROWS, target="a1"))
        assert [event["type"] for event in events[13:]] == [
            "compaction/start",
            "compaction/summary",
            "user/message",
            "compaction/end",
        ]
        assert ground.nodes() == [15, 6, 9, 10]
        assert state.compaction is None
        assert removed_before(turn=1, ground=ground) == Removed(turn=1, compaction_id="k", replacement_seq=15)
        assert removed_before(turn=2, ground=ground) is None

    def test_an_empty_notice_is_never_written(self):
        plan = planned(ROWS, target="a1")
        with pytest.raises(ValueError, match="empty notice"):
            removal_events(plan=plan, price=3, compaction_id="k", message_id="m", next_seq=13, time_ms=5, notice=" ")

    def test_neighbours_can_go_one_after_another(self):
        first, _, _ = removed(ROWS, plan=planned(ROWS, target="a1"))
        plan = planned(first, target="a2")
        assert plan == Plan(turn=2, start_seq=9, end_seq=10, source_seqs=(9, 10))


class TestRecognition:
    def rows(self, producer, *, replaced=None, ends=True):
        compaction = logs.a_compaction("k", seq=13, shadowed=[2, 3], producer=producer)
        if replaced:
            compaction[2] |= {"surfaceOp": logs.replace(*replaced), "sourceEventSeqs": list(range(13))}
        return [*ROWS, *compaction[: 4 if ends else 3]]

    def turns(self, rows):
        events = logs.numbered(rows)
        _, ground = logs.loaded(rows)
        marked = [int(mark.key) for mark in ground.marks(kind="removed")]
        assert marked == [one.turn for one in removals(events, ground=ground)]
        return marked

    @pytest.mark.parametrize("provider", ["sayso", "dsh-agent-control"])
    def test_a_persons_removal_is_recognised(self, provider):
        assert self.turns(self.rows((provider, "turn-delete"))) == [1]

    @pytest.mark.parametrize("producer", [("acme", "turn-delete"), ("sayso", "sum-1")])
    def test_a_hosts_compaction_is_none(self, producer):
        assert self.turns(self.rows(producer)) == []

    def test_an_unfinished_one_is_none(self):
        assert self.turns(self.rows(("sayso", "turn-delete"), ends=False)) == []

    def test_one_that_failed_after_all_is_none(self):
        failed = {"compactionId": "k", "turn": None, "error": "no"}
        rows = self.rows(("sayso", "turn-delete"), ends=False)
        assert self.turns([*rows, {"type": "compaction/end", "data": failed}]) == []

    def test_one_that_took_something_else_away_is_none(self):
        """Else the turn would be hidden from the person while the model still reads it."""
        assert self.turns(self.rows(("sayso", "turn-delete"), replaced=(9, 10))) == []

    def test_blanking_the_system_prompt_is_none(self):
        opened = [logs.turn_start(1), logs.step_start(1, 1), logs.system(1, 1, "s", logs.text("be kind"))]
        blank = logs.system(1, 1, "t", surfaceOp=logs.replace(2, 2), sourceEventSeqs=[2])
        events = logs.numbered([*opened, blank])
        assert removals(events, ground=loose_ground(events)) == []

    def test_an_event_knows_the_turn_around_it(self):
        _, ground = logs.loaded(ROWS)
        assert [turn_around(seq, ground=ground) for seq in (0, 3, 5, 6, 8)] == [1, 1, None, None, 2]


class TestPrice:
    def test_a_meters_estimate_counts_when_it_is_a_count(self):
        events = logs.numbered([logs.user("u", "😀é")])
        assert shadowed_price(events, estimate=0) == 0
        for estimate in (-1, 1.5, True, "7", None):
            assert shadowed_price(events, estimate=estimate) == rough_tokens([events[0]["data"]])

    def test_the_hosts_meter_counts_blocks(self):
        blocks = [logs.text("12345"), {"type": "reasoning", "text": ""}, logs.call_block("c"), {"type": "image"}, "?"]
        assert meter_price(logs.reply(1, 1, "a", *blocks)) == 4 + (2 + 4) + 4 + (1 + 1 + 4)

    def test_a_lone_surrogate_is_written_as_an_escape(self):
        assert rough_tokens(["\ud800"]) == 2
        assert rough_tokens([]) == 0
