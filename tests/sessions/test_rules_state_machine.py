"""Random legal lives of a log; after each step it must open, and two ways of reading it must agree.

The long form, 200 lives of 300 steps: `pytest tests/sessions/test_rules_state_machine.py --hypothesis-profile=long`.
"""

import copy
import json

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from apps.core.errors import SaysoError
from apps.sessions.rules.ground import Overlay
from apps.sessions.rules.log_reader import LogReader, write_log
from apps.sessions.rules.price import shadowed_price
from apps.sessions.rules.recognition import removals
from apps.sessions.rules.refusals import LogCorrupt, LogRefused
from apps.sessions.rules.removal import removal_events, removed_before
from apps.sessions.rules.removal_plan import plan_removal, target_by_reply
from apps.sessions.rules.repair import orphans_of, reopening_events
from apps.sessions.rules.state import State
from apps.sessions.rules.surface import fold_surface
from apps.sessions.rules.validator import Validator, load
from tests.sessions import logs, naive_fold

PICK = st.integers(0, 2**16)
SHORT = settings(max_examples=12, stateful_step_count=60, deadline=None)


def idle(machine):
    return machine.state.turn is None and machine.state.compaction is None


def in_turn(machine):
    return machine.state.turn is not None


def in_step(machine):
    return machine.state.step is not None


def compacting(machine):
    return machine.state.compaction is not None


class LogLife(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.events, self.batches = [], []
        self.state, self.ground = load([], header=logs.HEADER)
        self.count = self.checked = 0
        self.secrets = {}

    # How rows get in.

    def append(self, *rows, orphans=frozenset()):
        """Add rows in one batch on top of the log, all or none."""
        events = logs.numbered(copy.deepcopy(list(rows)), first=len(self.events))
        overlay = Overlay(below=self.ground)
        state = State.restored(json.loads(json.dumps(self.state.dump())))
        validator = Validator(state=state, ground=overlay, orphans=orphans)
        for event in events:
            validator.accept(event)
        for event, change in overlay.taken:
            self.ground.take(event=event, change=change)
        self.state = state
        self.events += events
        self.batches.append(events)

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def secret(self):
        """Give a word that only this turn holds; between turns it belongs to none."""
        word = self.fresh("secret") + "!"
        if self.state.turn is not None:
            self.secrets.setdefault(self.state.turn, []).append(word)
        return word

    # What hosts append.

    @initialize()
    def begin(self):
        self.append(
            logs.turn_start(1),
            logs.step_start(1, 1),
            logs.system(1, 1, "system", logs.text("be kind")),
            logs.step_end(1, 1),
            logs.turn_end(1),
        )

    @precondition(idle)
    @rule(steps=st.integers(1, 3), interrupted=st.booleans())
    def whole_turn(self, steps, interrupted):
        """A question and its answers, perhaps with a word of the system between two of them."""
        turn = self.state.next_turn
        self.append(logs.turn_start(turn))
        rows = [logs.user(self.fresh("u"), self.secret())]
        for step in range(1, steps + 1):
            call = self.fresh("c")
            rows += [
                logs.step_start(turn, step),
                logs.reply(turn, step, self.fresh("a"), logs.text(self.secret()), logs.call_block(call)),
                logs.call(turn, step, call),
                logs.result(turn, step, call, self.secret()),
            ]
            if interrupted and step == 2 and self.state.head_is_system:
                rows.append(logs.system(turn, step, self.fresh("s"), logs.text("be kinder")))
            rows.append(logs.step_end(turn, step))
        self.append(*rows, logs.turn_end(turn))

    @precondition(idle)
    @rule()
    def turn_begins(self):
        self.append(logs.turn_start(self.state.next_turn), logs.step_start(self.state.next_turn, 1))

    @precondition(lambda machine: in_turn(machine) and not in_step(machine))
    @rule()
    def step_begins(self):
        self.append(logs.step_start(self.state.turn, self.state.next_step))

    @precondition(lambda machine: in_step(machine) and not machine.state.calls)
    @rule(closes_turn=st.booleans())
    def step_ends(self, closes_turn):
        self.append(logs.step_end(self.state.turn, self.state.step))
        if closes_turn and not compacting(self):
            self.append(logs.turn_end(self.state.turn))

    @precondition(in_step)
    @rule(calls=st.integers(0, 2), silent=st.booleans())
    def model_replies(self, calls, silent):
        blocks = [logs.call_block(self.fresh("c"), arguments=self.secret()) for _ in range(calls)]
        spoken = [] if silent else [logs.text(self.secret())]
        self.append(logs.reply(self.state.turn, self.state.step, self.fresh("a"), *spoken, *blocks))

    @precondition(lambda machine: machine.state.calls)
    @rule()
    def call_is_answered(self):
        (call, parts), *_ = self.state.calls.items()
        block = next(
            block for block in self.events[parts.advertised]["data"]["message"]["content"] if block.get("id") == call
        )
        turn, step = self.state.turn, self.state.step
        self.append(
            logs.call(turn, step, call, arguments=block["arguments"]), logs.result(turn, step, call, self.secret())
        )

    @rule(cited=PICK, cites=st.booleans())
    def message_comes(self, cited, cites):
        more = {"sourceEventSeqs": [cited % len(self.events)]} if cites and self.events and cited % 4 == 0 else {}
        self.append(logs.user(self.fresh("u"), self.secret(), **more))

    @precondition(in_step)
    @rule()
    def developer_speaks(self):
        self.append(logs.developer(self.state.turn, self.state.step, self.fresh("d"), logs.text(self.secret())))

    @precondition(lambda machine: in_step(machine) and machine.state.head_is_system)
    @rule(anew=st.booleans())
    def system_speaks(self, anew):
        head = self.state.head
        more = {"surfaceOp": logs.replace(head, head), "sourceEventSeqs": [head]} if anew else {}
        self.append(logs.system(self.state.turn, self.state.step, self.fresh("s"), logs.text("be kinder"), **more))

    @precondition(in_turn)
    @rule(pick=PICK)
    def result_is_pruned(self, pick):
        results = [seq for seq in self.ground.nodes() if self.events[seq]["type"] == "tool/result"]
        if not results:
            return
        seq = results[pick % len(results)]
        shorter = copy.deepcopy(self.events[seq]["data"])
        shorter["message"]["content"][0]["text"] += "…"
        price = {"shadowedRange": {"start": seq, "end": seq}, "shadowedSeqs": [seq], "shadowedTokenCount": 1}
        again = {"type": "tool/result", "data": shorter, "surfaceOp": logs.replace(seq, seq), "sourceEventSeqs": [seq]}
        self.append({"type": "compaction/prune", "data": price}, again)

    @rule(kind=st.sampled_from(["todo/write", "plan/mode", "someone/else", "command", "child", "title"]), pick=PICK)
    def log_only_event_comes(self, kind, pick):
        if kind == "command":
            command = {"commandId": self.fresh("k")}
            self.append({"type": "command/run", "data": command}, {"type": "command/done", "data": command})
        elif kind == "child":
            self.append({"type": "subagent/catalog", "data": {"childId": self.fresh("child")}})
        elif kind == "title":
            self.append({"type": "session/title", "data": {"messageSeqs": [], "source": {"kind": "user"}}})
        elif kind == "someone/else":
            marks = {"surfaceOp": "append", "sourceEventSeqs": [pick]}
            self.append({"type": kind, "data": {"pick": pick}, "ignorable": True, **marks})
        else:
            self.append({"type": kind, "data": {"pick": pick}})

    # Compactions and removals.

    def run_of_nodes(self, pick, length):
        nodes = self.ground.nodes()
        start = pick % max(len(nodes), 1)
        return nodes[max(start, 1 if self.state.head_is_system else 0) :][: 1 + length]

    @precondition(lambda machine: not compacting(machine))
    @rule(pick=PICK, length=st.integers(0, 5), ends=st.sampled_from(["whole", "failed", "left open"]))
    def host_compacts(self, pick, length, ends):
        run = self.run_of_nodes(pick, length)
        if not run:
            return
        name = self.fresh("compaction")
        # Signed like a person's removal, but inside a turn or without success: that is none.
        signed = ends != "whole" or in_turn(self)
        producer = ("sayso", "turn-delete") if signed and pick % 2 else ("acme", "sum-1")
        rows = logs.a_compaction(name, seq=len(self.events), shadowed=run, turn=self.state.turn, producer=producer)
        if ends == "failed":
            failed = {"compactionId": name, "turn": self.state.turn, "error": "no"}
            rows = [*rows[: 1 + pick % 3], {"type": "compaction/end", "data": failed}]
        self.append(*(rows[: 1 + pick % 3] if ends == "left open" else rows))

    @precondition(compacting)
    @rule()
    def compaction_fails(self):
        found = self.state.compaction
        failed = {"compactionId": found.id, "turn": found.turn, "error": "no"}
        self.append({"type": "compaction/end", "data": failed})

    @precondition(lambda machine: machine.replies())
    @rule(pick=PICK)
    def person_removes_a_turn(self, pick):
        names = self.replies()
        for name in sorted(names, key=lambda name: (names.index(name) + pick) % len(names))[:4]:
            target = target_by_reply(message_id=name, ground=self.ground)
            if removed_before(turn=target.turn, ground=self.ground):
                assert target.turn in naive_fold.removed_turns(self.events)
                continue
            plan = self.planned(target)
            assert plan == naive_fold.plan(self.events, name)
            if len(plan) == 3:
                before = self.ground.nodes()
                self.remove(target)
                self.is_removed(plan, before=before)
                return

    def replies(self):
        return [one["data"]["message"]["id"] for one in self.events if one["type"] == "assistant/message"]

    def plan_for(self, target):
        return plan_removal(
            target=target, ground=self.ground, open_turn=in_turn(self), open_compaction=compacting(self)
        )

    def planned(self, target):
        try:
            plan = self.plan_for(target)
        except SaysoError as error:
            return error.own_code, error.extra.get("why")
        return plan.start_seq, plan.end_seq, list(plan.source_seqs)

    def remove(self, target):
        plan = self.plan_for(target)
        rows = removal_events(
            plan=plan,
            price=shadowed_price(self.events[seq] for seq in plan.source_seqs),
            compaction_id=self.fresh("removal"),
            message_id=self.fresh("notice"),
            next_seq=len(self.events),
            time_ms=0,
        )
        self.append(*rows)

    def is_removed(self, plan, *, before):
        """The run is one node now, and the neighbours stand where they stood."""
        first, _, sources = plan
        at = before.index(first)
        assert self.ground.nodes() == [*before[:at], len(self.events) - 2, *before[at + len(sources) :]]

    # Restarts and refusals.

    @rule(clean=st.booleans())
    def host_restarts(self, clean):
        self.read_again(cut=0, clean=clean)

    @rule(cut=st.integers(1, 200))
    def host_crashes(self, cut):
        self.read_again(cut=cut, clean=True)

    def read_again(self, *, cut, clean):
        """Read the log from its bytes, perhaps with its tail torn off, and close what is open."""
        data = write_log(header=logs.HEADER, batches=self.batches)
        try:
            reader = LogReader(data[: len(data) - cut] if cut else data)
            events = list(reader)
        except LogCorrupt:
            # Only a tear through the header is no tail.
            assert cut > len(data) - len(write_log(header=logs.HEADER, batches=[]))
            return
        assert events == self.events[: len(events)]
        if not cut:
            assert (events, reader.torn) == (self.events, None)
        self.shorten(events)
        self.state, self.ground = load(self.events, header=logs.HEADER)
        if in_turn(self) or compacting(self) or clean:
            self.append(*reopening_events(state=self.state), orphans=orphans_of(self.state))
            assert idle(self)
            assert reopening_events(state=self.state) == []

    def shorten(self, events):
        self.events, self.batches = list(events), [list(events)]
        kept = json.dumps(events)
        for words in self.secrets.values():
            words[:] = [word for word in words if word in kept]

    @precondition(lambda machine: len(machine.events) > 3)
    @rule(pick=PICK, start=PICK, end=PICK)
    def wild_event_comes(self, pick, start, end):
        """An earlier event again, in other words and bent a little: whatever the answer is, the log stays whole."""
        event = json.loads(json.dumps(self.events[pick % len(self.events)]).replace("secret", "copied"))
        wild = {name: value for name, value in event.items() if name not in {"seq", "time"}}
        if "surfaceOp" in wild and pick % 3:
            bounds = [bound % len(self.events) for bound in (start, end)]
            wild["surfaceOp"] = logs.replace(*bounds)
            wild["sourceEventSeqs"] = sorted({*bounds, *range(min(bounds), max(bounds))})
        before = (self.state.dump(), self.ground.nodes(), len(self.ground))
        try:
            self.append(wild)
        except LogRefused:
            assert (self.state.dump(), self.ground.nodes(), len(self.ground)) == before

    # What must always hold.

    @invariant()
    def both_readings_agree(self):
        nodes = naive_fold.nodes_of(self.events)
        assert self.ground.nodes() == nodes
        assert len(nodes) == self.state.nodes
        assert (in_turn(self), compacting(self)) == naive_fold.open_things(self.events)
        first = next((event for event in self.events if event["type"] in naive_fold.SURFACE), None)
        if first is not None and first["type"] == "system/message":
            assert self.events[nodes[0]]["type"] == "system/message"

    @invariant()
    def removed_text_is_gone(self):
        removed = naive_fold.removed_turns(self.events)
        seen = naive_fold.seen_by_the_model(self.events)
        assert [word for turn in removed for word in self.secrets.get(turn, ()) if word in seen] == []
        assert [int(mark.key) for mark in self.ground.marks(kind="removed")] == removed

    @invariant()
    def log_opens(self):
        """From scratch, now and then: it costs what the whole log costs."""
        self.checked += 1
        if self.checked % 5 == 0:
            self.opens()

    def teardown(self):
        self.opens()

    def opens(self):
        state, ground = load(self.events, header=logs.HEADER)
        assert state == self.state
        assert ground.nodes() == self.ground.nodes() == fold_surface(self.events)
        removed = [(one.turn, one.seq) for one in removals(self.events, ground=ground)]
        assert removed == [(int(mark.key), mark.seq) for mark in self.ground.marks(kind="removed")]


TestLogLife = LogLife.TestCase
if settings.get_current_profile_name() == "long":
    TestLogLife = pytest.mark.timeout(3600)(TestLogLife)
else:
    TestLogLife.settings = SHORT
