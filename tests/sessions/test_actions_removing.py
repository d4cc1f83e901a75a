"""Removing a turn: what the card says, what is written, what is checked at the tick, and what a failure leaves."""

import json

import pytest

from apps.confirmations.models import Confirmation
from apps.confirmations.queries import outcome_from
from apps.core import dependents
from apps.ledger.models import LedgerEntry, Receipt
from apps.sessions.actions.leases import take_lease
from apps.sessions.contracts import DELETE_TURN
from apps.sessions.models import Session, SessionEvent
from apps.sessions.queries.exporting import removed_turns
from apps.sessions.queries.log import all_events, load_state, surface_messages
from apps.sessions.queries.removals import TurnRemoved
from apps.sessions.rules.refusals import AgentBusy, LogRefused, TargetNotFound, TurnCompacted, TurnNotClosed
from apps.sessions.rules.removal import NOTICE
from apps.sessions.rules.validator import Validator, load
from tests.sessions.deciding import Desk
from tests.sessions.logs import a_compaction, a_turn, reply, step_end, step_start, text, turn_end, turn_start, user
from tests.sessions.place import NOW

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk(place):
    desk = Desk(place)
    desk.session("s2", turns=3, title="Holiday plans")
    return desk


def stored(ref="s2"):
    row = Session.objects.get(ref=ref)
    return list(all_events(row))


def said(ref="s2"):
    """Return what the model sees."""
    row = Session.objects.get(ref=ref)
    return [block["text"] for message in surface_messages(row) for block in message["content"]]


class TestTheCard:
    def test_names_the_turn_its_reply_and_what_was_said(self, desk):
        facts = json.loads(desk.gate.row(desk.ask_turn("session-s2", "a2")).facts)
        assert (facts["session"], facts["title"]) == ("s2", "Holiday plans")
        assert (facts["turn"], facts["message"], facts["goes"]) == (2, "a2", 2)
        assert (facts["question"], facts["reply"]) == ("ask of s2 2", "reply 2")
        assert facts["stays"] == {}

    def test_counts_what_stays_in_force(self, desk, monkeypatch):
        reminder = {"kind": "after", "prompt": "p", "afterSeconds": 60, "scheduledAt": "2027-01-01T00:00:00Z"}
        desk.append(
            "s2",
            turn_start(4),
            step_start(4, 1),
            user("u4", "remind me"),
            {"type": "todo/write", "data": {"items": []}},
            *(
                {
                    "type": "schedule/change",
                    "data": {"version": 1, "operation": "create", "schedule": {"id": f"r{number}", **reminder}},
                }
                for number in range(3)
            ),
            {"type": "schedule/change", "data": {"version": 1, "operation": "delete", "id": "r1"}},
            reply(4, 1, "a4", text("done"), {"type": "image", "attachment": {}}),
            step_end(4, 1),
            turn_end(4),
        )
        captured = dependents.Dependent(
            owner="turn",
            name="captures",
            count=lambda owner_id: 5 if owner_id.endswith(":4") else 0,
            digest_part=lambda owner_id: None,
            refusal=lambda owner_id: "",
            remove=lambda owner_id, now_ms, by: 0,
        )
        monkeypatch.setattr(dependents, "_dependents", [captured])
        facts = json.loads(desk.gate.row(desk.ask_turn("s2", "a4")).facts)
        assert facts["stays"] == {"todos": 1, "attachments": 1, "reminders": 2, "captures": 5}

    def test_a_page_may_name_the_number_of_a_turn_that_never_got_a_reply(self, desk):
        desk.append("s2", turn_start(4), user("u4", "hello?"), turn_end(4, kind="aborted"))
        outcome = desk.ask(DELETE_TURN, session="s2", turn=4, by=desk.place.owner)
        assert desk.tick(outcome).state == "executed"
        assert removed_turns(Session.objects.get(ref="s2")) == [4]


class TestTheTick:
    def test_one_note_stands_where_the_turn_was_and_the_log_keeps_every_word(self, desk):
        before = stored()
        row = desk.tick(desk.ask_turn("s2", "a2"))
        assert row.state == "executed"
        assert said() == ["ask of s2 1", "reply 1", NOTICE, "ask of s2 3", "reply 3"]
        after = stored()
        assert after[: len(before)] == before
        kinds = [event["type"] for event in after[len(before) :]]
        assert kinds == ["compaction/start", "compaction/summary", "user/message", "compaction/end"]
        parts = outcome_from(row).parts
        assert parts["replacementSeq"] == after[-2]["seq"]
        assert parts["compactionId"] == after[-1]["data"]["compactionId"]
        assert (parts["turn"], parts["alreadyDeleted"]) == (2, False)

    def test_the_log_loads_and_every_turn_can_go_one_by_one(self, desk):
        for turn in (2, 1, 3):
            assert desk.tick(desk.ask_turn("s2", f"a{turn}")).state == "executed"
        row = Session.objects.get(ref="s2")
        state, ground = load(stored(), header=json.loads(row.header))
        assert (state, removed_turns(row)) == (load_state(row), [2, 1, 3])
        assert [event["data"]["content"][0]["text"] for event in map(ground.event, ground.nodes())] == [NOTICE] * 3

    def test_there_is_one_row_in_the_ledger_and_a_receipt_without_a_word_of_it(self, desk):
        row = desk.tick(desk.ask_turn("s2", "a2"))
        ends = [entry.action for entry in LedgerEntry.objects.order_by("seq")]
        assert ends == ["confirmation.asked", "confirmation.executed"]
        body = Receipt.objects.get(pk=row.receipt_id).body
        assert json.loads(body)["shown"]["turn"] == 2
        for words in ("Holiday", "ask of", "reply 2"):
            assert words not in body

    def test_later_turns_do_not_make_the_card_stale(self, desk):
        outcome = desk.ask_turn("s2", "a2")
        desk.append("s2", *a_turn(4))
        assert desk.tick(outcome).state == "executed"

    def test_a_held_session_may_be_edited_and_its_host_hears_of_it(self, desk, monkeypatch):
        told = []
        monkeypatch.setattr(
            "apps.sessions.actions.writer.announce_all",
            lambda messages: told.extend((one["event"], one["from"], one["to"]) for one in messages),
        )
        take_lease(by=desk.place.caller("other"), ref="s2", now_ms=NOW)
        first = Session.objects.get(ref="s2").next_seq
        assert desk.tick(desk.ask_turn("s2", "a2")).state == "executed"
        assert told == [("log.appended", first, first + 3)]

    def test_a_turn_that_began_after_the_asking_lets_it_fail(self, desk):
        outcome = desk.ask_turn("s2", "a2")
        desk.append("s2", turn_start(4))
        row = desk.tick(outcome)
        assert (row.state, row.code) == ("failed", "AGENT_BUSY")
        assert json.loads(row.outcome)["detail"] == {"why": "open_turn"}
        assert "ask of s2 2" in said()

    def test_a_compaction_that_swallowed_the_turn_makes_the_card_stale(self, desk):
        outcome = desk.ask_turn("s2", "a2")
        nodes = [event["seq"] for event in stored() if "surfaceOp" in event][:4]
        desk.append("s2", *a_compaction("k1", seq=18, shadowed=nodes))
        row = desk.tick(outcome)
        assert (row.state, row.code) == ("changed", "TURN_COMPACTED")

    def test_one_of_two_cards_for_one_turn_wins(self, desk):
        first = desk.ask_turn("s2", "a2")
        second = desk.ask_turn("s2", "a2", by=desk.place.caller("other"))
        assert desk.tick(first).state == "executed"
        assert desk.tick(second).state == "changed"
        assert removed_turns(Session.objects.get(ref="s2")) == [2]


class TestRefusalsBeforeAnybodyIsAsked:
    @pytest.fixture(autouse=True)
    def nobody(self):
        yield
        assert not Confirmation.objects.exists()

    def test_a_reply_that_is_not_there(self, desk):
        for session, message in (("s2", "a9"), ("s2", "u2"), ("ghost", "a2")):
            with pytest.raises(TargetNotFound):
                desk.ask_turn(session, message)

    def test_a_turn_that_is_still_written_comes_before_a_busy_agent(self, desk):
        desk.append("s2", turn_start(4), step_start(4, 1), user("u4", "go"), reply(4, 1, "a4", text("…")))
        with pytest.raises(TurnNotClosed):
            desk.ask_turn("s2", "a4")
        with pytest.raises(AgentBusy) as caught:
            desk.ask_turn("s2", "a2")
        assert caught.value.extra == {"why": "open_turn"}

    def test_an_open_compaction(self, desk):
        desk.append("s2", {"type": "compaction/start", "data": {"compactionId": "k", "turn": None}})
        with pytest.raises(AgentBusy) as caught:
            desk.ask_turn("s2", "a2")
        assert caught.value.extra == {"why": "open_compaction"}

    def test_a_turn_inside_a_summary(self, desk):
        nodes = [event["seq"] for event in stored() if "surfaceOp" in event][:4]
        desk.append("s2", *a_compaction("k1", seq=18, shadowed=nodes))
        with pytest.raises(TurnCompacted):
            desk.ask_turn("s2", "a2")


def test_a_turn_that_was_removed_before_says_where_also_while_another_is_open(desk):
    parts = outcome_from(desk.tick(desk.ask_turn("s2", "a2"))).parts
    desk.append("s2", turn_start(4))
    with pytest.raises(TurnRemoved) as caught:
        desk.ask_turn("session-s2", "a2")
    removed = caught.value.removed
    assert (removed.turn, removed.compaction_id, removed.replacement_seq) == (
        2,
        parts["compactionId"],
        parts["replacementSeq"],
    )


def test_an_event_that_the_store_refuses_leaves_nothing_of_the_removal(desk, monkeypatch):
    outcome, accept = desk.ask_turn("s2", "a2"), Validator.accept

    def refusing(self, event):
        if event["type"] == "compaction/end":
            raise LogRefused("test", seq=event["seq"])
        return accept(self, event)

    monkeypatch.setattr(Validator, "accept", refusing)
    row = desk.tick(outcome)
    assert (row.state, row.code) == ("failed", "DELETE_FAILED")
    assert json.loads(row.outcome)["detail"] == {"stage": "compaction/end", "turn": 2}
    assert SessionEvent.objects.filter(session__ref="s2").count() == 18
    assert "ask of s2 2" in said()
