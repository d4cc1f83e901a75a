"""What a due task delivers, and what comes next: the newest occurrence only, never the same local date twice."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from apps.schedules.rules.errors import CorruptScheduleLog
from apps.schedules.rules.kinds import After, At, Cron, Every, Record, Rule, WallRule
from apps.schedules.rules.patterns import pattern_of
from apps.schedules.rules.values import MAX_MS, in_range
from apps.schedules.rules.walk import (
    count_occurrences,
    latest_occurrence,
    next_occurrence,
    occurrences_back,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """The occurrence that is delivered, and the next target unless the task ends."""

    occurrence_ms: int
    next_ms: int | None


def decide(record: Record, *, accepted_ms: int) -> Decision:
    """Return what a due record delivers at an instant; raises CorruptScheduleLog when it is not due."""
    check_due(record, accepted_ms=accepted_ms)
    occurrence = latest_due(record, until_ms=accepted_ms)
    return Decision(
        occurrence_ms=occurrence,
        next_ms=next_target(record.rule, occurrence_ms=occurrence, accepted_ms=accepted_ms),
    )


def check_due(record: Record, *, accepted_ms: int) -> None:
    """Refuse a decision outside the years 1 to 9999 or before the target."""
    if not in_range(accepted_ms) or accepted_ms < record.scheduled_ms:
        raise CorruptScheduleLog("The decision lies before the target of the schedule, or outside the years 1 to 9999")


def latest_due(record: Record, *, until_ms: int) -> int:
    """Return the newest occurrence up to an instant; the committed target stands even against today's rules."""
    committed, rule = record.scheduled_ms, record.rule
    if until_ms <= committed or isinstance(rule, After | At):
        return committed
    if isinstance(rule, Every):
        step = rule.every_seconds * 1000
        return committed + (until_ms - committed) // step * step
    found = latest_occurrence(pattern_of(rule), until_ms=until_ms, not_before_ms=committed)
    return committed if found is None else max(found, committed)


def next_target(rule: Rule, *, occurrence_ms: int, accepted_ms: int) -> int | None:
    """Return the target after a delivered occurrence, strictly after the decision, or None at the end."""
    if isinstance(rule, After | At):
        return None
    if isinstance(rule, Every):
        target = occurrence_ms + rule.every_seconds * 1000
        return target if target <= MAX_MS else None
    after_day = _delivered_day(rule, occurrence_ms=occurrence_ms)
    return next_occurrence(pattern_of(rule), after_ms=accepted_ms, after_day=after_day)


def first_target(rule: WallRule, *, now_ms: int) -> int | None:
    """Return the first occurrence of a rule of the wall clock strictly after an instant."""
    return next_occurrence(pattern_of(rule), after_ms=now_ms)


def due_count(record: Record, *, until_ms: int) -> int:
    """Count the occurrences from the target up to and with an instant; the target counts itself."""
    rule, committed = record.rule, record.scheduled_ms
    if until_ms <= committed or isinstance(rule, After | At):
        return 1
    if isinstance(rule, Every):
        return 1 + (until_ms - committed) // (rule.every_seconds * 1000)
    after_day = _delivered_day(rule, occurrence_ms=committed)
    pattern = pattern_of(rule)
    return 1 + count_occurrences(pattern, after_ms=committed, before_ms=until_ms + 1, after_day=after_day)


def newest_due(record: Record, *, until_ms: int, limit: int) -> tuple[int, ...]:
    """Return the newest occurrences from the target up to and with an instant, ascending."""
    rule, committed = record.rule, record.scheduled_ms
    due = due_count(record, until_ms=until_ms)
    count = min(limit, due)
    if isinstance(rule, After | At):
        return (committed,)
    if isinstance(rule, Every):
        newest = latest_due(record, until_ms=until_ms)
        step = rule.every_seconds * 1000
        return tuple(range(newest - (count - 1) * step, newest + 1, step))
    back = occurrences_back(pattern_of(rule), until_ms=until_ms, not_before_ms=committed + 1)
    found = list(islice(back, min(count, due - 1)))
    return tuple(reversed([*found, committed] if count == due else found))


def _delivered_day(rule: WallRule, *, occurrence_ms: int) -> int | None:
    """Return the local date on which nothing more is delivered; a cron rule has none."""
    return None if isinstance(rule, Cron) else pattern_of(rule).zone.day_of(occurrence_ms)
