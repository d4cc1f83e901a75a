"""The commands of the sessions room: what they print, ask and answer."""

import io
import json
import sys

import pytest
from django.core.management import CommandError, call_command

from apps.sessions.models import DeletedSession, Session, SessionEvent, SurfaceNode
from apps.sessions.queries.log import surface_nodes
from apps.sessions.rules.ids import id_hash
from tests import factories
from tests.conftest import VECTORS
from tests.sessions import disk, logs
from tests.sessions.test_rules_tombstones import a_log

SAMPLE = VECTORS / "sample_session.v4.jsonl.zstd"
SAMPLE_ID = "session-3f1c0a52-7d0e-4b7c-9c55-20b9f0a1d6e4"
NO_END = {"type": "turn/end", "seq": 7, "time": 0, "data": {}}
TURNS = logs.numbered([*logs.a_turn(1), *logs.a_turn(2)])

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def profile():
    found = factories.profile()
    factories.person("alice", default="owner")
    return found


def run(*words):
    out = io.StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def report(*words):
    return json.loads(run(*words, "--json"))


@pytest.fixture
def terminal(monkeypatch):
    """A person at the terminal who types the given words, one after the other."""
    asked = []

    def sit(*answers):
        waiting = list(answers)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or waiting.pop(0))
        return asked

    return sit


class TestImport:
    def test_prints_a_line_for_each_session_and_the_sums(self, tmp_path):
        disk.put(tmp_path, "s-1", TURNS)
        disk.put(tmp_path, "s-2", a_log())
        (tmp_path / "linked").symlink_to(tmp_path / "--srv-a--")
        assert run("import_sessions", tmp_path).splitlines() == [
            "imported --srv-a--/s-1: 12 events, 12 new, 2 turns",
            "refused --srv-a--/s-2: step.not_open: Event 13 breaks the rule step.not_open.",
            "skipped linked: symlink",
            "1 imported, 0 appended, 0 unchanged, 0 deleted_here, 1 refused",
        ]

    def test_prints_the_report_as_json(self):
        (entry,) = report("import_sessions", SAMPLE)["sessions"]
        assert (entry["outcome"], entry["name"], entry["removed_turns"]) == ("imported", SAMPLE_ID, [2])

    def test_says_that_a_dry_run_kept_nothing(self):
        assert "nothing was kept" in run("import_sessions", SAMPLE, "--dry-run")
        assert not Session.objects.exists()

    def test_nothing_from_the_disk_moves_the_cursor(self, tmp_path):
        disk.put(tmp_path, "s-1", TURNS, project="\x1b[2Jx\u202e", folder="\x07")
        out = run("import_sessions", tmp_path)
        assert not {"\x1b", "\x07", "\u202e"} & set(out)

    @pytest.mark.parametrize("words", [("--profile", "nobody"), ("nowhere",)])
    def test_says_what_is_missing(self, words, tmp_path):
        path = tmp_path / "nowhere" if "nowhere" in words else tmp_path
        with pytest.raises(CommandError) as caught:
            run("import_sessions", path, *[word for word in words if word != "nowhere"])
        assert caught.value.returncode == 2


class TestRestore:
    @pytest.fixture(autouse=True)
    def deleted(self, profile):
        DeletedSession.objects.create(
            profile=profile, id_hash=id_hash(profile_id=profile.pk, ref=SAMPLE_ID), confirmation_id="c"
        )

    def test_asks_the_person_to_type_the_id(self, terminal):
        asked = terminal(SAMPLE_ID)
        assert run("import_sessions", SAMPLE, "--restore", SAMPLE_ID).startswith("imported")
        assert len(asked) == 1
        assert SAMPLE_ID in asked[0]

    def test_does_nothing_for_another_answer(self, terminal):
        terminal("yes")
        with pytest.raises(CommandError, match="nothing was done"):
            run("import_sessions", SAMPLE, "--restore", SAMPLE_ID)
        assert DeletedSession.objects.exists()

    def test_does_nothing_without_a_person(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.StringIO(SAMPLE_ID))
        with pytest.raises(CommandError, match="Only a person"):
            run("import_sessions", SAMPLE, "--restore", SAMPLE_ID)
        assert run("import_sessions", SAMPLE).startswith("deleted_here")

    def test_a_repair_is_asked_for_in_the_same_way(self, terminal, tmp_path):
        disk.put(tmp_path, "s-1", a_log())
        asked = terminal("s-1")
        assert run("import_sessions", tmp_path, "--repair", "s-1").startswith("imported")
        assert len(asked) == 1


class TestInspect:
    def test_tells_the_same_of_a_file_and_of_what_was_stored_from_it(self):
        run("import_sessions", SAMPLE)
        file, stored = report("inspect_session", SAMPLE), report("inspect_session", SAMPLE_ID)
        assert file.pop("sha256")
        assert file == stored
        assert report("inspect_session", SAMPLE_ID.removeprefix("session-")) == stored

    def test_prints_what_is_visible_what_is_stored_and_what_was_only_hidden(self):
        out = run("inspect_session", SAMPLE)
        for line in (
            "2           4 (62 tokens)       0 (0 tokens)        removed",
            "Turn 2 was removed by countersign at 32: [10, 11, 13, 16]",
            "What was hidden is not erased: it is still stored in the log.",
            "  10 user/message (removal at 32): What is the door code? I keep forgetting it.",
        ):
            assert line in out.splitlines()

    def test_reads_a_damaged_file_as_far_as_it_goes(self, tmp_path):
        data = bytearray(SAMPLE.read_bytes())
        data[-3] ^= 1
        path = tmp_path / "log"
        path.write_bytes(data)
        found = report("inspect_session", path)
        assert found["damage"].startswith("log_corrupt")
        assert 0 < found["events"] < 41

    def test_names_the_rule_by_which_a_log_would_not_open(self, tmp_path):
        out = run("inspect_session", disk.put(tmp_path, "s-1", a_log()))
        assert "Would not open: step.not_open" in out
        assert "Turn 1 was removed by the first plugin at 13" in out

    @pytest.mark.parametrize("target", ["nowhere", ""])
    def test_says_that_there_is_no_such_session(self, target):
        with pytest.raises(CommandError) as caught:
            run("inspect_session", target)
        assert caught.value.returncode == 2


class TestCheck:
    def test_is_well_with_what_an_import_stored(self):
        run("import_sessions", SAMPLE)
        assert run("check_sessions", "--simulate-removals").splitlines() == [
            "1 sessions, 41 events, 0 faulty",
            "3 turns could be removed, 1 were before",
        ]

    @pytest.mark.parametrize(
        ("spoil", "word"),
        [
            (lambda: SurfaceNode.objects.filter(seq=4).delete(), "the surface"),
            (lambda: Session.objects.update(next_seq=40), "the state"),
            (lambda: Session.objects.update(state="{}"), "the state"),
            (lambda: SessionEvent.objects.filter(seq=7).update(body=json.dumps(NO_END)), "turn.bad_end"),
        ],
    )
    def test_exits_with_1_when_something_is_not_as_the_log_says(self, spoil, word):
        run("import_sessions", SAMPLE)
        spoil()
        out = io.StringIO()
        with pytest.raises(SystemExit) as caught:
            call_command("check_sessions", stdout=out)
        assert caught.value.code == 1
        assert word in out.getvalue()

    def test_exits_with_2_when_it_cannot_run(self):
        with pytest.raises(CommandError) as caught:
            run("check_sessions", "--profile", "nobody")
        assert caught.value.returncode == 2


class TestExport:
    def test_prints_what_can_be_imported_again(self, tmp_path):
        run("import_sessions", SAMPLE)
        before = surface_nodes(Session.objects.get())
        path = tmp_path / "session.v4.jsonl"
        path.write_text(run("export_session", SAMPLE_ID))
        factories.profile("other")
        factories.person("bob", other="owner")
        assert report("import_sessions", path, "--profile", "other")["imported"] == 1
        assert surface_nodes(Session.objects.get(profile__name="other")) == before

    def test_writes_into_a_new_file_only(self, tmp_path):
        run("import_sessions", SAMPLE)
        path = tmp_path / "kept.md"
        run("export_session", SAMPLE_ID, "--format", "markdown", "--output", path)
        assert path.read_text().startswith("# Kiln diary")
        with pytest.raises(CommandError, match="cannot be written"):
            run("export_session", SAMPLE_ID, "--output", path)

    def test_json_lines_have_no_view(self):
        with pytest.raises(CommandError):
            run("export_session", SAMPLE_ID, "--view", "surface")
