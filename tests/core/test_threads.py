"""The lane: one thread, jobs in order, and commits that are shared without sharing failures."""

import asyncio
import threading

import pytest
from django.db import IntegrityError, OperationalError, connections, transaction

from apps.accounts.models import LoginFailure
from apps.core import announce
from apps.core.rows import added, behind, undoable
from apps.core.threads import Lane


class Refused(Exception):
    """One caller's own failure."""


@pytest.fixture
def lane(transactional_db):
    """A lane of its own, stopped after the test."""
    own = Lane()
    yield own
    own.stop()


def held(lane, started):
    """Return a job that keeps the lane busy until `go` is set."""
    go = threading.Event()

    def wait():
        started.set()
        go.wait(20)

    return wait, go


def note(name, *, fail=False):
    def job():
        LoginFailure.objects.create(subject_hash=name, last_ms=0)
        if fail:
            raise Refused(name)
        return name

    return job


def names():
    return sorted(LoginFailure.objects.values_list("subject_hash", flat=True))


async def grouped(lane, *jobs):
    """Run jobs as one group: they queue up while the lane is busy."""
    started = threading.Event()
    wait, go = held(lane, started)
    first = lane.run(wait)
    await asyncio.to_thread(started.wait, 20)
    futures = [lane.run(job, grouped=True) for job in jobs]
    go.set()
    await first
    return await asyncio.gather(*futures, return_exceptions=True)


class TestJobs:
    async def test_run_in_one_thread_in_the_order_they_come(self, lane):
        log = []
        futures = [lane.run(lambda n=n: log.append((n, threading.current_thread().name))) for n in range(20)]
        await asyncio.gather(*futures)
        assert log == [(n, "sayso-lane") for n in range(20)]

    async def test_give_their_result_or_their_error_to_their_caller(self, lane):
        assert await lane.run(lambda: 5) == 5
        with pytest.raises(Refused):
            await lane.run(note("a", fail=True))
        assert await lane.run(lambda: 6) == 6

    async def test_of_a_caller_who_left_do_no_harm(self, lane):
        future = lane.run(lambda: 5)
        future.cancel()
        assert await lane.run(lambda: 6) == 6

    async def test_leave_the_lane_idle(self, lane):
        assert lane.idle()
        started = threading.Event()
        wait, go = held(lane, started)
        future = lane.run(wait)
        await asyncio.to_thread(started.wait, 20)
        assert not lane.idle()
        go.set()
        await future
        await lane.run(lambda: None)


@pytest.mark.only_on("sqlite")
class TestGroups:
    async def test_one_caller_s_failure_is_never_another_s(self, lane):
        results = await grouped(lane, note("a"), note("b", fail=True), note("c"))
        assert results[0] == "a"
        assert isinstance(results[1], Refused)
        assert results[2] == "c"
        assert await lane.run(names) == ["a", "c"], "what failed left nothing behind"

    async def test_a_database_error_of_one_is_its_own(self, lane):
        results = await grouped(lane, note("a"), note("a"), note("b"))
        assert (results[0], results[2]) == ("a", "b")
        assert isinstance(results[1], Exception)
        assert await lane.run(names) == ["a", "b"]

    async def test_they_share_one_commit(self, lane):
        commits = []

        def counted():
            transaction.on_commit(lambda: commits.append("commit"))
            return len(commits)

        assert await grouped(lane, counted, counted, counted) == [0, 0, 0]
        assert len(commits) == 3, "each is told, after the one commit"

    async def test_a_failed_commit_is_told_to_those_whose_work_is_lost(self, lane, monkeypatch):
        kind = type(connections["default"])
        real = kind.commit

        def broken():
            monkeypatch.setattr(kind, "commit", fail)
            LoginFailure.objects.create(subject_hash="z", last_ms=0)

        def fail(self):
            monkeypatch.setattr(kind, "commit", real)
            raise OperationalError("the disk is full")

        results = await grouped(lane, note("a"), broken, note("b"))
        assert [str(result) for result in results] == ["a", "the disk is full", "b"]
        assert await lane.run(names) == ["a", "b"], "what could not be committed together was tried one by one"

    async def test_nothing_is_announced_of_what_was_not_committed(self, lane):
        told = []

        def announcing_then_failing():
            transaction.on_commit(lambda: told.append("no"))
            raise Refused

        def announcing():
            transaction.on_commit(lambda: told.append("yes"))

        await grouped(lane, announcing, announcing_then_failing)
        assert told == ["yes"]

    async def test_a_part_that_is_undone_and_survived_leaves_the_rest_of_its_job_and_all_others(self, lane):
        def part():
            LoginFailure.objects.create(subject_hash="b", last_ms=0)
            try:
                with undoable():
                    LoginFailure.objects.create(subject_hash="x", last_ms=0)
                    transaction.on_commit(lambda: told.append("x"))
                    raise Refused
            except Refused:
                return "survived"

        told = []
        assert await grouped(lane, note("a"), part, note("c")) == ["a", "survived", "c"]
        assert await lane.run(names) == ["a", "b", "c"]
        assert told == []

    async def test_a_refusal_before_any_write_costs_nobody_a_second_run(self, lane):
        def refusing():
            runs.append("refusing")
            try:
                with undoable():
                    transaction.on_commit(lambda: runs.append("told"))
                    raise Refused
            except Refused:
                return "refused"

        runs = []
        assert await grouped(lane, note("a"), refusing) == ["a", "refused"]
        assert runs == ["refusing"]

    async def test_what_fails_after_the_commit_makes_nobody_do_it_again(self, lane, caplog):
        def fail():
            raise Refused

        def job():
            runs.append("run")
            transaction.on_commit(fail)
            return note("a")()

        runs = []
        assert await grouped(lane, job, note("b")) == ["a", "b"]
        assert (runs, await lane.run(names)) == (["run"], ["a", "b"])
        assert "what follows a commit failed" in caplog.text

    async def test_a_failure_that_changed_nothing_leaves_the_transaction_fit(self, lane):
        def survivor():
            runs.append("run")
            try:
                with undoable(), transaction.atomic(savepoint=False):
                    LoginFailure.objects.create(subject_hash="a", last_ms=0)
            except IntegrityError:
                return note("b")()

        runs = []
        assert await grouped(lane, note("a"), survivor) == ["a", "b"]
        assert (runs, await lane.run(names)) == (["run"], ["a", "b"])


class Tally:
    """Counts what a group adds, and stores the sum under its name."""

    def __init__(self):
        self.count = 0

    def write(self):
        LoginFailure.objects.create(subject_hash="tally", last_ms=self.count)


def counted():
    tally = behind(("tally",), Tally)
    if tally is None:
        found, _ = LoginFailure.objects.get_or_create(subject_hash="tally", defaults={"last_ms": 0})
        found.last_ms += 1
        found.save()
    else:
        tally.count += 1
        added()
    return tally is not None


def stored():
    return list(LoginFailure.objects.values_list("last_ms", flat=True))


@pytest.mark.only_on("sqlite")
class TestWhatAGroupWritesAtItsEnd:
    async def test_is_written_once_for_all(self, lane):
        assert await grouped(lane, counted, counted, counted) == [True, True, True]
        assert await lane.run(stored) == [3]

    async def test_is_nothing_without_a_group(self, lane):
        assert await lane.run(counted) is False
        assert await lane.run(stored) == [1]

    async def test_counts_nothing_that_failed(self, lane):
        def failing():
            counted()
            raise Refused

        first, second, third = await grouped(lane, counted, failing, counted)
        assert (first, third) == (False, False), "each ran again alone"
        assert isinstance(second, Refused)
        assert await lane.run(stored) == [2]

    async def test_a_refusal_that_only_looked_at_it_costs_nobody_a_second_run(self, lane):
        def refusing():
            try:
                with undoable():
                    behind(("tally",), Tally)
                    raise Refused
            except Refused:
                return "refused"

        assert await grouped(lane, counted, refusing, counted) == [True, "refused", True]
        assert await lane.run(stored) == [2]

    @pytest.mark.parametrize("part", [undoable, transaction.atomic])
    async def test_counts_nothing_that_a_job_undid_and_survived(self, lane, part):
        def surviving():
            try:
                with part():
                    counted()
                    raise Refused
            except Refused:
                return "survived"

        assert await grouped(lane, counted, surviving, counted) == [False, "survived", False]
        assert await lane.run(stored) == [2]


class TestPreparing:
    async def test_comes_before_anybody_hears_of_the_commit(self, lane, heard):
        lane.prepare = lambda messages: heard.append(("prepared", [message["event"] for message in messages]))
        await lane.run(announcing("thing.made"), grouped=True)
        assert heard == [("prepared", ["thing.made"]), ("heard", "thing.made")]

    async def test_that_fails_keeps_nothing_from_being_told(self, lane, heard, caplog):
        def fail(messages):
            raise Refused

        lane.prepare = fail
        await lane.run(announcing("thing.made"), grouped=True)
        assert heard == [("heard", "thing.made")]
        assert "nothing was prepared" in caplog.text

    async def test_what_it_announces_is_told_too(self, lane, heard):
        lane.prepare = lambda messages: announcing("thing.expired")()
        await lane.run(announcing("thing.made"))
        assert heard == [("heard", "thing.made"), ("heard", "thing.expired")]


def announcing(event):
    def job():
        with transaction.atomic():
            announce.announce(event)

    return job


@pytest.fixture
async def heard(monkeypatch):
    """What the listeners of this process hear, on this loop."""
    found = []
    monkeypatch.setattr(announce, "_listeners", [lambda message: found.append(("heard", message["event"]))])
    announce.bind(asyncio.get_running_loop())
    yield found
    announce.bind(None)
