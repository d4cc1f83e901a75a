"""Time zones as tables of spans with one offset each; offsets come from `zoneinfo` over the `tzdata` package."""

from __future__ import annotations

import struct
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from io import BytesIO
from threading import Lock
from typing import NamedTuple
from zoneinfo import ZoneInfo

from apps.schedules.rules.values import CYCLE_MS, DAY_MS, HOUR_MS, MAX_MS, MIN_MS, date_of, first_day_of
from apps.schedules.rules.zone_names import read_data, zone_name

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EVER_MS = 10**17
_LARGEST_OFFSET_MS = 26 * HOUR_MS


class Span(NamedTuple):
    """A time with one offset: `start_ms <= instant < end_ms`."""

    start_ms: int
    end_ms: int
    offset_ms: int


class Zone:
    """One time zone; instants and wall-clock times are integer milliseconds, the latter as if they were UTC."""

    def __init__(self, name: str) -> None:
        """Read the changes that the data list; what their closing rule says of later years is worked out when asked."""
        self.name = name
        data = read_data("zoneinfo", *name.split("/"))
        self._info = ZoneInfo.from_file(BytesIO(data), key=name)
        changes, closing_rule = _changes(data)
        self._starts = [-_EVER_MS]
        self._offsets = [self._ask(changes[0] - 1 if changes else 0)]
        self._quiet_from = [-_EVER_MS]
        self._reach = -_EVER_MS
        self._add(changes)
        self._growing = Lock()
        self._known_until_ms = self._repeats_from_ms = _EVER_MS
        if "," in closing_rule:
            last_year = date_of(changes[-1] // DAY_MS)[0]
            # The closing rule begins in the year of the last change; from two years later on, it is all there is.
            self._year = last_year - 1
            self._repeats_from_ms = first_day_of(last_year + 2) * DAY_MS
            self._known_until_ms = -_EVER_MS
            self._grow(self._repeats_from_ms)
        self.least_offset_ms, self.largest_offset_ms = min(self._offsets), max(self._offsets)

    def span(self, instant_ms: int) -> Span:
        """Return the span that holds an instant."""
        cycles = self._cycles_ms(instant_ms)
        starts = self._starts
        place = bisect_right(starts, instant_ms - cycles)
        end = starts[place] if place < len(starts) else _EVER_MS
        return Span(starts[place - 1] + cycles, end + cycles, self._offsets[place - 1])

    def offset_ms(self, instant_ms: int) -> int:
        """Return how far the wall clock is ahead of UTC."""
        return self._offsets[bisect_right(self._starts, instant_ms - self._cycles_ms(instant_ms)) - 1]

    def day_of(self, instant_ms: int) -> int:
        """Return the number of the local date."""
        return (instant_ms + self.offset_ms(instant_ms)) // DAY_MS

    def instants(self, wall_ms: int) -> tuple[int, ...]:
        """Return the instants at which the wall clock shows a time: none in a gap, two in an overlap, ascending."""
        found = []
        span = self.span(wall_ms - _LARGEST_OFFSET_MS)
        while span.start_ms <= wall_ms + _LARGEST_OFFSET_MS:
            instant = wall_ms - span.offset_ms
            if span.start_ms <= instant < span.end_ms:
                found.append(instant)
            if span.end_ms >= _EVER_MS:
                break
            span = self.span(span.end_ms)
        return tuple(found)

    def resolve(self, wall_ms: int) -> int | None:
        """Return the earliest instant at which the wall clock shows a time, or None in a gap."""
        start, end, offset = self.quiet(wall_ms)
        if start <= wall_ms < end:
            return wall_ms - offset
        found = self.instants(wall_ms)
        return found[0] if found else None

    def quiet(self, wall_ms: int) -> tuple[int, int, int]:
        """Return from, to and offset of the last stretch of wall-clock times that begins at or before one.

        Each time of a stretch, `from <= wall < to`, has its earliest instant at `wall - offset`. Between stretches are
        gaps, and what has to be resolved.
        """
        cycles = self._cycles_ms(wall_ms - _LARGEST_OFFSET_MS)
        place = bisect_right(self._quiet_from, wall_ms - cycles) - 1
        return self._quiet_from[place] + cycles, self._quiet_to(place) + cycles, self._offsets[place]

    def _quiet_to(self, place: int) -> int:
        end = self._starts[place + 1] if place + 1 < len(self._starts) else _EVER_MS
        return end + self._offsets[place]

    def _cycles_ms(self, instant_ms: int) -> int:
        """Return by how many times 400 years an instant lies beyond the table, which is made to reach far enough."""
        if instant_ms < self._known_until_ms:
            return 0
        cycles = max(0, instant_ms - self._repeats_from_ms) // CYCLE_MS * CYCLE_MS
        self._grow(instant_ms - cycles + 2 * _LARGEST_OFFSET_MS)
        return cycles

    def _add(self, changes: list[int]) -> None:
        for change in changes:
            offset = self._ask(change)
            if offset != self._offsets[-1]:
                # The wall clock has shown everything before.
                self._reach = max(self._reach, change + self._offsets[-1])
                self._offsets.append(offset)
                self._quiet_from.append(max(change + offset, self._reach))
                self._starts.append(change)

    def _grow(self, until_ms: int) -> None:
        """Work out the closing rule for the years up to one after an instant."""
        while self._known_until_ms <= until_ms:
            with self._growing:
                self._year += 1
                last = self._starts[-1]
                self._add([change for change in self._changes_in(self._year) if change > last])
                self._known_until_ms = first_day_of(self._year) * DAY_MS - 2 * DAY_MS

    def _changes_in(self, year: int) -> list[int]:
        """Find the two changes of a closing rule, which lie more than a month apart."""
        start = first_day_of(year) * DAY_MS
        marks = [start + month * 30 * DAY_MS for month in range(13)] + [first_day_of(year + 1) * DAY_MS]
        offsets = [self._ask(mark) for mark in marks]
        found = []
        for place in range(13):
            if offsets[place] != offsets[place + 1]:
                low, high = marks[place], marks[place + 1]
                while high - low > 1000:
                    middle = (low + high) // 2000 * 1000
                    low, high = (middle, high) if self._ask(middle) == offsets[place] else (low, middle)
                found.append(high)
        return found

    def _ask(self, instant_ms: int) -> int:
        offset = (_EPOCH + timedelta(milliseconds=instant_ms)).astimezone(self._info).utcoffset()
        assert offset is not None
        return (offset.days * 86_400 + offset.seconds) * 1000


def _changes(data: bytes) -> tuple[list[int], str]:
    """Return when the offset changes by the list of a compiled zone file (RFC 9636, version 2 and up), and its rule."""
    counts = struct.Struct(">6l")
    utc, standard, leap, times, types, letters = counts.unpack_from(data, 20)
    at = 44 + utc + standard + leap * 8 + times * 5 + types * 6 + letters
    utc, standard, leap, times, types, letters = counts.unpack_from(data, at + 20)
    at += 44
    changes = [second * 1000 for second in struct.unpack_from(f">{times}q", data, at)]
    at += times * 9 + types * 6 + letters + leap * 12 + standard + utc
    return [change for change in changes if MIN_MS < change < MAX_MS], data[at:].decode("ascii").strip("\n")


@lru_cache(maxsize=2048)
def zone_of(name: str) -> Zone:
    """Return a zone by any accepted name; raises InvalidTimeZone."""
    return _zone(zone_name(name))


@cache
def _zone(name: str) -> Zone:
    return Zone(name)
