"""Long work beside the lane: one caller cannot crowd out the others, and no caller waits in a circle."""

import asyncio
from types import SimpleNamespace

import pytest

from apps.core import jobs
from apps.core.errors import SaysoError
from apps.core.waiting import SCOPE_KEY, Rendering


def request_of(ref, *, rendering=None):
    scope = {} if rendering is None else {SCOPE_KEY: rendering}
    return SimpleNamespace(user=SimpleNamespace(ref=ref), scope=scope)


def again(subject, cause="released"):
    return request_of("token:1", rendering=Rendering(subject=subject, cause=cause))


@pytest.fixture
def held(monkeypatch):
    """Start a job that runs only when the test says so; returns its deferral."""
    monkeypatch.setattr(jobs, "_results", {})
    monkeypatch.setattr(jobs, "_works", {})

    async def work(steps):
        return "done"

    return lambda ref="token:1": jobs.run_job(request_of(ref), work=work, render=str.upper).deferral


@pytest.fixture
def run(monkeypatch):
    """Run a job to its end."""

    async def nowhere(self, call):
        return None

    monkeypatch.setattr(jobs.Steps, "lane", nowhere)
    return lambda deferral: asyncio.run(jobs._work(deferral.subject, jobs._works.pop(deferral.subject)))


def rendered(deferral, cause="released"):
    return jobs.run_job(again(deferral.subject, cause), work=None, render=str.upper)


@pytest.mark.django_db
class TestJobs:
    def test_are_answered_when_they_end(self, held, run):
        deferral = held()
        assert rendered(deferral).deferral.key == deferral.key
        assert rendered(deferral, "timeout").status_code == 202
        run(deferral)
        assert rendered(deferral) == "DONE"

    def test_are_kept_while_they_run_however_many_there_are(self, held, run, monkeypatch):
        monkeypatch.setattr(jobs, "KEPT", 1)
        first = held()
        for number in range(5):
            run(held(f"token:other{number}"))
        run(first)
        assert rendered(first) == "DONE"

    def test_whose_answer_is_not_kept_any_more_are_never_held_again(self, held, run, monkeypatch):
        monkeypatch.setattr(jobs, "KEPT", 1)
        first = held()
        run(first)
        run(held())
        with pytest.raises(SaysoError, match="no longer kept"):
            rendered(first)

    def test_of_one_caller_are_bounded(self, held, run):
        mine = [held() for _ in range(jobs.JOBS_OF_ONE)]
        with pytest.raises(jobs.TooManyJobs):
            held()
        held("token:2")
        run(mine[0])
        held()
