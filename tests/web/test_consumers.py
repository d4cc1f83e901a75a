"""What open pages are told of changes."""

import asyncio

import pytest

from apps.core.sockets import open_sockets
from apps.web import consumers


class Page:
    """An open page of somebody who may read some profiles."""

    def __init__(self, *profiles):
        self.readable_ids = frozenset(profiles)
        self.told = asyncio.Queue()

    def push(self, frame):
        self.told.put_nowait(frame)


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.setattr(consumers, "GATHER_S", 0)
    ours, theirs = Page("p"), Page("q")
    monkeypatch.setitem(open_sockets, consumers.KIND, {ours, theirs})
    return ours, theirs


def appended(**members):
    return {"event": "log.appended", "keys": [], "profile": "p", "session": "k1", "from": 0, "to": 9, **members}


async def test_a_thousand_changes_are_told_once_and_only_where_they_may_be_read(pages):
    ours, theirs = pages
    for _ in range(1000):
        consumers.hear(appended())
    consumers.hear(appended(session="k2"))
    consumers.hear({"event": "schedule.changed", "keys": [], "profile": "p"})
    consumers.hear({"event": "token.revoked", "keys": [], "profile": "p", "token": "t"})
    frames = [await ours.told.get() for _ in range(3)]
    told = {"type": "page.told", "profile": "p"}
    assert frames == [
        told | {"about": "sessions", "session": "k1"},
        told | {"about": "sessions", "session": "k2"},
        told | {"about": "schedules", "session": ""},
    ]
    # And again, once something else has changed.
    consumers.hear(appended(session="k3"))
    assert (await ours.told.get())["session"] == "k3"
    assert theirs.told.empty()


async def test_an_alarm_rings_at_once_with_a_title_that_is_safe_to_show(pages):
    ours, theirs = pages
    due = {"kind": "event", "item": "i1", "at": 5, "missed": 0}
    consumers.hear({"event": "alarm.due", "keys": [], "profile": "p", "title": "Choir\u202e", **due})
    told = {"type": "alarm.due", "profile": "p", "title": "Choir[U+202E]"}
    assert ours.told.get_nowait() == told | due
    assert theirs.told.empty()


async def test_nothing_is_kept_for_nobody(pages, monkeypatch):
    monkeypatch.setitem(open_sockets, consumers.KIND, {Page("q")})
    consumers.hear(appended())
    assert consumers._gathered == {}
