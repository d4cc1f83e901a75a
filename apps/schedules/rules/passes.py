"""One pass of delivery: which tasks go together, which are admitted, when to try again, when to wake."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FIRST_RETRY_MS = 5_000
LONGEST_RETRY_MS = 300_000
LONGEST_SLEEP_MS = 2**31 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """An active task that is not paused; `retry_ms` is when a failed delivery may be tried again."""

    task_id: str
    session_id: str
    recurs: bool
    scheduled_ms: int
    retry_ms: int | None = None

    def is_due(self, *, now_ms: int) -> bool:
        """Tell whether the target is reached and no back-off holds the task."""
        return self.wake_ms(now_ms=now_ms) <= now_ms

    def wake_ms(self, *, now_ms: int) -> int:
        """Return when the task asks for a pass; a back-off that a clock set back made too long does not count."""
        if self.retry_ms is None or self.retry_ms > now_ms + 2 * LONGEST_RETRY_MS:
            return self.scheduled_ms
        return max(self.scheduled_ms, self.retry_ms)


def due_groups(tasks: Iterable[Waiting], *, scan_ms: int) -> list[tuple[Waiting, ...]]:
    """Return the due tasks as messages: the recurring ones of a session together, each other one alone.

    Tasks come in storage order; groups go in the order of their first members.
    """
    groups: dict[tuple[str, str], list[Waiting]] = {}
    for task in tasks:
        if task.is_due(now_ms=scan_ms):
            groups.setdefault((task.session_id, "" if task.recurs else task.task_id), []).append(task)
    return [tuple(members) for members in groups.values()]


def admitted(group: Iterable[Waiting], *, decision_ms: int) -> tuple[Waiting, ...]:
    """Return the members that are still due when the decision is made; a clock may have been set back."""
    return tuple(task for task in group if task.scheduled_ms <= decision_ms)


def retry_delay_ms(*, failures: int, jitter: float) -> int:
    """Return how long to wait after some failures in a row: 5 s doubling to 5 min, and a share `jitter` of it more."""
    delay = min(FIRST_RETRY_MS << min(failures - 1, 16), LONGEST_RETRY_MS)
    return delay + int(delay * jitter)


def next_wake_ms(tasks: Iterable[Waiting], *, now_ms: int) -> int | None:
    """Return when the next pass is wanted, or None when nothing waits."""
    return min((task.wake_ms(now_ms=now_ms) for task in tasks), default=None)


def sleep_ms(*, wake_ms: int, now_ms: int) -> int:
    """Return how long to sleep until a wake; the clock is looked at again afterwards."""
    return min(max(0, wake_ms - now_ms), LONGEST_SLEEP_MS)
