"""A clock that is watched minute by minute: slow, plain, and without a line of the rules that it checks."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

MIN_MS = -62_135_596_800_000
MAX_MS = 253_402_300_799_999
MINUTE_MS = 60_000
DAY_MS = 86_400_000
FOUR_CENTURIES_MS = 146_097 * DAY_MS
MILLISECOND = timedelta(milliseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Longer than any clock was ever set back.
MEMORY_MS = 26 * 60 * MINUTE_MS


@cache
def zoneinfo(name):
    """Return a zone from the package, never from the machine."""
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@cache
def places():
    """List the names of zone.tab."""
    lines = resources.files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8").splitlines()
    return tuple(line.split("\t")[2] for line in lines if not line.startswith("#"))


def local(zone, instant_ms):
    """Return the wall clock; near both ends of the calendar it is read 400 years inwards, where all is the same."""
    if instant_ms < MIN_MS + FOUR_CENTURIES_MS:
        instant_ms += FOUR_CENTURIES_MS
    elif instant_ms > MAX_MS - FOUR_CENTURIES_MS:
        instant_ms -= FOUR_CENTURIES_MS
    return (EPOCH + timedelta(milliseconds=instant_ms)).astimezone(zone)


def offset_ms(zone, instant_ms):
    return local(zone, instant_ms).utcoffset() // MILLISECOND


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the wall clock must show: sets of numbers, weekdays from Sunday 0, and the rest of a minute."""

    minutes: frozenset
    hours: frozenset
    dates: frozenset
    months: frozenset
    weekdays: frozenset
    either_day: bool
    rest_ms: int = 0

    def shown_by(self, clock):
        by_date, by_week = clock.day in self.dates, clock.isoweekday() % 7 in self.weekdays
        return (
            clock.minute in self.minutes
            and clock.hour in self.hours
            and clock.month in self.months
            and (by_date or by_week if self.either_day else by_date and by_week)
        )


def first_after(zone, wanted, *, floor_ms, days):
    """Return the first instant after one, within some days, at which the clock shows what is wanted for the first time.

    The watch begins a good day earlier, to know what the clock has shown already.
    """
    begin, end = floor_ms - MEMORY_MS, floor_ms + days * DAY_MS
    phases = {-offset_ms(zone, at) % MINUTE_MS for at in range(begin, end + DAY_MS // 4, DAY_MS // 4)}
    beats = sorted((phase + wanted.rest_ms) % MINUTE_MS for phase in phases)
    seen = set()
    for minute in range(begin // MINUTE_MS, end // MINUTE_MS + 1):
        for beat in beats:
            instant = minute * MINUTE_MS + beat
            clock = local(zone, instant)
            shown = instant + clock.utcoffset() // MILLISECOND
            if shown % MINUTE_MS != wanted.rest_ms or shown in seen:
                continue
            seen.add(shown)
            if instant > floor_ms and wanted.shown_by(clock) and MIN_MS <= instant <= MAX_MS:
                return instant
    return None
