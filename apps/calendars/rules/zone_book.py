"""Which zone a TZID means inside one object: its own VTIMEZONE, an IANA or Windows name, or the owner's zone."""

from typing import NamedTuple

from apps.calendars.rules.values import DAY_MS, MAX_WALL_MS, MIN_WALL_MS, TimeValue, civil
from apps.calendars.rules.vtimezone import agrees, definition_of
from apps.calendars.rules.zones import UTC_ZONE, Zone, iana_name, iana_zone, zone_without_definition


class Resolution(NamedTuple):
    """A zone, the import code that says why it was taken, and whether the object's own VTIMEZONE gives it."""

    zone: Zone
    code: str | None
    own: bool


class ZoneBook:
    """Zones of one object or file; `definitions` maps a TZID to the text of its VTIMEZONE."""

    def __init__(self, *, owner_zone: str, definitions: dict[str, str]) -> None:
        self.owner = iana_zone(owner_zone)
        self.definitions = definitions
        self._known: dict[tuple[str, int, int], Resolution] = {}

    def resolve(self, *, tzid: str, first_year: int, last_year: int) -> Resolution:
        """The zone of a TZID for values in those years."""
        key = (tzid, first_year, last_year)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._resolve(tzid, first_year, last_year)
        return found

    def _resolve(self, tzid: str, first_year: int, last_year: int) -> Resolution:
        text = self.definitions.get(tzid)
        definition = definition_of(text) if text is not None else None
        if text is not None and definition is not None:
            known = iana_name(tzid)
            if known is None:
                return Resolution(definition.zone, None, True)
            iana = iana_zone(known)
            same = agrees(text=text, other=iana, first_year=first_year, last_year=last_year)
            if same:
                return Resolution(iana, None, False)
            if not definition.complete:
                return Resolution(iana, "tz_partial_definition", False)
            return Resolution(definition.zone, "tz_redefined", True)
        found = zone_without_definition(tzid)
        if found is None:
            return Resolution(self.owner, "tz_unknown", False)
        return Resolution(found[0], found[1], False)

    def zone_of(self, value: TimeValue, *, first_year: int, last_year: int) -> Zone:
        """The zone in which a value is written."""
        if value.utc:
            return UTC_ZONE
        if value.is_date or value.tzid is None:
            return self.owner
        return self.resolve(tzid=value.tzid, first_year=first_year, last_year=last_year).zone


def year_of(wall_ms: int) -> int:
    """Year of a wall clock, held within 1 to 9999."""
    return civil(min(max(wall_ms, MIN_WALL_MS), MAX_WALL_MS - 1) // DAY_MS)[0]
