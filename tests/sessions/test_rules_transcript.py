import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sessions.rules.log_reader import LogReader
from apps.sessions.rules.transcript import Words, fenced, head, inline, safe_text, surface_text, transcript
from tests.conftest import VECTORS
from tests.sessions import logs

READER = LogReader((VECTORS / "sample_session.v4.jsonl.zstd").read_bytes())
SAMPLE = list(READER)
WORDS = Words()


def written(events, *, removed=(), reveal=False):
    return "".join(transcript(events, removed=frozenset(removed), reveal=reveal, words=WORDS))


class TestTranscript:
    def test_hides_a_removed_turn_and_says_so_in_its_place(self):
        text = written(SAMPLE, removed={2})
        assert "door code" not in text
        assert text.index("Booked: kiln") < text.index("Turn 2 was removed") < text.index("Three reminders")

    def test_shows_a_removed_turn_to_who_asks_for_it(self):
        text = written(SAMPLE, removed={2}, reveal=True)
        assert text.index("Turn 2 was removed") < text.index("What is the door code?") < text.index("It is 0000.")
        assert WORDS.left_out not in text

    def test_hides_only_what_lies_in_the_removed_turn(self):
        def rest(text):
            parts = re.split(r"(?=^## )", text, flags=re.MULTILINE)
            return [part for part in parts if not part.startswith("## Turn 2\n")]

        assert rest(written(SAMPLE, removed={2})) == rest(written(SAMPLE))

    def test_leaves_out_results_written_anew(self):
        rows = [
            logs.turn_start(1),
            logs.step_start(1, 1),
            logs.reply(1, 1, "a", logs.call_block("c")),
            logs.call(1, 1, "c"),
            logs.result(1, 1, "c", "the long result"),
        ]
        short = {**logs.result(1, 1, "c", "cut"), "surfaceOp": logs.replace(4, 4), "sourceEventSeqs": [4]}
        text = written(logs.numbered([*rows, short]))
        assert "the long result" in text
        assert "cut" not in text

    def test_says_how_a_turn_ended_that_was_not_completed(self):
        assert "ended otherwise: interrupted" in written(
            logs.numbered([logs.turn_start(1), logs.turn_end(1, "interrupted")])
        )

    def test_of_the_surface_has_its_messages_only(self):
        nodes = [2, 4, 5, 32, 23, 26, 27, 37, 38]
        text = "".join(surface_text((SAMPLE[seq] for seq in nodes), words=WORDS))
        assert [int(seq) for seq in re.findall(r"^### [^·\n]+ · (\d+)", text, flags=re.MULTILINE)] == nodes


class TestSafety:
    @pytest.mark.parametrize(
        "words",
        ["```\n# Turn 9", "````` x", "<script>alert(1)</script>", "![x](http://a.example/p.png)", "a\n\n## Turn 7\n"],
    )
    def test_nothing_in_a_text_leaves_its_block(self, words):
        opening, *inside, closing, _ = fenced(words).split("\n")
        fence = opening.removesuffix("text")
        assert (set(fence), closing) == ({"`"}, fence)
        assert not any(re.match(rf" {{0,3}}{fence}", line) for line in inside)

    @given(st.text())
    def test_a_block_ends_where_it_should(self, words):
        opening, *inside, closing, _ = fenced(words).split("\n")
        assert closing == opening.removesuffix("text")
        assert "\n".join(inside) == safe_text(words)
        assert not any(line.lstrip(" ").startswith(closing) for line in inside)

    def test_a_heading_cannot_be_forged(self):
        title = "x\n# y [a](javascript:b) <b> `c` https://a.example"
        first, second, *_ = head(name="s", title=title, workspace="w", view="v", words=WORDS).split("\n")
        assert first == "# " + inline(title)
        assert second == ""
        assert not re.search(r"(?<!\\)[<>\[\]()`:/!*_]", inline(title))

    def test_direction_marks_are_shown_and_indentation_stays(self):
        assert safe_text("a\u202eb\n    if x:\n\t\ty\r\n") == "a[U+202E]b\n    if x:\n\t\ty\n"
        assert safe_text("\x00 \ud800 [U+200B]") == "[U+0000] [U+D800] [U+005B]U+200B]"

    @pytest.mark.parametrize("block", [None, 7, {"type": "text"}, {"type": ["x"]}, {"type": "plugin:x", "y": "<b>"}])
    def test_odd_blocks_are_shown_as_they_are(self, block):
        assert "```text" in written(
            logs.numbered([{**logs.user("u", "x"), "data": {**logs.user("u", "x")["data"], "content": [block]}}])
        )

    @pytest.mark.parametrize("time", [-(2**53) + 1, 2**53 - 1, 253_402_300_800_000])
    def test_a_time_beyond_calendars_is_left_out(self, time):
        assert "UTC" not in written(logs.numbered([logs.user("u", "x")], time_ms=time))
