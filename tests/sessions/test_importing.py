"""Importing homes: what comes in, what stays out, and that nothing is written there."""

import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.accounts.models import Profile, User, Workspace
from apps.core.values import now_ms
from apps.ledger.models import LedgerEntry
from apps.sessions.actions.import_home import Wishes, import_home
from apps.sessions.actions.restoring import forget_deletion
from apps.sessions.models import (
    Citation,
    DeletedSession,
    ImportedFile,
    Lease,
    Session,
    SessionEvent,
    SessionMark,
    SurfaceNode,
    WorkspaceEntry,
)
from apps.sessions.queries.checking import check_stored
from apps.sessions.queries.homes import NoHome
from apps.sessions.queries.log import all_events, surface_nodes
from apps.sessions.rules.ids import id_hash
from apps.sessions.rules.log_frames import frames_of
from apps.sessions.rules.log_reader import LogReader, write_log
from apps.sessions.rules.recognition import removals
from apps.sessions.rules.removal_plan import plan_removal, target_by_turn
from apps.sessions.rules.restoring import OnlyAPerson
from apps.sessions.rules.validator import load
from tests import factories
from tests.conftest import VECTORS
from tests.sessions import disk, logs
from tests.sessions.test_rules_tombstones import a_log

SAMPLE = VECTORS / "sample_session.v4.jsonl.zstd"
SAMPLE_ID = "session-3f1c0a52-7d0e-4b7c-9c55-20b9f0a1d6e4"
TURNS = logs.numbered([*logs.a_turn(1), *logs.a_turn(2)])
THREE = logs.numbered([*logs.a_turn(1), *logs.a_turn(2), *logs.a_turn(3)])

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    profile = factories.profile()
    return factories.human(factories.person("alice", default="owner"), of=profile)


@pytest.fixture
def take(alice, tmp_path):
    """Import a path (the test's own root unless another is given) and return the report."""

    def run(path=None, *, by=None, **wishes):
        kept = {name: frozenset(value) if isinstance(value, list) else value for name, value in wishes.items()}
        return import_home(by=by or alice, path=path or tmp_path, wishes=Wishes(**kept), clock=now_ms)

    return run


def told(report):
    return [(entry.name or entry.folder, entry.outcome, entry.code) for entry in report.entries]


def stored():
    models = (Session, SessionEvent, SurfaceNode, SessionMark, Citation, ImportedFile, WorkspaceEntry, Workspace)
    return [sorted(map(str, model.objects.values_list())) for model in models]


class TestSample:
    def test_imports_with_the_values_that_its_makers_state(self, take):
        (entry,) = take(SAMPLE).entries
        session = Session.objects.get(ref=SAMPLE_ID)
        events = list(all_events(session))
        _, ground = load(events, header=LogReader(SAMPLE.read_bytes()).header)
        (removal,) = removals(events, ground=ground)
        assert (entry.outcome, entry.events, entry.turns, entry.removed_turns) == ("imported", 41, 4, [2])
        assert events == list(LogReader(SAMPLE.read_bytes()))
        assert surface_nodes(session) == [2, 4, 5, 32, 23, 26, 27, 37, 38]
        assert (removal.turn, removal.shadowed) == (2, (10, 11, 13, 16))
        assert events[31]["data"]["shadowedTokenCount"] == 215
        assert session.title == "Kiln diary"
        assert session.workspace.slug == "--srv-agents-front~0020desk--"

    def test_keeps_the_hash_of_the_original(self, take):
        (entry,) = take(SAMPLE).entries
        file = ImportedFile.objects.get()
        assert file.sha256 == entry.sha256 == "d9902aa25dd4422271e05bc9683a88d540ec2c56888f54e26a7149b782e7645f"
        assert (file.name, file.generation, file.size_bytes) == (disk.V4, 4, 2915)

    def test_what_is_kept_beside_the_log_is_what_the_log_says(self, take):
        take(SAMPLE)
        report = check_stored(simulate=True)
        assert (report["faults"], report["removals"]["removable"], report["removals"]["removed_before"]) == ([], 3, 1)


class TestReadOnly:
    def test_nothing_changes_in_the_home_even_where_it_could_not_be_written(self, take, tmp_path):
        disk.put(tmp_path, "s-1", TURNS)
        disk.put(tmp_path, "s-2", data=SAMPLE.read_bytes()[:-5])
        disk.put(tmp_path, "s-3", TURNS, file="session.v3.jsonl")
        for path in [tmp_path, *tmp_path.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        before = disk.snapshot(tmp_path)
        take()
        take(dry_run=True)
        assert disk.snapshot(tmp_path) == before


class TestHomes:
    def test_each_session_keeps_its_project_and_its_spelling(self, take, tmp_path):
        disk.put(tmp_path, "s-1", TURNS)
        disk.put(tmp_path, "session-s-1", TURNS)
        disk.put(tmp_path, "s-1", TURNS, project="a foreign name")
        disk.put(tmp_path, "a:b", TURNS, file="session.v4.jsonl")
        assert {outcome for _, outcome, _ in told(take())} == {"imported"}
        assert sorted(Session.objects.values_list("workspace__slug", "ref")) == [
            ("--srv-a--", "a:b"),
            ("--srv-a--", "s-1"),
            ("--srv-a--", "session-s-1"),
            ("a foreign name", "s-1"),
        ]

    def test_a_folder_may_be_the_other_spelling_of_the_logs_id(self, take, tmp_path):
        disk.put(tmp_path, "session-s-1", TURNS, head=disk.header("s-1"))
        assert told(take()) == [("session-s-1", "imported", "")]

    def test_each_is_listed_once_in_its_workspace_under_its_first_spelling(self, take, tmp_path):
        disk.put(tmp_path, "s-1", TURNS)
        disk.put(tmp_path, "session-s-1", TURNS)
        take()
        assert list(WorkspaceEntry.objects.values_list("workspace__slug", "spelling")) == [("--srv-a--", "s-1")]

    def test_what_a_person_took_off_the_list_stays_off(self, take, tmp_path):
        disk.put(tmp_path, "s-1", TURNS)
        take()
        WorkspaceEntry.objects.all().delete()
        disk.put(tmp_path, "s-1", THREE)
        assert told(take()) == [("s-1", "appended", "")]
        assert not WorkspaceEntry.objects.exists()

    def test_a_subagent_and_a_fork_are_stored_as_what_they_are(self, take, tmp_path):
        child = disk.header("s-2", parentSession="session-s-1", origin="subagent")
        fork = disk.header("s-3", parentSession="s-1") | {"isSeeded": True}
        marker = {"type": "session/end-seed", "data": {"inherited": True}}
        disk.put(tmp_path, "s-2", TURNS, head=child)
        disk.put(tmp_path, "s-3", logs.numbered([*logs.a_turn(1), marker]), head=fork)
        take()
        assert list(Session.objects.order_by("ref").values_list("origin", "parent")) == [
            ("subagent", "s-1"),
            ("", "s-1"),
        ]

    def test_the_newest_format_is_the_truth(self, take, tmp_path):
        disk.put(tmp_path, "s-1", data=b"older", file="session.jsonl.zstd")
        disk.put(tmp_path, "s-1", TURNS)
        (entry,) = take().entries
        assert (entry.outcome, entry.older_files) == ("imported", ["session.jsonl.zstd"])
        disk.put(tmp_path, "s-2", TURNS)
        disk.put(tmp_path, "s-2", data=b"newer", file="session.v5.jsonl.zstd")
        assert told(take())[1] == ("s-2", "refused", "header.version")

    @pytest.mark.parametrize("version", [0, 1, 2, 3])
    @pytest.mark.parametrize("suffix", ["", ".zstd"])
    def test_an_older_format_is_refused_by_its_name(self, take, tmp_path, version, suffix):
        name = f"session{f'.v{version}' if version else ''}.jsonl{suffix}"
        disk.put(tmp_path, "s-1", data=b"whatever it holds", file=name)
        (entry,) = take().entries
        assert (entry.outcome, entry.code, entry.version) == ("refused", "header.version", version)
        assert f"format {version}; open it once with the newer harness" in entry.sentence

    def test_there_must_be_something_at_the_path(self, take, tmp_path):
        with pytest.raises(NoHome):
            take(tmp_path / "nowhere")

    def test_a_home_is_taken_by_its_folder_of_sessions(self, take, tmp_path):
        disk.put(tmp_path / "sessions", "s-1", TURNS)
        disk.put(tmp_path / "elsewhere", "s-2", TURNS)
        assert told(take()) == [("s-1", "imported", "")]


class TestAgain:
    def test_a_second_time_nothing_is_lost_or_doubled(self, take, tmp_path):
        disk.put(tmp_path, "s-1", TURNS)
        disk.put(tmp_path, "session-s-1", TURNS, file="session.v4.jsonl")
        take()
        before = stored()
        assert told(take()) == [("s-1", "unchanged", ""), ("session-s-1", "unchanged", "")]
        assert stored() == before

    def test_what_was_added_to_a_log_is_added_here(self, take, tmp_path):
        disk.put(tmp_path, "s-1", TURNS)
        take()
        disk.put(tmp_path, "s-1", THREE)
        (entry,) = take().entries
        assert (entry.outcome, entry.events, entry.added, entry.turns) == ("appended", 18, 6, 3)
        assert list(all_events(Session.objects.get())) == THREE
        assert check_stored()["faults"] == []
        assert told(take()) == [("s-1", "unchanged", "")]

    def test_a_boundary_that_comes_later_counts_for_what_came_before(self, take, tmp_path):
        start = {"type": "compaction/start", "data": {"compactionId": "c", "turn": None}}
        rows = logs.numbered([*logs.a_turn(1), start, *logs.a_turn(2), {"type": "session/end-seed", "data": {}}])
        disk.put(tmp_path, "s-1", rows[:7])
        take()
        disk.put(tmp_path, "s-1", rows)
        assert told(take()) == [("s-1", "appended", "")]
        assert check_stored()["faults"] == []

    def test_the_same_log_in_another_form_changes_nothing(self, take, tmp_path):
        path = disk.put(tmp_path, "s-1", TURNS)
        take()
        path.unlink()
        disk.put(tmp_path, "s-1", TURNS, file="session.v4.jsonl")
        before = stored()[:5]
        assert told(take()) == [("s-1", "unchanged", "")]
        assert stored()[:5] == before
        assert ImportedFile.objects.count() == 2

    def test_an_older_copy_of_a_log_takes_nothing_away(self, take, tmp_path):
        disk.put(tmp_path, "s-1", THREE)
        take()
        disk.put(tmp_path, "s-1", TURNS)
        assert told(take()) == [("s-1", "unchanged", "")]
        assert list(all_events(Session.objects.get())) == THREE

    @pytest.mark.parametrize(
        ("rows", "head"),
        [
            (logs.numbered([*logs.a_turn(1), *logs.a_turn(2, words="other")]), None),
            (logs.numbered([*logs.a_turn(1), *logs.a_turn(2), *logs.a_turn(3)], time_ms=1), None),
            (THREE, disk.header("s-1", cwd="/elsewhere")),
        ],
    )
    def test_a_log_that_goes_another_way_is_refused_and_nothing_is_changed(self, take, tmp_path, rows, head):
        disk.put(tmp_path, "s-1", TURNS)
        take()
        before = stored()
        disk.put(tmp_path, "s-1", rows, head=head)
        assert told(take()) == [("s-1", "refused", "log_diverged")]
        assert stored() == before

    def test_a_session_that_a_host_holds_here_is_not_added_to(self, take, tmp_path):
        disk.put(tmp_path, "s-1", TURNS)
        take()
        session = Session.objects.get()
        Lease.objects.create(session=session, holder="token:x", lease_id="l", taken_ms=0, expires_ms=now_ms() + 60_000)
        disk.put(tmp_path, "s-1", THREE)
        assert told(take()) == [("s-1", "refused", "SESSION_LIVE")]
        assert list(all_events(session)) == TURNS

    def test_a_dry_run_keeps_nothing_and_reports_the_same(self, take, tmp_path):
        disk.put(tmp_path, "s-1", TURNS)
        disk.put(tmp_path, "s-2", data=b"x")
        before = stored()
        dry = take(dry_run=True)
        assert stored() == before
        assert told(dry) == told(take())

    def test_each_profile_has_its_own(self, take, tmp_path):
        elsewhere = factories.profile("other")
        other = factories.human(factories.person("bob", other="owner"), of=elsewhere)
        disk.put(tmp_path, "s-1", TURNS)
        take()
        assert told(take(by=other)) == [("s-1", "imported", "")]
        assert Session.objects.values("profile").distinct().count() == 2


class TestRefused:
    def test_one_refused_log_leaves_the_others_alone(self, take, tmp_path):
        disk.put(tmp_path, "s-1", logs.numbered([*logs.a_turn(1), logs.turn_start(7)]))
        disk.put(tmp_path, "s-2", TURNS)
        report = take()
        assert told(report) == [("s-1", "refused", "turn.unexpected_start"), ("s-2", "imported", "")]
        assert (report.entries[0].seq, report.counts()["refused"]) == (6, 1)
        assert list(Session.objects.values_list("ref", flat=True)) == ["s-2"]

    @pytest.mark.parametrize(
        ("folder", "name", "code"),
        [
            ("other", "s-1", "folder_mismatch"),
            ("s~0041", "sA", "not_a_segment"),
            ("~002E~002E", "..", "INVALID_REQUEST"),
            ("a~0020b", "a b", "INVALID_REQUEST"),
        ],
    )
    def test_a_folder_that_is_no_spelling_of_the_logs_id(self, take, tmp_path, folder, name, code):
        disk.put(tmp_path, name, TURNS, folder=folder)
        assert [(outcome, found) for _, outcome, found in told(take())] == [("refused", code)]

    @pytest.mark.parametrize("data", [b"", b"{}\n", b"\x28\xb5\x2f\xfd", SAMPLE.read_bytes()[:100], b"\x00" * 999])
    def test_what_is_no_log(self, take, tmp_path, data):
        disk.put(tmp_path, "s-1", data=data)
        ((_, outcome, code),) = told(take())
        assert outcome == "refused"
        assert code
        assert not Session.objects.exists()


class TestTorn:
    @pytest.mark.parametrize("frame", range(1, 7))
    def test_a_log_cut_at_any_frame_comes_in_up_to_there(self, take, tmp_path, frame):
        ends = [one.end for one in frames_of(SAMPLE.read_bytes())]
        disk.put(tmp_path, SAMPLE_ID, data=SAMPLE.read_bytes()[: ends[frame]])
        (entry,) = take().entries
        assert (entry.outcome, entry.torn) == ("imported", None)
        assert check_stored()["faults"] == []

    def test_a_cut_off_end_is_dropped_and_its_open_turn_closed(self, take, tmp_path):
        rows = logs.numbered([*logs.a_turn(1), logs.turn_start(2), logs.step_start(2, 1)])
        data = write_log(header=disk.header("s-1"), batches=[rows, logs.numbered([logs.user("u", "x" * 99)], first=8)])
        disk.put(tmp_path, "s-1", data=data[:-4])
        (entry,) = take().entries
        kinds = [event["type"] for event in all_events(Session.objects.get())]
        assert kinds[-3:] == ["step/end", "turn/end", "session/end-seed"]
        assert (entry.open_turn, entry.torn["events"], entry.turns) == (False, len(kinds) - 3, 2)
        assert check_stored()["faults"] == []

    def test_a_whole_log_with_an_open_turn_stays_open_unless_asked(self, take, tmp_path):
        rows = logs.numbered([*logs.a_turn(1), logs.turn_start(2)])
        disk.put(tmp_path, "s-1", rows)
        (entry,) = take().entries
        assert (entry.open_turn, list(all_events(Session.objects.get()))) == (True, rows)
        disk.put(tmp_path, "s-2", rows)
        entry = take(close=True).entries[1]
        assert (entry.open_turn, entry.added) == (False, 9)

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.integers(0, SAMPLE.stat().st_size), st.lists(st.integers(0, SAMPLE.stat().st_size * 8 - 1), max_size=3))
    def test_cut_and_bent_files_are_refused_or_come_in_sound(self, take, tmp_path, size, bits):
        data = bytearray(SAMPLE.read_bytes())
        for bit in bits:
            data[bit // 8] ^= 1 << (bit % 8)
        disk.put(tmp_path, SAMPLE_ID, data=bytes(data[:size]))
        (entry,) = take(dry_run=True).entries
        assert entry.outcome in {"imported", "refused"}
        assert bool(entry.code) == (entry.outcome == "refused")
        assert not Session.objects.exists()


class TestDeletedHere:
    @pytest.fixture
    def deleted(self, alice, tmp_path):
        disk.put(tmp_path, "session-s-1", TURNS)
        name = id_hash(profile_id=alice.profile_id, ref="s-1")
        DeletedSession.objects.create(profile_id=alice.profile_id, id_hash=name, confirmation_id="c")

    def test_it_is_not_brought_back(self, take, deleted):
        assert told(take()) == [("session-s-1", "deleted_here", "deleted_here")]
        assert not Session.objects.exists()

    def test_a_person_brings_it_back_by_its_name(self, take, deleted, alice):
        assert told(take(restore=["s-1"])) == [("session-s-1", "imported", "")]
        assert not DeletedSession.objects.exists()
        entry = LedgerEntry.objects.get(profile_id=alice.profile_id)
        assert (entry.action, entry.actor) == ("session.restored", alice.ref)
        assert "s-1" not in entry.target

    def test_a_dry_run_does_not_bring_it_back(self, take, deleted):
        assert told(take(restore=["s-1"], dry_run=True)) == [("session-s-1", "imported", "")]
        assert told(take()) == [("session-s-1", "deleted_here", "deleted_here")]

    def test_a_program_cannot(self, deleted, alice):
        _, secret = factories.token(User.objects.get(), of=Profile.objects.get())
        with pytest.raises(OnlyAPerson):
            forget_deletion(by=factories.caller(secret), ref="s-1", now_ms=0)


class TestTombstones:
    def test_a_log_with_them_is_refused_until_a_person_lets_it_be_mended(self, take, tmp_path):
        path = disk.put(tmp_path, "s-1", a_log())
        original = path.read_bytes()
        assert told(take()) == [("s-1", "refused", "step.not_open")]
        (entry,) = take(repair=["s-1"]).entries
        assert (entry.outcome, entry.removed_turns, len(entry.notes)) == ("imported", [1], 1)
        assert check_stored()["faults"] == []
        assert told(take()) == [("s-1", "unchanged", "")]
        assert path.read_bytes() == original
        assert LedgerEntry.objects.get().action == "session.repaired"

    def test_a_sound_log_has_nothing_to_mend(self, take, tmp_path):
        disk.put(tmp_path, "s-1", TURNS)
        assert told(take(repair=["s-1"])) == [("s-1", "refused", "not_repairable")]


def test_a_turn_of_an_imported_log_can_be_removed(take):
    take(SAMPLE)
    events = list(all_events(Session.objects.get()))
    state, ground = load(events, header=LogReader(SAMPLE.read_bytes()).header)
    target = target_by_turn(turn=3, ground=ground)
    assert plan_removal(target=target, ground=ground, open_turn=False, open_compaction=False).source_seqs == (26, 27)
    assert state.turn is None


def test_a_home_can_be_copied_and_taken_from_there(take, tmp_path):
    disk.put(tmp_path / "one", "s-1", TURNS)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    take(tmp_path / "one")
    assert told(take(tmp_path / "two")) == [("s-1", "unchanged", "")]
