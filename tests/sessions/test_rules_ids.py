import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sessions.rules.family import Stored, copies_of, descendants_of, spelled, unreadable_in
from apps.sessions.rules.ids import (
    NotASegment,
    bare,
    check_target_message,
    check_target_session,
    fields_of,
    segment,
    segment_name,
    slug,
    spellings,
)
from apps.sessions.rules.log_names import LogName, log_name, parse_log_name, pick_log
from apps.sessions.rules.refusals import InvalidRequest


class TestSpellings:
    def test_each_spelling_leads_to_both(self):
        assert spellings(" 7 ") == ["7", "session-7"]
        assert spellings("session-7") == ["session-7", "7"]
        assert spellings("session-session-7") == ["session-session-7", "session-7"]
        assert spellings(" ") == []

    def test_the_bare_prefix_is_an_id_like_any_other(self):
        assert spellings("session-") == ["session-", "session-session-"]
        assert bare("session-") == "session-"

    @given(st.text(max_size=12))
    def test_both_spellings_are_bare_alike(self, name):
        assert len({bare(spelling) for spelling in spellings(name)}) <= 1 or name.strip() == "session-"

    def test_a_list_is_matched_whole_never_by_a_part(self):
        assert spelled("7", among=["session-77", "17"]) is None
        assert spelled("7", among=["session-7"]) == "session-7"


class TestRequests:
    @pytest.mark.parametrize("value", [None, 7, "", "  ", "a/b", "a..b", "会话", "a\nb", "x" * 201, ["a"]])
    def test_a_session_id_is_refused(self, value):
        with pytest.raises(InvalidRequest):
            check_target_session(value)

    def test_ids_are_trimmed(self):
        assert check_target_session(" team:7 ") == "team:7"
        assert check_target_message(" a..b@c ") == "a..b@c"

    @pytest.mark.parametrize("value", [None, "", "a/b", "../../etc", "x" * 201])
    def test_a_message_id_is_refused(self, value):
        with pytest.raises(InvalidRequest):
            check_target_message(value)

    @pytest.mark.parametrize("body", [b"", b" \n", b"null", b'"abc"', b"[1]", b"7"])
    def test_a_body_without_fields_has_none(self, body):
        assert fields_of(body) == {}

    @pytest.mark.parametrize("body", [b"{broken", b"\xff", b"[" * 60_000, b" " * 65_537])
    def test_a_body_is_refused(self, body):
        with pytest.raises(InvalidRequest):
            fields_of(body)

    def test_a_body_may_have_65536_bytes(self):
        assert fields_of(b'{"a":1}'.ljust(65_536)) == {"a": 1}


class TestFolders:
    @given(st.text(min_size=1, max_size=40))
    def test_a_session_folder_gives_its_id_back(self, name):
        assert segment_name(segment(name)) == name

    @pytest.mark.parametrize("folder", ["", ".", "..", "a b", "~0041", "a~", "~002e"])
    def test_a_folder_that_stands_for_no_id(self, folder):
        with pytest.raises(NotASegment):
            segment_name(folder)

    def test_a_project_folder_is_bounded(self):
        assert len(slug("/" + "平" * 400)) == 255
        assert slug("") == slug(None) == "_no-cwd"

    def test_names_of_logs(self):
        assert parse_log_name(log_name(version=0, compressed=False)) == LogName(0, False)
        assert parse_log_name("session.v0.jsonl") is parse_log_name("session.v4.jsonl.zst") is None
        assert pick_log(["session.v4.jsonl", "session.v4.jsonl.zstd", "session.jsonl"]) == "session.v4.jsonl.zstd"
        assert pick_log(["notes.txt"]) is None


def stored(name, parent=None, origin="subagent"):
    return Stored(slug="s", name=name, header={"parentSession": parent, "origin": origin} if parent else {})


class TestFamily:
    def test_subagents_come_breadth_first_under_the_names_on_disk(self):
        copies = [stored("session-c", "p"), stored("g", "c"), stored("d", "session-p"), stored("x", "q")]
        assert descendants_of("session-p", stored=copies) == ["session-c", "d", "g"]

    def test_a_fork_is_no_descendant_and_neither_are_its_subagents(self):
        copies = [stored("f", "p", origin="fork"), stored("c", "f")]
        assert descendants_of("p", stored=copies) == []

    def test_a_circle_ends(self):
        assert descendants_of("a", stored=[stored("a", "b"), stored("b", "a"), stored("s", "s")]) == ["b"]

    def test_an_unreadable_copy_hides_no_child_of_the_other_spelling(self):
        copies = [Stored(slug="s", name="c", header=None), stored("session-c", "p")]
        assert descendants_of("p", stored=copies) == ["session-c"]
        assert unreadable_in(copies) == 1

    def test_copies_are_found_under_both_spellings(self):
        copies = [stored("session-p"), Stored(slug="a", name="p", header=None), stored("pp")]
        assert [copy.path for copy in copies_of("p", stored=copies)] == ["a/p", "s/session-p"]
