"""Names of time zones: which are accepted, and which spelling is stored. All data are those of the `tzdata` package."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

from apps.schedules.rules.errors import InvalidTimeZone

UTC = "UTC"
_SHAPE = re.compile(r"[A-Za-z][A-Za-z0-9_+.-]*(?:/[A-Za-z0-9_+.-]+)+")
_UTC_NAMES = frozenset(
    f"Etc/{name}" for name in ("UTC", "GMT", "GMT0", "GMT+0", "GMT-0", "UCT", "Zulu", "Universal", "Greenwich")
)
_LONGEST = 64
# The data link these to places in other countries.
_SAME_COUNTRY = {
    "Africa/Asmera": "Africa/Asmara",
    "Africa/Timbuktu": "Africa/Bamako",
    "America/Coral_Harbour": "America/Atikokan",
    "America/Virgin": "America/St_Thomas",
    "Antarctica/South_Pole": "Antarctica/McMurdo",
    "Atlantic/Jan_Mayen": "Arctic/Longyearbyen",
    "Pacific/Ponape": "Pacific/Pohnpei",
    "Pacific/Truk": "Pacific/Chuuk",
    "Pacific/Yap": "Pacific/Chuuk",
}


def zone_name(value: object) -> str:
    """Return the name of a time zone as the database spells it, aliases kept; raises InvalidTimeZone."""
    found = _find(value) if isinstance(value, str) and len(value) <= _LONGEST else None
    if found is None:
        raise InvalidTimeZone
    return found


def canonical_zone(value: object) -> str:
    """Return the name under which a time zone is stored and compared; raises InvalidTimeZone."""
    return _canonical(zone_name(value))


@lru_cache(maxsize=2048)
def _find(text: str) -> str | None:
    if text == UTC:
        return UTC
    return _known().get(text.lower()) if _SHAPE.fullmatch(text) else None


@lru_cache(maxsize=1024)
def _canonical(name: str) -> str:
    links, places = _links(), _places()
    found = name
    while True:
        if found in _UTC_NAMES:
            return UTC
        if found in places:
            return found
        target = _SAME_COUNTRY.get(found) or links.get(found)
        if target is None:
            return found
        found = target


def read_data(*names: str) -> bytes:
    """Return a file of the `tzdata` package; the copy of the operating system is never asked."""
    return resources.files("tzdata").joinpath(*names).read_bytes()


@lru_cache(maxsize=1)
def _known() -> dict[str, str]:
    names = read_data("zones").decode().split()
    return {name.lower(): name for name in names if "/" in name and not name.startswith(("posix/", "right/"))}


@lru_cache(maxsize=1)
def _places() -> frozenset[str]:
    lines = read_data("zoneinfo", "zone.tab").decode().splitlines()
    return frozenset(line.split("\t")[2] for line in lines if line and not line.startswith("#"))


@lru_cache(maxsize=1)
def _links() -> dict[str, str]:
    lines = (line.split() for line in read_data("zoneinfo", "tzdata.zi").decode().splitlines())
    return {words[2]: words[1] for words in lines if len(words) == 3 and words[0] == "L"}
