"""Time zones as functions between wall clocks and instants, and the reading of a TZID that the file does not define.

Rules come from the pinned `tzdata` package rather than the machine, so two installations agree.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib import resources
from typing import Protocol
from zoneinfo import ZoneInfo

from apps.calendars.rules.values import DAY_MS, MAX_WALL_MS, MIN_WALL_MS
from apps.calendars.rules.windows_zones import WINDOWS_ZONES

_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)
_BLOCK_MS = 8 * DAY_MS
_MAX_CACHED_BLOCKS = 40_000
# No zone ever changed twice, there and back, between two of these.
_SAMPLES_MS = tuple(range(0, _BLOCK_MS + 1, DAY_MS))


class Zone(Protocol):
    """A zone of whatever source; a missing wall time takes the offset before the gap, a double one its first pass."""

    name: str

    def to_utc(self, wall_ms: int) -> int:
        """Instant of a wall clock."""

    def to_wall(self, utc_ms: int) -> int:
        """Wall clock of an instant."""

    def offsets_near(self, utc_ms: int) -> tuple[int, int]:
        """The least and the largest offset within two days of an instant."""

    def __hash__(self) -> int:
        """Zones are told apart by identity."""


class UtcZone:
    """Coordinated Universal Time."""

    name = "UTC"

    def to_utc(self, wall_ms: int) -> int:
        """The same number."""
        return wall_ms

    def to_wall(self, utc_ms: int) -> int:
        """The same number."""
        return utc_ms

    def offsets_near(self, utc_ms: int) -> tuple[int, int]:
        """None at all."""
        return 0, 0


class IanaZone:
    """A zone of the IANA database, with the offset of quiet weeks remembered."""

    def __init__(self, *, name: str) -> None:
        self.name = name
        self.info = load_zoneinfo(name)
        self._quiet: dict[int, int | None] = {}

    def to_utc(self, wall_ms: int) -> int:
        """Instant of a wall clock."""
        block = wall_ms // _BLOCK_MS
        offset = self._quiet.get(block, -1)
        if offset == -1:
            offset = self._learn(block)
        if offset is None:
            offset = self._offset_at_wall(wall_ms)
        return wall_ms - offset

    def to_wall(self, utc_ms: int) -> int:
        """Wall clock of an instant."""
        return utc_ms + _milliseconds(self._at(utc_ms).utcoffset())

    def offsets_near(self, utc_ms: int) -> tuple[int, int]:
        """The least and the largest offset within two days of an instant."""
        offsets = [_milliseconds(self._at(utc_ms + days * DAY_MS).utcoffset()) for days in (-2, -1, 0, 1, 2)]
        return min(offsets), max(offsets)

    def name_at(self, utc_ms: int) -> str:
        """Abbreviation of the zone at an instant, such as CEST."""
        return self._at(utc_ms).tzname() or ""

    def is_summer_at(self, utc_ms: int) -> bool:
        """Whether summer time holds; where the data calls winter the exception (Ireland), its other half is summer."""
        saved = _milliseconds(self._at(utc_ms).dst())
        if saved:
            return saved > 0
        half_year = 182 * DAY_MS
        return any(_milliseconds(self._at(utc_ms + step).dst()) < 0 for step in (-half_year, half_year))

    def _at(self, utc_ms: int) -> datetime:
        inside = min(max(utc_ms, MIN_WALL_MS + DAY_MS), MAX_WALL_MS - 2 * DAY_MS)
        return (_EPOCH_UTC + timedelta(milliseconds=inside)).astimezone(self.info)

    def _learn(self, block: int) -> int | None:
        offsets = {self._offset_at_wall(block * _BLOCK_MS + sample) for sample in _SAMPLES_MS}
        known = offsets.pop() if len(offsets) == 1 else None
        if len(self._quiet) >= _MAX_CACHED_BLOCKS:
            self._quiet.clear()
        self._quiet[block] = known
        return known

    def _offset_at_wall(self, wall_ms: int) -> int:
        inside = min(max(wall_ms, MIN_WALL_MS), MAX_WALL_MS - 1)
        return _milliseconds((_EPOCH_UTC + timedelta(milliseconds=inside)).replace(tzinfo=self.info).utcoffset())


def _milliseconds(offset: timedelta | None) -> int:
    assert offset is not None
    return (offset.days * 86_400 + offset.seconds) * 1000


UTC_ZONE = UtcZone()


@lru_cache(maxsize=1)
def _iana_names() -> dict[str, str]:
    text = resources.files("tzdata").joinpath("zones").read_text(encoding="utf-8")
    return {name.lower(): name for name in text.split()}


def iana_name(name: str) -> str | None:
    """The IANA name as the database spells it, or None."""
    return _iana_names().get(name.strip().lower())


def tzif_octets(name: str) -> bytes:
    """The TZif data of an IANA name."""
    return resources.files("tzdata.zoneinfo").joinpath(*name.split("/")).read_bytes()


def load_zoneinfo(name: str) -> ZoneInfo:
    """The zone of the pinned `tzdata`; raises KeyError for a name it does not have."""
    known = _iana_names()[name.lower()]
    with resources.files("tzdata.zoneinfo").joinpath(*known.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=known)


@lru_cache(maxsize=1024)
def iana_zone(name: str) -> Zone:
    """The zone of an IANA name; raises KeyError."""
    known = _iana_names()[name.lower()]
    if known in ("UTC", "Etc/UTC"):
        return UTC_ZONE
    return IanaZone(name=known)


@lru_cache(maxsize=1024)
def zone_without_definition(tzid: str) -> tuple[Zone, str | None] | None:
    """Zone of a TZID that no VTIMEZONE defines, with its warning code, or None when nothing knows it.

    Source: the IANA names, the same after a vendor's prefix is taken off, then the Windows names of CLDR.
    """
    candidates = [tzid.strip()]
    parts = candidates[0].split("/")
    if parts[0] == "" or "." in parts[0] or "://" in tzid:
        candidates += ["/".join(parts[index:]) for index in range(1, len(parts))]
    for candidate in candidates:
        known = iana_name(candidate)
        if known is not None:
            return iana_zone(known), None
    for candidate in candidates:
        windows = WINDOWS_ZONES.get(candidate.lower())
        if windows is not None:
            return iana_zone(windows), "tz_windows_name"
    return None
