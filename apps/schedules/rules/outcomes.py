"""What becomes of a due task under its options: which occurrences are sent, how many were missed, what is next."""

from __future__ import annotations

from dataclasses import dataclass

from apps.schedules.rules.decisions import check_due, due_count, latest_due, newest_due, next_target
from apps.schedules.rules.kinds import ACTIVE, INACTIVE, Record
from apps.schedules.rules.options import EACH, SKIP, Options

MOST_MESSAGES = 100
"""The most occurrences that `each` sends at once, the newest ones; the others count as missed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The occurrences to send, ascending (none when all are dropped), and the record afterwards.

    `settled_ms` is the newest occurrence that was dealt with; `missed` counts those that were not sent.
    """

    sent_ms: tuple[int, ...]
    settled_ms: int
    missed: int
    record: Record
    status: str


def outcome_of(record: Record, *, options: Options, runs: int, accepted_ms: int) -> Outcome:
    """Return what a due record delivers at an instant; `runs` is how many deliveries it has had."""
    check_due(record, accepted_ms=accepted_ms)
    # An end before the target leaves the target, which was committed before.
    ceiling = accepted_ms if options.until_ms is None else min(accepted_ms, options.until_ms)
    left = None if options.max_runs is None else max(1, options.max_runs - runs)
    if options.missed == EACH:
        most = MOST_MESSAGES if left is None else min(left, MOST_MESSAGES)
        sent = newest_due(record, until_ms=ceiling, limit=most)
        settled, missed = sent[-1], due_count(record, until_ms=ceiling) - len(sent)
    else:
        settled = latest_due(record, until_ms=ceiling)
        sent, missed = (settled,), _missed(record, settled_ms=settled)
        if options.missed == SKIP and accepted_ms - settled > options.grace_s * 1000:
            sent, missed = (), missed + 1
    return _outcome(
        record, options=options, sent_ms=sent, settled_ms=settled, missed=missed, left=left, accepted_ms=accepted_ms
    )


def skipped(record: Record, *, options: Options, now_ms: int) -> Outcome:
    """Return the outcome of passing over the target without a message; what was due before it counts as missed."""
    accepted = max(now_ms, record.scheduled_ms)
    check_due(record, accepted_ms=accepted)
    ceiling = accepted if options.until_ms is None else min(accepted, options.until_ms)
    settled = latest_due(record, until_ms=ceiling)
    missed = _missed(record, settled_ms=settled) + 1
    return _outcome(
        record, options=options, sent_ms=(), settled_ms=settled, missed=missed, left=None, accepted_ms=accepted
    )


def _missed(record: Record, *, settled_ms: int) -> int:
    """Count the occurrences from the target up to but without one."""
    return 0 if settled_ms == record.scheduled_ms else due_count(record, until_ms=settled_ms - 1)


def _outcome(
    record: Record,
    *,
    options: Options,
    sent_ms: tuple[int, ...],
    settled_ms: int,
    missed: int,
    left: int | None,
    accepted_ms: int,
) -> Outcome:
    target = next_target(record.rule, occurrence_ms=settled_ms, accepted_ms=accepted_ms)
    if options.until_ms is not None and target is not None and target > options.until_ms:
        target = None
    if left is not None and len(sent_ms) >= left:
        target = None
    return Outcome(
        sent_ms=sent_ms,
        settled_ms=settled_ms,
        missed=missed,
        record=record.moved(scheduled_ms=settled_ms if target is None else target),
        status=INACTIVE if target is None else ACTIVE,
    )
