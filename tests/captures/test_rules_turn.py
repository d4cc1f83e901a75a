from hypothesis import given, settings

from apps.captures.rules import project_turn, turn_source_id
from tests.captures.texts import in_blocks, plain, texts

SIDE = in_blocks(texts(1, 600, 24_970, 24_989, 24_990, 49_979, 49_980, 60_000))


def whole(user, assistant):
    """Write out the turn from its messages, without a limit."""
    return "[user]\n" + plain(user) + "\n\n[assistant]\n" + plain(assistant)


class TestTurn:
    @settings(max_examples=150, deadline=None)
    @given(SIDE, SIDE)
    def test_complete_says_that_nothing_was_dropped(self, user, assistant):
        found = project_turn(user=user, assistant=assistant)
        if not plain(user) and not plain(assistant):
            assert found is None
            return
        full = whole(user, assistant)
        assert len(found.text) <= 50_000
        assert full.startswith(found.text)
        assert (found.coverage.status == "complete") == (found.text == full)
        assert found.coverage.reasons == (() if found.text == full else ("character_limit",))
        assert found == project_turn(user=user, assistant=assistant)

    def test_marks_that_people_wrote_change_nothing(self):
        for times in (1, 2_629, 2_630):
            marked = project_turn(user="[truncated 9 bytes]" * times, assistant="a" * 19)
            other = project_turn(user="x" * 19 * times, assistant="a" * 19)
            assert marked.coverage == other.coverage
            assert len(marked.text) == len(other.text)

    def test_other_content_than_text_is_empty(self):
        assert project_turn(user=None, assistant={"text": "a"}) is None
        assert project_turn(user=[{"text": 1}, "a", {"text": "q"}], assistant=3).text == "[user]\nq\n\n[assistant]\n"

    def test_secrets_are_kept_as_they_are(self):
        assert "password: hunter2" in project_turn(user="password: hunter2", assistant="ok").text

    def test_turns_that_differ_after_the_cut_have_other_ids_and_the_same_text(self):
        sides = [("u" * 60_000, "one"), ("u" * 60_000, "two")]
        ids = {turn_source_id(session_id="s", user=user, assistant=assistant) for user, assistant in sides}
        found = {project_turn(user=user, assistant=assistant).text for user, assistant in sides}
        assert (len(ids), len(found)) == (2, 1)

    def test_the_id_does_not_depend_on_blanks_around_or_on_blocks(self):
        one = turn_source_id(session_id="s", user=" q\n", assistant="a")
        assert one == turn_source_id(session_id="s", user=[{"type": "text", "text": "q"}], assistant="a ")
