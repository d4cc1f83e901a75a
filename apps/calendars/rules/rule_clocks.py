"""The times of day of a rule's instances, as hours, minutes and seconds that are never multiplied out when many."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from apps.calendars.rules.values import SECOND_MS

# Up to one for each minute of a day is kept as a list; BY lists may stand for 86,400.
_MOST_FLAT = 1440


class Clocks:
    """Milliseconds since the beginning of a day (or of an hour, with `hours` of just 0) in order, each once."""

    def __init__(self, *, hours: tuple[int, ...], minutes: tuple[int, ...], seconds: tuple[int, ...]) -> None:
        self.hours, self.minutes, self.seconds = hours, minutes, seconds
        self.size = len(hours) * len(minutes) * len(seconds)
        self.first = self._at(0) if self.size else 0
        self.last = self._at(self.size - 1) if self.size else 0
        self._flat = tuple(self._at(place) for place in range(self.size)) if self.size <= _MOST_FLAT else ()

    def _at(self, place: int) -> int:
        rest, second = divmod(place, len(self.seconds))
        hour, minute = divmod(rest, len(self.minutes))
        return (self.hours[hour] * 3600 + self.minutes[minute] * 60 + self.seconds[second]) * SECOND_MS

    def __getitem__(self, place: int) -> int:
        """Return the clock at a place from 0."""
        return self._flat[place] if self._flat else self._at(place)

    def below(self, ms: int) -> int:
        """Return how many clocks lie before a time of day."""
        if ms <= self.first:
            return 0
        if ms > self.last:
            return self.size
        if self._flat:
            return bisect_left(self._flat, ms)
        whole = -(-ms // SECOND_MS)
        hour, minute, second = whole // 3600, whole // 60 % 60, whole % 60
        found = bisect_left(self.hours, hour) * len(self.minutes) * len(self.seconds)
        if hour in self.hours:
            found += bisect_left(self.minutes, minute) * len(self.seconds)
            if minute in self.minutes:
                found += bisect_left(self.seconds, second)
        return found

    def since(self, ms: int) -> Iterator[int]:
        """Yield the clocks from a time of day on."""
        first = self.below(ms)
        if self._flat:
            return iter(self._flat[first:] if first else self._flat)
        return (self._at(place) for place in range(first, self.size))

    def __contains__(self, ms: object) -> bool:
        """Tell whether a time of day is one of the clocks."""
        if not isinstance(ms, int) or not self.size:
            return False
        place = self.below(ms)
        return place < self.size and self[place] == ms
