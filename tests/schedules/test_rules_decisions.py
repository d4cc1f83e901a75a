"""Decisions, and what options make of them."""

import pytest

from apps.schedules.rules.decisions import decide
from apps.schedules.rules.errors import CorruptScheduleLog, InvalidRule, TimeOutOfRange
from apps.schedules.rules.kinds import After, Cron, Daily, Every, Record
from apps.schedules.rules.options import Options, check_options, is_due, options_json, read_options
from apps.schedules.rules.outcomes import MOST_MESSAGES, outcome_of, skipped
from apps.schedules.rules.values import format_instant, parse_instant

HOURLY = Every(every_seconds=3600)
NINE = Daily(time_ms=9 * 3_600_000, time_zone="Europe/Berlin")


def ms(text):
    found = parse_instant(f"{text}:00.000Z")
    assert found is not None
    return found


def shown(instants):
    return [format_instant(instant)[:16] for instant in instants]


def record(rule, target):
    return Record(id="t", title="Title", prompt="Prompt", rule=rule, scheduled_ms=ms(target))


def outcome(rule, target, accepted, *, runs=0, **options):
    given = {"options": Options(**options), "runs": runs, "accepted_ms": ms(accepted)}
    return outcome_of(record(rule, target), **given)


def test_the_newest_occurrence_is_sent_and_the_others_are_counted():
    found = outcome(HOURLY, "2026-01-01T00:00", "2026-01-01T05:30")
    assert shown(found.sent_ms) == ["2026-01-01T05:00"]
    assert (found.missed, found.status) == (5, "active")
    assert found.record.scheduled_ms == ms("2026-01-01T06:00")


@pytest.mark.parametrize("rule", [HOURLY, Cron(expression="0 * * * *", time_zone="Europe/Berlin")])
def test_each_sends_every_occurrence(rule):
    found = outcome(rule, "2026-03-28T23:00", "2026-03-29T03:30", missed="each")
    assert shown(found.sent_ms) == [
        f"2026-03-{day}T{hour}:00" for day, hour in ((28, 23), (29, "00"), (29, "01"), (29, "02"), (29, "03"))
    ]
    assert (found.missed, found.record.scheduled_ms) == (0, ms("2026-03-29T04:00"))


@pytest.mark.parametrize("rule", [HOURLY, Cron(expression="0 * * * *", time_zone="UTC")])
def test_each_sends_a_hundred_at_most(rule):
    found = outcome(rule, "2026-01-01T00:00", "2026-01-11T00:00", missed="each")
    assert len(found.sent_ms) == MOST_MESSAGES
    assert found.missed == 241 - MOST_MESSAGES
    assert shown(found.sent_ms[-1:]) == ["2026-01-11T00:00"]


def test_skip_drops_what_is_older_than_the_grace():
    late = outcome(NINE, "2026-01-01T08:00", "2026-01-03T09:01", missed="skip")
    assert (late.sent_ms, late.missed, late.status) == ((), 3, "active")
    assert late.record.scheduled_ms == ms("2026-01-04T08:00")
    in_time = outcome(NINE, "2026-01-01T08:00", "2026-01-03T09:00", missed="skip")
    assert (shown(in_time.sent_ms), in_time.missed) == (["2026-01-03T08:00"], 2)


def test_skip_drops_a_late_reminder_that_happens_once():
    found = outcome(After(after_seconds=1), "2026-01-01T08:00", "2026-01-01T10:00", missed="skip", grace_s=60)
    assert (found.sent_ms, found.missed, found.status) == ((), 1, "inactive")


def test_nothing_is_due_after_the_end():
    found = outcome(HOURLY, "2026-01-01T00:00", "2026-01-01T05:30", until_ms=ms("2026-01-01T03:10"))
    assert (shown(found.sent_ms), found.missed, found.status) == (["2026-01-01T03:00"], 3, "inactive")
    assert found.record.scheduled_ms == ms("2026-01-01T03:00")
    before = outcome(HOURLY, "2026-01-01T00:00", "2026-01-01T02:30", until_ms=ms("2026-01-01T03:00"))
    assert (before.status, before.record.scheduled_ms) == ("active", ms("2026-01-01T03:00"))


def test_the_last_run_ends_the_task():
    assert outcome(HOURLY, "2026-01-01T00:00", "2026-01-01T00:00", max_runs=3, runs=1).status == "active"
    assert outcome(HOURLY, "2026-01-01T00:00", "2026-01-01T00:00", max_runs=3, runs=2).status == "inactive"
    each = outcome(HOURLY, "2026-01-01T00:00", "2026-01-01T05:00", max_runs=3, runs=1, missed="each")
    assert (shown(each.sent_ms), each.missed, each.status) == (["2026-01-01T04:00", "2026-01-01T05:00"], 4, "inactive")


def test_a_pinned_target_counts_once_and_takes_its_day():
    """The committed 00:30 stands although the rule says 23:00; on that day nothing more is due."""
    rule = Daily(time_ms=23 * 3_600_000, time_zone="UTC")
    found = outcome(rule, "2026-01-01T00:30", "2026-01-02T23:30", missed="each")
    assert shown(found.sent_ms) == ["2026-01-01T00:30", "2026-01-02T23:00"]
    latest = outcome(rule, "2026-01-01T00:30", "2026-01-02T23:30")
    assert (shown(latest.sent_ms), latest.missed) == (["2026-01-02T23:00"], 1)
    on_time = outcome(rule, "2026-01-01T00:30", "2026-01-01T00:30")
    assert on_time.record.scheduled_ms == ms("2026-01-02T23:00")


def test_skipping_the_next_one_sends_nothing_and_moves_on():
    found = skipped(record(NINE, "2026-01-02T08:00"), options=Options(), now_ms=ms("2026-01-01T12:00"))
    assert (found.sent_ms, found.settled_ms, found.missed) == ((), ms("2026-01-02T08:00"), 1)
    assert (found.status, found.record.scheduled_ms) == ("active", ms("2026-01-03T08:00"))
    once = skipped(record(After(after_seconds=9), "2026-01-02T08:00"), options=Options(), now_ms=ms("2026-01-01T12:00"))
    assert once.status == "inactive"


def test_a_decision_before_the_target_is_corrupt():
    with pytest.raises(CorruptScheduleLog):
        decide(record(HOURLY, "2026-01-01T00:00"), accepted_ms=ms("2026-01-01T00:00") - 1)


def test_a_rule_that_no_clock_shows_is_refused_quickly_and_a_stored_one_ends():
    # The second Sunday of March is when New York has no 02:30.
    rule = Cron(expression="30 2 8-14 3 */7", time_zone="America/New_York")
    found = decide(record(rule, "2026-03-08T07:30"), accepted_ms=ms("2026-03-08T07:30"))
    assert (found.occurrence_ms, found.next_ms) == (ms("2026-03-08T07:30"), None)


def test_a_paused_task_is_never_due_and_keeps_its_target():
    waiting = record(NINE, "2026-01-01T08:00")
    assert not is_due(waiting, options=Options(paused=True), now_ms=ms("2026-01-09T08:00"))
    assert is_due(waiting, options=Options(), now_ms=ms("2026-01-01T08:00"))
    assert not is_due(waiting, options=Options(), now_ms=ms("2026-01-01T07:59"))


class TestOptions:
    def test_they_are_put_over_what_is_known(self):
        known = read_options({"missed": "skip", "grace_s": 60.0, "until": "2027-01-01T01:00:00+01:00", "max_runs": 3})
        assert known == Options(missed="skip", grace_s=60, until_ms=ms("2027-01-01T00:00"), max_runs=3)
        assert read_options({"paused": True, "until": None}, base=known) == Options(
            missed="skip", grace_s=60, max_runs=3, paused=True
        )
        assert read_options(options_json(known)) == known

    @pytest.mark.parametrize(
        "value",
        [
            None,
            [],
            {"missed": "all"},
            {"missed": None},
            {"grace_s": -1},
            {"grace_s": True},
            {"until": 7},
            {"until": "2026-01-01"},
            {"max_runs": 0},
            {"max_runs": "3"},
            {"paused": 1},
            {"other": 1},
        ],
    )
    def test_others_are_refused(self, value):
        with pytest.raises(InvalidRule):
            read_options(value)

    def test_an_end_before_the_target_and_no_runs_left_are_refused(self):
        waiting = record(NINE, "2026-01-02T08:00")
        with pytest.raises(TimeOutOfRange):
            check_options(Options(until_ms=ms("2026-01-02T07:59")), record=waiting, runs=0)
        with pytest.raises(InvalidRule, match="more than the 2 runs"):
            check_options(Options(max_runs=2), record=waiting, runs=2)
        check_options(Options(max_runs=3, until_ms=ms("2026-01-02T08:00")), record=waiting, runs=2)
