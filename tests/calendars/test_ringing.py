"""Reminders that are due and alarms of events reach the open pages once, at their moment."""

import pytest
from django.db import transaction

from apps.calendars.actions import ringing
from apps.calendars.actions.ringing import ring_due
from apps.calendars.models import AlarmClock
from apps.calendars.queries.ringing import next_alarm_ms
from tests.factories.calendars import DAY_MS, NINE_MS, NOW_MS

MINUTE_MS, FIVE_MS = 60_000, 300_000


@pytest.fixture
def told(monkeypatch):
    """What was announced to ring."""
    found = []

    def announce(event, **facts):
        if event == "alarm.due":
            transaction.on_commit(lambda: found.append((facts["title"], facts["at"], facts["missed"])))

    monkeypatch.setattr(ringing, "announce", announce)
    return found


@pytest.fixture
def world(transactional_db, clock):
    from tests.factories.calendars import make_world

    return make_world()


def ring(clock, at_ms):
    clock.ms = at_ms
    assert ring_due(now_ms=at_ms) is None
    return next_alarm_ms()


def test_a_reminder_rings_when_it_is_due_and_then_never_again(world, clock, told):
    world.remind("Buy milk", due_ms=NINE_MS)
    assert next_alarm_ms() == NOW_MS
    assert ring(clock, NOW_MS) == NINE_MS
    assert ring(clock, NINE_MS - 1) == NINE_MS
    assert told == []
    assert ring(clock, NINE_MS) is None
    assert told == [("Buy milk", NINE_MS, 0)]
    assert AlarmClock.objects.count() == 0


def test_an_event_rings_before_its_start_and_without_an_alarm_never(world, clock, told):
    world.add("Silent")
    world.add("Dentist", reminder_minutes=15)
    assert ring(clock, NOW_MS) == NINE_MS - 15 * MINUTE_MS
    ring(clock, NINE_MS)
    assert told == [("Dentist", NINE_MS - 15 * MINUTE_MS, 0)]


def test_a_series_goes_on_and_what_was_missed_is_counted(world, clock, told):
    world.add("Stand-up", rrule="FREQ=DAILY", start_ms=NINE_MS + FIVE_MS, reminder_minutes=5)
    ring(clock, NOW_MS)
    assert ring(clock, NINE_MS) == NINE_MS + DAY_MS
    assert ring(clock, NINE_MS + 3 * DAY_MS + 1) == NINE_MS + 4 * DAY_MS
    assert told == [("Stand-up", NINE_MS, 0), ("Stand-up", NINE_MS + 3 * DAY_MS, 2)]


def test_a_clock_set_back_rings_nothing_again(world, clock, told):
    world.add("Stand-up", rrule="FREQ=DAILY", start_ms=NINE_MS + FIVE_MS, reminder_minutes=5)
    ring(clock, NOW_MS)
    ring(clock, NINE_MS + MINUTE_MS)
    AlarmClock.objects.update(at_ms=0)
    ring(clock, NINE_MS - MINUTE_MS)
    ring(clock, NINE_MS)
    assert told == [("Stand-up", NINE_MS, 0)]


def test_what_is_moved_done_or_deleted_rings_as_it_is_now(world, clock, told):
    moved, done, gone = (world.remind(title, due_ms=NINE_MS) for title in ("Moved", "Done", "Gone"))
    ring(clock, NOW_MS)
    world.call("PATCH", f"/api/calendars/reminders/{moved['id']}", {"due_ms": NINE_MS + DAY_MS})
    world.post(f"/api/calendars/reminders/{done['id']}/complete", {})
    asked = world.call("DELETE", f"/api/calendars/reminders/{gone['id']}", Prefer="wait=0").json()
    world.decide(asked["confirmation_id"])
    ring(clock, NINE_MS)
    assert told == []
    ring(clock, NINE_MS + DAY_MS)
    assert told == [("Moved", NINE_MS + DAY_MS, 0)]


def test_a_whole_day_is_due_in_its_morning(world, clock, told):
    world.remind("Taxes", due_ms=NINE_MS - 9 * 3_600_000, all_day=True)
    ring(clock, NOW_MS)
    ring(clock, NINE_MS - 1)
    assert told == []
    ring(clock, NINE_MS)
    assert told == [("Taxes", NINE_MS, 0)]


def test_an_object_that_cannot_be_reckoned_silences_no_other(world, clock, told, monkeypatch, caplog):
    world.remind("Bad", due_ms=NINE_MS)
    world.remind("Good", due_ms=NINE_MS)
    real = ringing.firings_between

    def reckoned(*, stored, **window):
        if "Bad" in stored.ics:
            raise ValueError("a rule that nobody understands")
        return real(stored=stored, **window)

    monkeypatch.setattr(ringing, "firings_between", reckoned)
    ring(clock, NOW_MS)
    ring(clock, NINE_MS)
    assert told == [("Good", NINE_MS, 0)]
    assert "cannot be reckoned" in caplog.text
    # Once it can be, what it had to tell is told.
    monkeypatch.setattr(ringing, "firings_between", real)
    ring(clock, NINE_MS + ringing.AGAIN_MS)
    assert told[-1][0] == "Bad"
