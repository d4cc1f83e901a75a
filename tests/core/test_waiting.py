"""The layer that holds connections: release, time-out, hang-up, stop, and wake-ups that changed nothing."""

import asyncio
import json

import pytest

from apps.core import announce, waiting
from apps.core.blocking import block_until
from apps.core.values import clock, set_clock
from apps.core.waiting import SCOPE_KEY, Answer, Deferral, Hub, Stream, WaitingLayer
from tests.conformance.clock import ManualClock

KEY = "confirmation:c1"


@pytest.fixture
def hub(monkeypatch):
    fresh = Hub()
    monkeypatch.setattr(waiting, "hub", fresh)
    return fresh


@pytest.fixture
def time():
    before, manual = clock(), ManualClock(1000)
    set_clock(manual)
    yield manual
    set_clock(before)


class Connection:
    """One held request: what the layer is given and what it sends."""

    def __init__(self, layer, *, body=b""):
        self.incoming = asyncio.Queue()
        self.incoming.put_nowait({"type": "http.request", "body": body})
        self.sent = []
        self.scope = {"type": "http", "method": "POST", "path": "/x", "headers": []}
        self.task = asyncio.ensure_future(layer(self.scope, self.incoming.get, self.send))

    async def send(self, message):
        self.sent.append(message)

    @property
    def status(self):
        return self.sent[0]["status"] if self.sent else None

    @property
    def body(self):
        return b"".join(message.get("body", b"") for message in self.sent)

    def hang_up(self):
        self.incoming.put_nowait({"type": "http.disconnect"})


class App:
    """Answers with a deferral until it is told that the thing ended."""

    def __init__(self, *, withdraws=True, also=(), key=KEY):
        self.ended, self.renderings, self.withdrawn = False, [], []
        self.withdraws, self.also, self.key = withdraws, also, key
        self.overtaken = None

    async def respond(self, scope, body):
        rendering = scope.get(SCOPE_KEY)
        self.renderings.append(rendering and rendering.cause)
        if self.overtaken is not None and rendering is None:
            self.overtaken()
        elif self.overtaken is not None:
            self.ended = True
        if self.ended or (rendering and rendering.cause == "timeout"):
            return Answer(status=200, headers=[], body=b"done" if self.ended else b"pending")
        deferral = Deferral(
            key=self.key,
            until_ms=6000,
            subject="c1",
            on_hang_up=self.withdrawn.append if self.withdraws else None,
            also=self.also,
        )
        return Answer(status=202, headers=[], body=b"", deferral=deferral)

    async def call(self, function):
        return function()

    def connect(self, *, ahead=False):
        return Connection(WaitingLayer(self.respond, self.call, ahead=lambda scope: ahead))


async def settle():
    """Let everything that is ready run."""
    loop = asyncio.get_running_loop()
    for _ in range(10):
        turn = loop.create_future()
        loop.call_soon(turn.set_result, None)
        await turn


class TestAhead:
    """What the lane renders before the release."""

    async def test_is_what_goes_out(self, hub, time):
        app = App()
        held = app.connect(ahead=True)
        await settle()
        asked = []

        def answer(scope, body):
            asked.append((scope[SCOPE_KEY], body))
            return Answer(status=200, headers=[], body=b"ahead")

        hub.prepare([{"event": "thing.ended", "keys": ["requester:x", KEY]}], answer)
        assert SCOPE_KEY not in held.scope, "the request itself stays as it was"
        hub.release(KEY)
        await held.task
        assert (held.status, held.body, app.renderings) == (200, b"ahead", [None])
        assert asked == [(waiting.Rendering(subject="c1", cause="released"), b"")]

    async def test_that_would_wait_on_is_looked_at_anew(self, hub, time):
        app = App()
        held = app.connect(ahead=True)
        await settle()
        pending = Answer(status=202, headers=[], body=b"", deferral=Deferral(key=KEY, until_ms=6000, subject="c1"))
        hub.prepare([{"event": "thing.moved", "keys": [KEY]}], lambda scope, body: pending)
        app.ended = True
        hub.release(KEY)
        await held.task
        assert (held.body, app.renderings) == (b"done", [None, "released"])

    async def test_is_not_for_a_wait_that_ran_out(self, hub, time):
        app = App()
        held = app.connect(ahead=True)
        await settle()
        hub.prepare([{"event": "thing.ended", "keys": [KEY]}], lambda scope, body: Answer(200, [], b"ahead"))
        await time.advance(6000, settle)
        await held.task
        assert (held.body, app.renderings) == (b"pending", [None, "timeout"])

    async def test_is_only_for_requests_that_are_light(self, hub, time):
        app = App()
        held = app.connect()
        await settle()
        hub.prepare([{"event": "thing.ended", "keys": [KEY]}], lambda scope, body: pytest.fail("rendered ahead"))
        held.hang_up()
        await held.task


class TestRelease:
    async def test_the_same_request_is_rendered_again(self, hub, time):
        app = App()
        held = app.connect()
        await settle()
        assert (held.status, hub.count()) == (None, 1)
        app.ended = True
        hub.release(KEY)
        await held.task
        assert (held.status, held.body, app.renderings) == (200, b"done", [None, "released"])
        assert hub.waiters == {}

    async def test_one_that_came_before_the_waiter_sat_down_counts(self, hub, time):
        """The decision may be announced between the answer "pending" and the wait."""
        app = App()
        app.overtaken = lambda: hub.release(KEY)
        held = app.connect()
        await held.task
        assert (held.status, app.renderings) == (200, [None, "released"])

    async def test_wakes_everybody_who_waits_for_the_key_and_nobody_else(self, hub, time):
        app, other = App(), App(key="confirmation:c2")
        held = [app.connect() for _ in range(3)]
        apart = other.connect()
        await settle()
        app.ended = True
        hub.release(KEY)
        await asyncio.gather(*(one.task for one in held))
        assert [one.status for one in held] == [200, 200, 200]
        assert apart.status is None
        other.ended = True
        hub.release("confirmation:c2")
        await apart.task

    async def test_a_further_key_ends_the_wait_too(self, hub, time):
        app = App(also=("token:t1",))
        held = app.connect()
        await settle()
        app.ended = True
        hub.release("token:t1")
        await held.task
        assert held.status == 200
        assert hub.waiters == {}

    async def test_a_wake_up_that_changed_nothing_waits_on(self, hub, time):
        app = App(key="requester:r1")
        held = app.connect()
        await settle()
        for _ in range(3):
            hub.release("requester:r1")
            await settle()
        assert held.status is None
        assert app.renderings == [None, "released", "released", "released"]
        app.ended = True
        hub.release("requester:r1")
        await held.task
        assert held.status == 200


class TestTheEndOfTheWait:
    async def test_is_rendered_as_such(self, hub, time):
        app = App()
        held = app.connect()
        await settle()
        await time.advance(4999, settle)
        assert held.status is None
        await time.advance(1, settle)
        await held.task
        assert (held.body, app.renderings) == (b"pending", [None, "timeout"])
        assert app.withdrawn == []


class TestHangUp:
    async def test_of_the_only_caller_withdraws(self, hub, time):
        app = App()
        held = app.connect()
        await settle()
        held.hang_up()
        await held.task
        assert (held.sent, app.withdrawn, hub.waiters) == ([], ["c1"], {})

    async def test_withdraws_only_when_no_other_caller_waits(self, hub, time):
        app = App()
        first, second = app.connect(), app.connect()
        await settle()
        first.hang_up()
        await first.task
        assert app.withdrawn == []
        second.hang_up()
        await second.task
        assert app.withdrawn == ["c1"]

    async def test_of_an_asker_withdraws_nothing_while_somebody_polls(self, hub, time):
        asking, polling = App(), App(withdraws=False)
        asker, poller = asking.connect(), polling.connect()
        await settle()
        asker.hang_up()
        await asker.task
        assert asking.withdrawn == []
        polling.ended = True
        hub.release(KEY)
        await poller.task
        assert poller.status == 200

    async def test_of_a_poll_withdraws_nothing(self, hub, time):
        app = App(withdraws=False)
        held = app.connect()
        await settle()
        held.hang_up()
        await held.task
        assert (app.withdrawn, hub.waiters) == ([], {})

    async def test_while_the_server_stops_is_none(self, hub, time):
        app = App()
        held = app.connect()
        await settle()
        hub.stop()
        held.hang_up()
        await held.task
        assert app.withdrawn == []

    async def test_before_the_body_came_is_no_request(self, hub, time):
        app = App()
        layer = WaitingLayer(app.respond, app.call)
        incoming = asyncio.Queue()
        incoming.put_nowait({"type": "http.request", "body": b"a", "more_body": True})
        incoming.put_nowait({"type": "http.disconnect"})
        await layer({"type": "http"}, incoming.get, None)
        assert app.renderings == []


class TestAnOrderlyStop:
    async def test_answers_503_with_the_confirmation(self, hub, time):
        app = App()
        held = app.connect()
        await settle()
        hub.stop()
        await held.task
        headers = {name.lower(): value for name, value in held.sent[0]["headers"]}
        assert held.status == 503
        assert headers[b"retry-after"] == b"5"
        assert headers[b"location"] == b"/api/confirmations/c1"
        assert json.loads(held.body)["confirmation_id"] == "c1"
        assert app.withdrawn == []

    async def test_answers_who_comes_later_too(self, hub, time):
        hub.stop()
        held = App().connect()
        await held.task
        assert held.status == 503


class TestStreams:
    def app(self, *, ends=()):
        async def respond(scope, body):
            stream = Stream(key="requester:r1", ends=ends, event=lambda m: {"n": m["n"]} if "n" in m else None)
            return Answer(status=200, headers=[], body=b"", stream=stream)

        return WaitingLayer(respond, None)

    async def test_every_announcement_of_the_key_is_sent(self, hub, time):
        held = Connection(self.app())
        await settle()
        hub.hear({"event": "a", "keys": ["requester:r1"], "n": 1})
        hub.hear({"event": "b", "keys": ["requester:r2"], "n": 2})
        hub.hear({"event": "c", "keys": ["requester:r1"]})
        hub.hear({"event": "d", "keys": ["requester:r1"], "n": 3})
        await settle()
        assert held.body == b'event: a\ndata: {"n": 1}\n\nevent: d\ndata: {"n": 3}\n\n'
        held.hang_up()
        await held.task
        assert hub.streams == {}

    async def test_ends_with_the_caller_s_right_and_with_the_server(self, hub, time):
        one, other = Connection(self.app(ends=("token:t1",))), Connection(self.app())
        await settle()
        hub.hear({"event": "token.revoked", "keys": ["token:t1"]})
        await one.task
        assert not other.task.done()
        hub.stop()
        await other.task
        assert hub.streams == {}


class TestMemoryOfReleases:
    def test_only_what_ends_once_is_remembered_and_not_for_ever(self, monkeypatch):
        monkeypatch.setattr(waiting, "RELEASED_KEPT", 3)
        hub = Hub()
        for number in range(5):
            hub.release(f"confirmation:c{number}")
        hub.release("requester:r1")
        assert list(hub.released) == ["confirmation:c2", "confirmation:c3", "confirmation:c4"]


class TestBlockedThreads:
    @pytest.fixture
    async def serving(self, hub):
        announce.bind(asyncio.get_running_loop())
        yield hub
        announce.bind(None)

    async def test_look_again_at_each_release_until_it_holds(self, serving, time):
        looks = []

        def third():
            looks.append(len(looks))
            return len(looks) == 3

        blocked = asyncio.ensure_future(asyncio.to_thread(block_until, third, key="runs:s1", within_ms=5000))
        for expected in (1, 2):
            while serving.blocked == 0 or len(looks) < expected:
                await settle()
            serving.release("runs:s2")
            serving.release("runs:s1")
        assert await blocked is True
        assert (looks, serving.blocked, serving.count()) == ([0, 1, 2], 0, 0)

    async def test_miss_no_release_that_comes_while_they_look(self, serving, time):
        loop = asyncio.get_running_loop()
        looks = []

        def overtaken():
            looks.append(1)
            asyncio.run_coroutine_threadsafe(release(), loop).result()
            return len(looks) == 2

        async def release():
            serving.release("runs:s1")

        assert await asyncio.to_thread(block_until, overtaken, key="runs:s1", within_ms=5000)

    async def test_give_up_when_the_time_is_up_or_the_server_stops(self, serving, time):
        for end in (lambda: time.advance(5000, settle), stopping(serving)):
            blocked = asyncio.ensure_future(
                asyncio.to_thread(block_until, lambda: False, key="runs:s1", within_ms=5000)
            )
            while serving.blocked == 0:
                await settle()
            await end()
            assert await blocked is False
        assert not await asyncio.to_thread(block_until, lambda: False, key="runs:s1", within_ms=5000)

    def test_look_once_where_nothing_is_served(self):
        assert not block_until(lambda: False, key="runs:s1", within_ms=5000)
        assert block_until(lambda: True, key="runs:s1", within_ms=5000)


def stopping(hub):
    async def stop():
        hub.stop()

    return stop
