"""The search along the wall clock: which instants a pattern has after and before another.

A local time stands for its earliest instant; what a gap skips does not happen, and what an overlap repeats happens
once. Dates whose clock runs evenly need arithmetic only, the others are resolved time by time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from apps.schedules.rules.patterns import Pattern
from apps.schedules.rules.values import CYCLE_DAYS, DAY_MS, MAX_MS, MIN_MS

_LAST_DAY = 2_932_897
"""10000-01-01, the last local date that may hold an instant of the year 9999."""
_NEAR_MS = 3 * DAY_MS
_ONE = (0,)


def occurrences(pattern: Pattern, *, after_ms: int, after_day: int | None = None) -> Iterator[int]:
    """Give the instants after one, and on local dates after `after_day` if there is one, ascending."""
    for start, times in _runs(pattern, after_ms=after_ms, after_day=after_day):
        for time in times:
            yield start + time


def next_occurrence(pattern: Pattern, *, after_ms: int, after_day: int | None = None) -> int | None:
    """Return the first instant after one, or None when the years or 400 years of dates are exhausted."""
    for start, times in _runs(pattern, after_ms=after_ms, after_day=after_day):
        return start + times[0]
    return None


def count_occurrences(pattern: Pattern, *, after_ms: int, before_ms: int, after_day: int | None = None) -> int:
    """Count the instants strictly between two."""
    count = 0
    for start, times in _runs(pattern, after_ms=after_ms, after_day=after_day, cycles=25):
        within = bisect_left(times, before_ms - start)
        count += within
        if within < len(times):
            break
    return count


def _runs(
    pattern: Pattern, *, after_ms: int, after_day: int | None, cycles: int = 1
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Give starts, each with the times to add to it; none of the lists is empty."""
    zone, times = pattern.zone, pattern.times
    last = max(after_ms, MIN_MS - 1)
    first_day = zone.day_of(after_ms)
    if after_day is not None and first_day <= after_day:
        first_day = after_day + 1
    near = last + _NEAR_MS
    quiet_from, quiet_to, offset = 0, -1, 0
    for day in pattern.days(first=first_day, last=min(first_day + cycles * CYCLE_DAYS, _LAST_DAY)):
        base = day * DAY_MS
        if not quiet_from <= base <= quiet_to:
            quiet_from, quiet_to, offset = zone.quiet(base)
            quiet_to = min(quiet_to, MAX_MS - _NEAR_MS) - DAY_MS
        if quiet_from <= base <= quiet_to:
            start = base - offset
            if base > near:
                yield start, times
            elif last - start < times[-1]:
                yield start, times[bisect_right(times, last - start) :]
            continue
        for time in times[bisect_right(times, last + zone.least_offset_ms - base) :]:
            found = zone.resolve(base + time)
            if found is not None and found > last:
                if found > MAX_MS:
                    return
                last = found
                near = last + _NEAR_MS
                yield found, _ONE


def occurrences_back(pattern: Pattern, *, until_ms: int, not_before_ms: int) -> Iterator[int]:
    """Give the instants up to and with one, descending, down to and with another or for 400 years of dates."""
    zone, times = pattern.zone, pattern.times
    lowest = max(not_before_ms, MIN_MS)
    last_day = until_ms // DAY_MS + 1
    first_day = max(last_day - CYCLE_DAYS, lowest // DAY_MS - 2)
    ceiling = until_ms + 1
    for day in pattern.days_back(first=first_day, last=last_day):
        base = day * DAY_MS
        quiet_from, quiet_to, offset = zone.quiet(base)
        if quiet_from <= base <= quiet_to - DAY_MS:
            start = base - offset
            for time in reversed(times[: bisect_left(times, ceiling - start)]):
                ceiling = start + time
                if ceiling < lowest:
                    return
                yield ceiling
            continue
        for time in reversed(times[: bisect_left(times, ceiling + zone.largest_offset_ms - base)]):
            found = zone.resolve(base + time)
            if found is not None and found < ceiling:
                if found < lowest:
                    return
                ceiling = found
                yield found


def latest_occurrence(pattern: Pattern, *, until_ms: int, not_before_ms: int) -> int | None:
    """Return the last instant up to and with one, or None when there is none since another."""
    return next(occurrences_back(pattern, until_ms=until_ms, not_before_ms=not_before_ms), None)
