"""What another process announces over PostgreSQL arrives, and waiting for it costs nothing."""

import asyncio
import json

import psycopg
import pytest

from apps.core import relay
from apps.core.relay import GROUP, Relay, postgresql_dsn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.only_on("postgresql")]


@pytest.fixture
async def heard(monkeypatch):
    """What a listening relay delivers."""
    messages = asyncio.Queue()
    monkeypatch.setattr(relay, "deliver", messages.put_nowait)
    monkeypatch.setattr(relay, "RETRY_S", 0.0)
    listening = asyncio.ensure_future(Relay(asyncio.get_running_loop()).listen_postgresql())
    async with asyncio.timeout(20), await psycopg.AsyncConnection.connect(postgresql_dsn(), autocommit=True) as link:
        await until_heard(link, messages)
        yield messages, link
    listening.cancel()


async def until_heard(link, messages):
    """Say something until it is heard: the listener begins in its own time."""
    while messages.empty():
        await say(link, "begin")
        await link.execute("select 1")
    await say(link, "ready")
    while (await messages.get())["event"] != "ready":
        pass


async def say(link, event, origin="another process"):
    payload = json.dumps({"origin": origin, "message": {"event": event, "keys": []}})
    await link.execute("select pg_notify(%s, %s)", [GROUP, payload])


async def test_messages_arrive_in_order_and_one_s_own_do_not(heard):
    messages, link = heard
    await say(link, "mine", origin=relay.ORIGIN)
    for event in ("first", "second"):
        await say(link, event)
    async with asyncio.timeout(20):
        assert [(await messages.get())["event"] for _ in range(2)] == ["first", "second"]


async def test_a_lost_connection_is_made_again(heard):
    messages, link = heard
    ended = await link.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query = %s",
        [f"listen {GROUP}"],
    )
    assert await ended.fetchall() == [(True,)]
    async with asyncio.timeout(20):
        await until_heard(link, messages)


async def test_no_turn_of_the_loop_while_nothing_is_announced(heard, monkeypatch):
    loop = asyncio.get_running_loop()
    rests, select = loop.create_future(), loop._selector.select

    def rest(timeout=None):
        if timeout == 0 or rests.done():
            return select(timeout)
        rests.set_result(timeout)
        return select(0)

    monkeypatch.setattr(loop._selector, "select", rest)
    # No timer but the test's own is set: psycopg's way to wait would look again within a tenth of a second.
    seconds = await rests
    assert seconds is None or seconds > 5
