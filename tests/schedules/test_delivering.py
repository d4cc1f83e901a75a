"""What is due reaches the inbox once, with everything that belongs to it, whatever fails or stands still."""

import pytest
from django.db import IntegrityError, transaction

from apps.core.timers import MORE
from apps.schedules.actions import delivering
from apps.schedules.actions.delivering import deliver_due
from apps.schedules.models import Delivery, Receipt, Task
from tests.conformance.drive_ops import check_whole, failing
from tests.schedules.house import DAILY, DAY_MS, HOUR_MS, HOURLY, MINUTE_MS, NINE, NOW_MS, iso, spoil


class TestDelivery:
    def test_a_due_schedule_leaves_a_message_a_receipt_and_its_next_target(self, house):
        record = house.add()
        assert house.wake() == NOW_MS + HOUR_MS
        house.at(NOW_MS + HOUR_MS + 5)
        (message,) = house.inbox()
        assert message["form"] == "batch"
        assert message["text"].splitlines()[0] == "[Sayso recurring reminders]"
        assert message["delivered_at"] == iso(NOW_MS + HOUR_MS + 5)
        assert message["reminders"] == [
            {"schedule_id": record["id"], "title": "Stand up", "occurrence_at": iso(NOW_MS + HOUR_MS), "missed": 0}
        ]
        shown = house.read(record)
        assert shown["record"] == {**record, "scheduledAt": iso(NOW_MS + 2 * HOUR_MS)}
        assert shown["lastDelivery"]["scheduledAt"] == iso(NOW_MS + HOUR_MS)
        assert house.wake() == NOW_MS + 2 * HOUR_MS
        check_whole()

    def test_nothing_is_delivered_before_its_time_nor_twice(self, house):
        house.add()
        house.at(NOW_MS + HOUR_MS - 1)
        assert house.inbox() == []
        for _ in range(3):
            house.at(NOW_MS + HOUR_MS)
        assert len(house.inbox()) == 1

    def test_one_that_happens_once_ends_and_keeps_its_record(self, house):
        record = house.add(after_seconds=60)
        house.at(NOW_MS + 7 * DAY_MS)
        (message,) = house.inbox()
        assert message["form"] == "single"
        shown = house.read(record)
        assert (shown["record"], shown["status"]) == (record, "inactive")
        assert house.wake() is None

    def test_recurring_ones_of_a_session_share_a_message(self, house):
        house.session("s2")
        for title, session in (("A", "s1"), ("B", "s2"), ("C", "s1")):
            house.add(title=title, session=session)
        once = house.add(title="D", after_seconds=3600)
        house.at(NOW_MS + HOUR_MS)
        titles = [[one["title"] for one in payload["reminders"]] for payload in house.inbox()]
        assert titles == [["A", "C"], ["D"]]
        assert [title for title, _, _ in house.told("s2")] == ["B"]
        assert house.task(once).status == "inactive"

    def test_many_sessions_take_several_turns_of_the_lane(self, house, monkeypatch):
        for number in range(5):
            house.add(title=f"T{number}", session=house.session(f"m{number}"))
        monkeypatch.setattr("apps.schedules.queries.due.SESSIONS_AT_ONCE", 1)
        monkeypatch.setattr(delivering, "Turn", lambda: type("Turn", (), {"over": lambda self: True})())
        house.clock.ms = NOW_MS + HOUR_MS
        turns = 1
        while deliver_due(scan_ms=house.clock.ms, read_ms=house.clock.now_ms, jitter=float) is MORE:
            turns += 1
        assert turns == 5
        assert Receipt.objects.count() == 5


class TestMissed:
    def test_the_newest_of_missed_occurrences_is_sent_and_the_others_are_counted(self, house):
        record = house.add()
        house.at(NOW_MS + 5 * HOUR_MS + MINUTE_MS)
        assert house.told() == [("Stand up", iso(NOW_MS + 5 * HOUR_MS), 4)]
        assert house.read(record)["missed"] == 4

    def test_skip_drops_what_is_older_than_its_grace(self, house):
        record = house.add(**HOURLY, options={"missed": "skip", "grace_s": 600})
        house.at(NOW_MS + 5 * HOUR_MS + 601_000)
        assert house.inbox() == []
        assert house.lines(record) == [("dropped", NOW_MS + 5 * HOUR_MS, 5)]
        house.at(NOW_MS + 6 * HOUR_MS + 600_000)
        assert house.told() == [("Stand up", iso(NOW_MS + 6 * HOUR_MS), 0)]

    def test_each_sends_a_message_for_each_the_newest_hundred_at_most(self, house):
        record = house.add(**HOURLY, options={"missed": "each"})
        house.at(NOW_MS + 3 * HOUR_MS)
        assert [at for _, at, _ in house.told()] == [iso(NOW_MS + n * HOUR_MS) for n in (1, 2, 3)]
        assert len(house.inbox()) == 3
        house.at(NOW_MS + 133 * HOUR_MS)
        assert len(house.inbox()) == 103
        assert house.read(record)["missed"] == 30
        assert house.read(record)["runs"] == 103

    def test_a_limit_of_runs_and_an_end_end_it(self, house):
        limited = house.add(title="Limited", **HOURLY, options={"max_runs": 2})
        ending = house.add(title="Ending", **HOURLY, options={"until": iso(NOW_MS + 2 * HOUR_MS)})
        for hour in (1, 2, 3):
            house.at(NOW_MS + hour * HOUR_MS)
        assert [title for title, _, _ in house.told()] == ["Limited", "Ending"] * 2
        assert {house.task(one).status for one in (limited, ending)} == {"inactive"}


class TestClock:
    def test_set_back_it_delivers_nothing_again(self, house):
        house.add(**DAILY)
        house.at(NINE)
        house.at(NINE - HOUR_MS)
        house.at(NINE + MINUTE_MS)
        assert house.told() == [("Stand up", iso(NINE), 0)]

    def test_an_occurrence_that_comes_again_is_said_to_be_delivered(self, house):
        record = house.add(**DAILY)
        house.at(NINE)
        house.clock.ms = NINE - HOUR_MS
        there = house.read(record)["record"]
        moved = house.patch(there, change={"kind": "daily", "daily": DAILY["daily"] | {"time": "10:00:00"}})
        back = house.patch(moved["record"], change={"kind": "daily", **DAILY})
        assert back["record"]["scheduledAt"] == iso(NINE)
        house.at(NINE + 1)
        assert len(house.inbox()) == 1
        assert house.lines(record) == [("sent", NINE, 0), ("repeated", NINE, 0)]
        assert house.read(record)["record"]["scheduledAt"] == iso(NINE + DAY_MS)

    def test_set_back_it_does_not_make_a_second_try_wait_for_the_old_time(self, house):
        record = house.add(after_seconds=60)
        house.clock.ms = NOW_MS + 2 * DAY_MS
        with failing("flush"):
            house.dispatch()
        assert house.wake() == NOW_MS + 2 * DAY_MS + 5_000
        house.at(NOW_MS + DAY_MS)
        assert len(house.inbox()) == 1
        assert house.task(record).failures == 0


class TestFailures:
    def test_a_failed_delivery_leaves_nothing_and_is_tried_again_with_back_off(self, house):
        record = house.add()
        house.clock.ms = NOW_MS + HOUR_MS
        waits = []
        with failing("flush"):
            for _ in range(8):
                before = house.clock.ms
                house.dispatch(jitter=0.1)
                waits.append(house.wake() - before)
                house.clock.ms = house.wake()
        assert waits == [5_500, 11_000, 22_000, 44_000, 88_000, 176_000, 330_000, 330_000]
        assert house.inbox() == []
        assert Delivery.objects.count() == Receipt.objects.count() == 0
        undelivered = house.read(record)["undelivered"]
        assert undelivered["failures"] == 8
        assert "refused" in undelivered["reason"]
        found = house.call("GET", "/api/schedules?undelivered=true")
        assert [one["id"] for one in found["schedules"]] == [record["id"]]
        house.dispatch()
        assert len(house.inbox()) == 1
        assert house.read(record)["undelivered"] is None

    def test_it_blocks_no_other_session(self, house):
        house.add(title="Stuck")
        for number in range(3):
            house.add(title=f"Fine {number}", session=house.session(f"f{number}"))
        with failing("flush:s1"):
            house.at(NOW_MS + HOUR_MS)
        assert house.inbox("s1") == []
        assert all(len(house.inbox(f"f{number}")) == 1 for number in range(3))

    def test_the_members_of_a_group_that_keeps_failing_go_alone(self, house):
        bad, good = house.add(title="Bad"), house.add(title="Good")
        house.clock.ms = NOW_MS + HOUR_MS
        with failing(f"commit:{bad['id']}"):
            for _ in range(4):
                house.dispatch()
                house.clock.ms += 301_000
            assert [title for title, _, _ in house.told()] == ["Good"]
        assert house.task(good).failures == 0
        assert house.task(bad).failures == 4

    def test_even_when_no_failure_can_be_noted_the_others_go_on(self, house, monkeypatch):
        house.add(title="Stuck")
        house.add(title="Fine", session=house.session("f"))

        def broken(*args, **kwargs):
            raise OSError("the disk is full")

        monkeypatch.setattr(delivering, "note_failure", broken)
        house.clock.ms = NOW_MS + HOUR_MS
        with failing("flush:s1"), pytest.raises(OSError, match="the disk is full"):
            house.dispatch()
        assert len(house.inbox("f")) == 1

    def test_a_bad_row_is_left_alone_and_shown(self, house):
        bad, good = house.add(title="Bad"), house.add(title="Good")
        spoil(bad, "rule", '{"everySeconds":1}')
        house.at(NOW_MS + HOUR_MS)
        assert [title for title, _, _ in house.told()] == ["Good"]
        assert house.wake() == NOW_MS + 2 * HOUR_MS
        found = house.call("GET", "/api/schedules?undelivered=true")
        assert found["schedules"] == []
        assert "everySeconds" in found["beside"][bad["id"]]["quarantined"]
        assert house.read(bad)["record"] is None
        assert house.task(good).quarantined == ""


class TestPause:
    def test_what_is_paused_is_listed_and_never_due(self, house):
        record = house.add()
        house.options(record, paused=True)
        house.at(NOW_MS + 3 * HOUR_MS)
        assert house.inbox() == []
        assert house.wake() is None
        found = house.call("GET", house.path)
        assert found["schedules"] == [record]
        assert found["beside"][record["id"]]["state"] == "overdue"

    def test_resumed_it_delivers_the_slot_that_elapsed(self, house):
        record = house.add()
        house.options(record, paused=True)
        house.clock.ms = NOW_MS + 3 * HOUR_MS
        house.options(record, paused=False)
        assert house.read(record)["record"]["scheduledAt"] == iso(NOW_MS + HOUR_MS)
        house.dispatch()
        assert house.told() == [("Stand up", iso(NOW_MS + 3 * HOUR_MS), 2)]


class TestByHand:
    def test_run_now_sends_beside_the_rule(self, house):
        record = house.add(options={"max_runs": 1}, **HOURLY)
        for _ in range(2):
            answer = house.call("POST", f"{house.path}/{record['id']}/run")
            assert answer["record"] == record
        assert [payload["origin"] for payload in house.inbox()] == ["manual", "manual"]
        house.at(NOW_MS + HOUR_MS)
        assert len(house.inbox()) == 3
        page = house.call("GET", f"{house.path}/{record['id']}/deliveries?limit=10")
        assert [one["origin"] for one in page["records"]] == ["scheduled", "manual", "manual"]

    def test_skip_next_passes_over_one_and_the_history_says_so(self, house):
        record = house.add()
        answer = house.call("POST", f"{house.path}/{record['id']}/skip")
        assert answer["record"]["scheduledAt"] == iso(NOW_MS + 2 * HOUR_MS)
        house.at(NOW_MS + HOUR_MS)
        assert house.inbox() == []
        page = house.call("GET", f"{house.path}/{record['id']}/deliveries?limit=10")
        assert page["records"] == []
        assert [(one["outcome"], one["scheduledAt"]) for one in page["passed"]] == [("skipped", iso(NOW_MS + HOUR_MS))]

    def test_what_has_ended_runs_no_more(self, house):
        record = house.add(after_seconds=60)
        house.call("POST", f"{house.path}/{record['id']}/skip")
        assert house.task(record).status == "inactive"
        for verb in ("run", "skip"):
            answer = house.call("POST", f"{house.path}/{record['id']}/{verb}", status=409)
            assert answer["code"] == "schedule_ended"


class TestWindow:
    def test_records_beyond_the_window_hide_and_stay(self, house, settings):
        settings.SAYSO_DELIVERY_HISTORY_RECORDS = 3
        record = house.add()
        for hour in range(1, 6):
            house.at(NOW_MS + hour * HOUR_MS)
        page = house.call("GET", f"{house.path}/{record['id']}/deliveries?limit=10")
        assert [one["scheduledAt"] for one in page["records"]] == [iso(NOW_MS + n * HOUR_MS) for n in (5, 4, 3)]
        assert page["earlierRecordsPruned"]
        assert page["earlierRecordsUnavailable"]
        assert Delivery.objects.filter(hidden=True).count() == 2
        assert Receipt.objects.count() == 5

    def test_records_hide_by_their_age_when_the_next_is_written(self, house, settings):
        settings.SAYSO_DELIVERY_HISTORY_DAYS = 1
        record = house.add()
        for hour in (1, 2, 26):
            house.at(NOW_MS + hour * HOUR_MS)
        page = house.call("GET", f"{house.path}/{record['id']}/deliveries?limit=10")
        assert [one["scheduledAt"] for one in page["records"]] == [iso(NOW_MS + n * HOUR_MS) for n in (26, 2)]

    def test_pages_go_on_where_they_ended(self, house):
        record = house.add()
        for hour in range(1, 6):
            house.at(NOW_MS + hour * HOUR_MS)
        path = f"{house.path}/{record['id']}/deliveries?limit=2"
        first = house.call("GET", path)
        second = house.call("GET", f"{path}&before={first['nextBefore']}")
        third = house.call("GET", f"{path}&before={second['nextBefore']}")
        hours = [[one["scheduledAt"] for one in page["records"]] for page in (first, second, third)]
        assert hours == [[iso(NOW_MS + n * HOUR_MS) for n in some] for some in ((5, 4), (3, 2), (1,))]
        assert "nextBefore" not in third
        past = house.call("GET", f"{path}&before={third['records'][-1]['messageId']}")
        assert past["records"] == []
        assert house.call("GET", f"{path}&before=nothing", status=404) == {
            "code": "delivery_cursor_not_found",
            "detail": "The page of deliveries does not exist any more; read the newest again.",
            "id": record["id"],
        }


def test_what_the_tables_must_never_hold_is_refused(house):
    record = house.add()
    task = house.task(record)
    for change in ({"wake_ms": None}, {"paused": True}, {"status": "gone"}, {"last_message": "m"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Task.objects.filter(pk=task.pk).update(**change)
    Receipt.objects.create(task=task, occurrence_ms=1, delivered_ms=1, message_id="m")
    with pytest.raises(IntegrityError), transaction.atomic():
        Receipt.objects.create(task=task, occurrence_ms=1, delivered_ms=2, message_id="n")
    Receipt.objects.create(task=task, origin="manual", occurrence_ms=1, delivered_ms=2, message_id="n")
