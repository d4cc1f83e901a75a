"""Making and changing events and to-dos; what a change does not name stays as it was, unknown properties included."""

from collections.abc import Iterable, Mapping

from apps.calendars.rules.components import Kind, StoredObject
from apps.calendars.rules.content_lines import Component, escape_text, quoted_parameter, split_line
from apps.calendars.rules.edit_times import moved_times
from apps.calendars.rules.limits import InvalidTime, NoSuchOccurrence
from apps.calendars.rules.object_edit import ObjectLines, time_line, touched, with_added_line, with_line, without
from apps.calendars.rules.object_text import object_text
from apps.calendars.rules.placements import Placement, find_placement, read_slot, slot_text, slot_value
from apps.calendars.rules.recurrence import parse_rule
from apps.calendars.rules.series import Series, read_object
from apps.calendars.rules.values import TimeValue, basic_text
from apps.calendars.rules.zones import iana_zone

Changes = Mapping[str, object]

_TEXTS = {"title": "SUMMARY", "location": "LOCATION", "notes": "DESCRIPTION"}
_FIELDS = frozenset((*_TEXTS, "start_ms", "end_ms", "due_ms", "all_day", "zone", "alarm_minutes", "priority", "status",
                     "completed", "completed_ms", "rrule", "transparent", "start_date", "end_date", "due_date"))  # fmt: skip


def time_value(*, instant_ms: int | None, date: str | None, zone: str, owner_zone: str) -> TimeValue:
    """A value for an instant in a zone ("" is floating, "UTC" ends in Z), or for a date; raises InvalidTime."""
    if date is not None:
        value = slot_value(date)
        if value is None or not value.is_date:
            raise InvalidTime
        return value
    if instant_ms is None:
        raise InvalidTime
    try:
        known = iana_zone(zone or owner_zone)
    except KeyError as error:
        raise InvalidTime from error
    wall = known.to_wall(instant_ms - instant_ms % 1000)
    if known.name == "UTC" and zone:
        return TimeValue(wall, False, True, None)
    return TimeValue(wall, False, False, zone or None)
