"""The journal of SQLite is emptied after a deletion, later when somebody reads meanwhile."""

import sqlite3
from pathlib import Path

import pytest
from django.db import connection, transaction

from apps.sessions.actions.sweeping import AGAIN_MS, next_sweep_ms, sweep_journal
from tests.sessions.place import NOW

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.only_on("sqlite")]


@pytest.fixture
def journal(place):
    return Path(f"{connection.settings_dict['NAME']}-wal")


def test_it_is_empty_afterwards_and_nothing_is_owed(journal, place):
    place.session("s1")
    assert journal.stat().st_size > 0
    assert sweep_journal(now_ms=NOW)
    assert (journal.stat().st_size, next_sweep_ms()) == (0, None)


def test_a_reader_elsewhere_puts_it_off_for_a_while(journal, place):
    with sqlite3.connect(connection.settings_dict["NAME"]) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from agent_sessions_session").fetchone()
        place.session("s1")
        assert not sweep_journal(now_ms=NOW)
        assert next_sweep_ms() == NOW + AGAIN_MS
    reader.close()
    assert sweep_journal(now_ms=NOW + AGAIN_MS)
    assert (journal.stat().st_size, next_sweep_ms()) == (0, None)


def test_it_waits_for_the_usual_time_again_afterwards(place):
    sweep_journal(now_ms=NOW)
    with connection.cursor() as cursor:
        assert cursor.execute("pragma busy_timeout").fetchone()[0] == 20_000
        assert cursor.execute("pragma secure_delete").fetchone()[0] == 1


def test_inside_a_transaction_it_is_put_off(place):
    with transaction.atomic():
        assert not sweep_journal(now_ms=NOW)
    assert sweep_journal(now_ms=NOW)
