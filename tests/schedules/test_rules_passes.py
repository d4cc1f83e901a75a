"""Passes of delivery, and previews."""

import json
from pathlib import Path

import pytest

from apps.schedules.rules.errors import InvalidRule, InvalidSelector, InvalidTimeZone, TimeOutOfRange
from apps.schedules.rules.kinds import Cron
from apps.schedules.rules.options import Options
from apps.schedules.rules.outcomes import outcome_of
from apps.schedules.rules.passes import (
    Waiting,
    admitted,
    due_groups,
    next_wake_ms,
    retry_delay_ms,
    sleep_ms,
)
from apps.schedules.rules.patterns import pattern_of
from apps.schedules.rules.preview import preview_of
from apps.schedules.rules.tasks import read_task
from apps.schedules.rules.values import DAY_MS, format_instant, parse_instant
from apps.schedules.rules.walk import occurrences


def waiting(name, session, *, at, recurs=True, retry=None):
    return Waiting(task_id=name, session_id=session, recurs=recurs, scheduled_ms=at, retry_ms=retry)


class TestPasses:
    def test_recurring_tasks_of_a_session_go_together(self):
        tasks = [
            waiting("a", "one", at=5),
            waiting("b", "two", at=3),
            waiting("c", "one", at=1, recurs=False),
            waiting("d", "one", at=9),
            waiting("e", "one", at=10),
            waiting("f", "one", at=2, recurs=False),
        ]
        groups = due_groups(tasks, scan_ms=9)
        assert ["".join(task.task_id for task in group) for group in groups] == ["ad", "b", "c", "f"]
        assert [task.task_id for task in admitted(groups[0], decision_ms=8)] == ["a"]

    def test_a_failed_task_waits_and_holds_no_other(self):
        tasks = [waiting("a", "one", at=5, retry=20), waiting("b", "one", at=5)]
        assert [task.task_id for (task,) in due_groups(tasks, scan_ms=9)] == ["b"]
        assert next_wake_ms(tasks[:1], now_ms=9) == 20
        assert next_wake_ms([], now_ms=9) is None

    def test_a_clock_set_back_does_not_make_a_wait_longer(self):
        task = waiting("a", "one", at=5, retry=DAY_MS)
        assert task.is_due(now_ms=9)
        assert not task.is_due(now_ms=DAY_MS - 1)

    def test_waits_double_from_five_seconds_to_five_minutes(self):
        delays = [retry_delay_ms(failures=count, jitter=0.0) for count in (1, 2, 3, 6, 7, 8, 10_000)]
        assert delays == [5_000, 10_000, 20_000, 160_000, 300_000, 300_000, 300_000]
        assert retry_delay_ms(failures=1, jitter=0.2) == 6_000

    def test_a_sleep_is_never_longer_than_a_timer_allows(self):
        assert [sleep_ms(wake_ms=wake, now_ms=100) for wake in (50, 150, 2**40)] == [0, 50, 2**31 - 1]


def vectors():
    text = (Path(__file__).parent.parent / "vectors" / "schedules.json").read_text(encoding="utf-8")
    found = [vector for vector in json.loads(text) if vector["op"] == "drive"]
    return pytest.mark.parametrize("vector", found, ids=[vector["id"] for vector in found])


def failing(vector, group):
    kind, _, name = vector["input"].get("fail", "").partition(":")
    return kind != "" and (name == "" or name in [task.task_id for task in group])


@vectors()
def test_a_pass_plans_what_the_vectors_say(vector):
    """The same vectors run against the dispatcher elsewhere; here nothing is stored or sent."""
    given, expect = vector["input"], vector["expect"]
    scan = parse_instant(given["scanAt"])
    decision = parse_instant(given.get("decisionAt", given["scanAt"]))
    tasks = {task.record.id: task for task in map(read_task, given["tasks"])}
    after = {name: (task.record, task.status) for name, task in tasks.items()}
    retries, messages = {}, []
    for group in due_groups([seen(task) for task in tasks.values()], scan_ms=scan):
        if failing(vector, group):
            retries |= {task.task_id: decision + retry_delay_ms(failures=1, jitter=0.0) for task in group}
            continue
        sent = {}
        for member in admitted(group, decision_ms=decision):
            record = tasks[member.task_id].record
            found = outcome_of(record, options=Options(), runs=0, accepted_ms=decision)
            sent[record.id] = format_instant(found.sent_ms[0])
            after[record.id] = (found.record, found.status)
        if sent:
            form = "batch" if group[0].recurs else "single"
            messages.append({"sessionId": group[0].session_id, "form": form, "occurrences": sent})
    left = [
        seen(tasks[name], record, retries.get(name)) for name, (record, state) in after.items() if state == "active"
    ]
    wake = next_wake_ms(left, now_ms=decision)
    rows = {
        name: {"scheduledAt": format_instant(record.scheduled_ms), "status": state}
        for name, (record, state) in after.items()
    }
    timer = None if wake is None else format_instant(wake)
    assert {"messages": messages, "after": rows, "timerAt": timer} == expect


def seen(task, record=None, retry=None):
    record = record or task.record
    return waiting(record.id, task.session_id, at=record.scheduled_ms, recurs=record.recurs, retry=retry)


def preview(now, *, count=3, **selector):
    now_ms = parse_instant(f"{now}:00.000Z")
    return preview_of({**selector, "count": count}, now_ms=now_ms, time_zone="Asia/Tokyo")


class TestPreviews:
    def test_a_skipped_hour_is_told(self):
        found = preview("2026-03-07T12:00", daily={"time": "02:30:00", "time_zone": "US/Eastern"}, count=2)
        assert found.time_zone == "America/New_York"
        (first, second) = found.coming
        assert (first.local, first.offset_s) == ("2026-03-09T02:30:00.000", -4 * 3600)
        assert [(note.kind, note.local) for note in first.notes] == [("gap", "2026-03-08T02:30:00.000")]
        assert second.notes == ()

    def test_a_doubled_hour_is_told(self):
        found = preview("2026-10-31T12:00", daily={"time": "01:30:00", "time_zone": "America/New_York"}, count=2)
        assert [(one.local, one.offset_s, len(one.notes)) for one in found.coming] == [
            ("2026-11-01T01:30:00.000", -4 * 3600, 1),
            ("2026-11-02T01:30:00.000", -5 * 3600, 0),
        ]
        assert found.coming[0].notes[0].kind == "overlap"

    def test_many_skipped_times_are_counted(self):
        found = preview("2026-03-08T06:59", cron={"expression": "* 2 * * *", "time_zone": "America/New_York"}, count=1)
        assert (len(found.coming[0].notes), found.coming[0].more_notes) == (10, 50)

    def test_it_agrees_with_the_walk(self):
        rule = Cron(expression="*/15 * * * *", time_zone="Australia/Lord_Howe")
        for now in ("2026-04-04T12:00", "2026-10-03T12:00"):
            now_ms = parse_instant(f"{now}:00.000Z")
            walk = occurrences(pattern_of(rule), after_ms=now_ms)
            cron = {"expression": rule.expression, "time_zone": rule.time_zone}
            coming = preview(now, count=50, cron=cron).coming
            assert [one.at_ms for one in coming] == [at for at, _ in zip(walk, coming, strict=False)]

    def test_rules_without_a_zone_are_shown_in_the_viewers(self):
        found = preview("2026-01-01T00:00", every_seconds=3600, count=2)
        assert [one.local for one in found.coming] == ["2026-01-01T10:00:00.000", "2026-01-01T11:00:00.000"]
        once = preview("2026-01-01T00:00", after_seconds=60)
        assert [format_instant(one.at_ms) for one in once.coming] == ["2026-01-01T00:01:00.000Z"]

    @pytest.mark.parametrize(
        ("selector", "error"),
        [
            ({}, InvalidSelector),
            ({"at": "x", "every_seconds": 60}, InvalidSelector),
            ({"every_seconds": 60, "count": 0}, InvalidRule),
            ({"every_seconds": 60, "count": 51}, InvalidRule),
            ({"daily": {"time": "09:00:00", "time_zone": "CST"}}, InvalidTimeZone),
            ({"cron": {"expression": "0 0 30 2 *", "time_zone": "UTC"}}, TimeOutOfRange),
        ],
    )
    def test_it_answers_the_fault_that_creating_would(self, selector, error):
        with pytest.raises(error):
            preview("2026-01-01T00:00", **{"count": 5, **selector})
