"""Announcements are made after the commit, and only then."""

import asyncio
import contextlib
import threading
from collections import deque

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction

from apps.core import announce


class Undone(Exception):
    """Rolls a transaction back."""


@pytest.fixture
async def heard(monkeypatch):
    """What listeners of this process hear, on a loop that is bound for the test."""
    messages = []
    monkeypatch.setattr(announce, "_listeners", [messages.append])
    monkeypatch.setattr(announce, "_loop", asyncio.get_running_loop())
    monkeypatch.setattr(announce, "_relay", None)
    return messages


async def turn():
    done = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(done.set_result, None)
    await done


@sync_to_async
def committed(change):
    """Make a change in a transaction, on a thread whose connection does not outlive it."""
    try:
        with transaction.atomic():
            return change()
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
class TestAnAnnouncement:
    async def test_is_told_after_the_commit(self, heard):
        def change():
            announce.announce("thing.made", keys=("thing:1",), colour="red")
            return list(heard)

        assert await committed(change) == []
        await turn()
        (message,) = heard
        assert (message["event"], message["keys"], message["colour"]) == ("thing.made", ["thing:1"], "red")

    async def test_of_what_was_rolled_back_is_never_told(self, heard):
        def change():
            announce.announce("thing.made")
            raise Undone

        with pytest.raises(Undone):
            await committed(change)
        await turn()
        assert heard == []


class TestListeners:
    async def test_one_that_fails_does_not_silence_the_others(self, heard, caplog):
        def fail(message):
            raise ValueError("no")

        announce._listeners.insert(0, fail)
        announce.deliver({"event": "x", "keys": []})
        assert [message["event"] for message in heard] == ["x"]
        assert "a listener failed" in caplog.text


class BothAtOnce(deque):
    """A box that lets two threads put something in before either looks how full it is, if they may."""

    def __init__(self):
        super().__init__()
        self.barrier = threading.Barrier(2)

    def append(self, message):
        super().append(message)
        with contextlib.suppress(threading.BrokenBarrierError):
            self.barrier.wait(0.2)


async def test_of_two_threads_at_once_are_both_told(heard, monkeypatch):
    monkeypatch.setattr(announce, "_outbox", BothAtOnce())
    posts = (asyncio.to_thread(announce._post, {"event": f"thing.{name}", "keys": []}) for name in ("made", "gone"))
    await asyncio.gather(*posts)
    await turn()
    assert {message["event"] for message in heard} == {"thing.made", "thing.gone"}
