import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.captures.rules import (
    CaptureIncomplete,
    already_captured,
    compression_source_id,
    entries_of,
    fingerprints_of,
    plan_checkpoint,
    project_window,
    redact,
)
from tests.captures.texts import in_blocks, plain, texts

ROLES = st.sampled_from(["user", "assistant", " USER ", "Assistant", "system", "tool"])
CONTENT = in_blocks(texts(1, 9_990, 14_990, 29_991, 29_992, 29_993, 29_994, 40_000))
MESSAGES = st.lists(st.builds(lambda role, content: {"role": role, "content": content}, ROLES, CONTENT), max_size=6)
SYMBOLS = st.lists(st.sampled_from("abc"), max_size=9)


def lines_of(messages):
    """Write out each line from the messages, without a limit."""
    kept = [(message["role"].strip().lower(), plain(message["content"])) for message in messages]
    return [f"[{role}] {redact(text)}" for role, text in kept if role in {"user", "assistant"} and text]


def filled(lines):
    """Fill character by character, as a reader of the contract would by hand."""
    text, whole, cut, dropped = [], 0, 0, 0
    room = 30_000
    for line in lines:
        if room <= 0:
            dropped += 1
            continue
        text.append(line[:room])
        whole, cut = (whole + 1, cut) if len(line) <= room else (whole, cut + 1)
        room -= len(line[:room]) + 1
    return "\n".join(text).strip(), whole, cut, dropped


def new_by_hand(current, snapshot):
    """Follow the five steps of the contract."""
    if not snapshot:
        return current
    if not current or current == snapshot:
        return []
    starts = range(len(snapshot) - len(current) + 1)
    if any(snapshot[start : start + len(current)] == current for start in starts):
        return []
    for length in range(min(len(current), len(snapshot)), 0, -1):
        if snapshot[-length:] == current[:length]:
            return current[length:]
    return current


class TestWindow:
    @settings(max_examples=60, deadline=None)
    @given(MESSAGES)
    def test_complete_says_that_nothing_was_dropped(self, messages):
        found = project_window(entries_of(messages))
        lines = lines_of(messages)
        if not lines:
            assert found is None
            return
        full = "\n".join(lines)
        assert len(found.text) <= 30_000
        assert (found.coverage.status == "complete") == (found.text == full) == (len(full) <= 30_000)
        assert found.coverage.reasons == (() if found.text == full else ("character_limit",))
        assert (found.text, found.whole, found.cut, found.dropped) == filled(lines)
        assert found == project_window(entries_of(messages))

    @settings(max_examples=25, deadline=None)
    @given(MESSAGES)
    def test_required_captures_what_is_whole_or_raises(self, messages):
        optional = plan_checkpoint(messages, mode="optional", snapshot=())
        assert plan_checkpoint(messages, mode="off", snapshot=()) is None
        if optional is not None and optional.window.coverage.status == "partial":
            with pytest.raises(CaptureIncomplete) as caught:
                plan_checkpoint(messages, mode="required", snapshot=())
            assert caught.value.own_code == "capture_incomplete"
        else:
            assert plan_checkpoint(messages, mode="required", snapshot=()) == optional

    def test_marks_that_people_wrote_change_nothing(self):
        for times in (1, 1_578, 1_579):
            marked = project_window(entries_of([{"role": "user", "content": "[truncated 9 bytes]" * times}]))
            other = project_window(entries_of([{"role": "user", "content": "x" * 19 * times}]))
            assert marked.coverage == other.coverage

    def test_the_arithmetic_of_the_examples(self):
        def ends(first):
            messages = [{"role": "user", "content": "a" * (first - 7)}, {"role": "assistant", "content": "tail"}]
            text = project_window(entries_of(messages)).text
            return len(text), text[-1]

        assert [ends(29_999), ends(29_998), ends(30_000)] == [(29_999, "a"), (30_000, "["), (30_000, "a")]

    def test_a_cut_that_lands_on_blanks_makes_the_text_shorter(self):
        found = project_window(entries_of([{"role": "user", "content": "a" * 29_990 + " " * 20 + "b"}]))
        assert (len(found.text), found.coverage.status) == (29_997, "partial")

    def test_the_limit_is_measured_after_redaction(self):
        found = project_window(entries_of([{"role": "user", "content": "token=" + "x" * 40_000}]))
        assert (found.text, found.coverage.status) == ("[user] token=[REDACTED]", "complete")

    def test_what_is_no_message_is_left_out(self):
        assert entries_of([None, "user", {}, {"role": 1, "content": "a"}, {"role": "user", "content": 5}]) == ()


class TestFingerprints:
    def test_content_counts_as_it_came_and_a_name_too(self):
        base = {"role": "user", "content": "a"}
        others = [{**base, "content": "a "}, {**base, "content": [{"text": "a"}]}, {**base, "name": "n"}]
        others += [{**base, "role": "assistant"}, base]
        assert len(set(fingerprints_of(entries_of(others)))) == 5

    def test_the_spelling_of_the_role_and_other_members_do_not_count(self):
        same = [{"role": "user", "content": "a"}, {"role": " USER", "content": "a", "id": 7, "name": None}]
        assert len(set(fingerprints_of(entries_of(same)))) == 1

    def test_secrets_that_look_alike_when_redacted_stay_apart(self):
        two = [{"role": "user", "content": f"password: {secret}"} for secret in ("one", "two")]
        assert len(set(fingerprints_of(entries_of(two)))) == 2


class TestOverlap:
    @settings(max_examples=300, deadline=None)
    @given(SYMBOLS, SYMBOLS)
    def test_the_new_part_is_that_of_the_five_steps(self, current, snapshot):
        assert current[already_captured(current, snapshot=snapshot) :] == new_by_hand(current, snapshot)

    @settings(deadline=None)
    @given(SYMBOLS, SYMBOLS, SYMBOLS)
    def test_a_window_that_grew_at_its_end_gives_what_was_added_at_most(self, gone, shared, added):
        new = (shared + added)[already_captured(shared + added, snapshot=gone + shared) :]
        assert (shared + added)[len(shared + added) - len(new) :] == new
        assert len(new) <= len(added) or not shared

    def test_repeats_inside_a_window_are_kept(self):
        messages = [{"role": "user", "content": "again"}] * 3
        plan = plan_checkpoint(messages, mode="optional", snapshot=fingerprints_of(entries_of(messages[:1])))
        assert plan.window.text == "[user] again\n[user] again"
        assert (len(plan.new), len(plan.snapshot)) == (2, 3)

    def test_nothing_new_leaves_the_snapshot_to_the_caller(self):
        snapshot = fingerprints_of(entries_of([{"role": "user", "content": str(n)} for n in range(4)]))
        messages = [{"role": "user", "content": "1"}, {"role": "user", "content": "2"}]
        assert plan_checkpoint(messages, mode="required", snapshot=snapshot) is None


class TestIdentity:
    def test_the_id_tells_stream_anchor_and_entries_apart(self):
        ids = {
            compression_source_id(stream="s", snapshot=[], entries=["a"]),
            compression_source_id(stream="t", snapshot=[], entries=["a"]),
            compression_source_id(stream="s", snapshot=["x", "y"], entries=["a"]),
            compression_source_id(stream="s", snapshot=["y"], entries=["a", "b"]),
        }
        assert len(ids) == 4
        anchored = compression_source_id(stream="s", snapshot=["z", "y"], entries=["a"])
        assert anchored == compression_source_id(stream="s", snapshot=["x", "y"], entries=["a"])

    def test_the_id_is_that_of_the_recipe(self):
        import hashlib

        canonical = b'{"anchor":"y","entries":["a","b"],"stream":"s"}'
        wanted = f"hermes-compression:{hashlib.sha256(canonical).hexdigest()[:24]}"
        assert compression_source_id(stream="s", snapshot=["x", "y"], entries=["a", "b"]) == wanted
