"""Times of changed components: written in the form they had, and moved together when a series moves."""

from apps.calendars.rules.content_lines import ContentLine, parameter
from apps.calendars.rules.recurrence import WEEKDAYS, parse_rule, with_bound
from apps.calendars.rules.series import Series
from apps.calendars.rules.values import DAY_MS, TimeValue, parse_time
from apps.calendars.rules.zones import Zone


def form_of(*, all_day: bool, zone: str) -> TimeValue:
    """An empty value of the wanted form: a DATE, UTC, floating for "", or in a zone."""
    if all_day:
        return TimeValue(0, True, False, None)
    return TimeValue(0, False, zone == "UTC", zone if zone not in ("", "UTC") else None)


def value_at(*, instant_ms: int, form: TimeValue, zone: Zone) -> TimeValue:
    """The value of an instant in the form of another; whole seconds, for a DATE the day in `zone`."""
    wall = zone.to_wall(instant_ms - instant_ms % 1000)
    return form._replace(wall_ms=wall - wall % DAY_MS if form.is_date else wall)


def moved_values(*, series: Series, lines: list[ContentLine], form: TimeValue, delta_ms: int) -> list[TimeValue] | None:
    """EXDATE or RDATE values as the moved slots in the new form; None when there is nothing to rewrite.

    A PERIOD keeps its line as it is.
    """
    found = []
    for line in lines:
        tzid = parameter(line, name="TZID")
        for text in line.value.split(","):
            value = parse_time(text.strip(), tzid=tzid)
            if value is None:
                return None
            wall = series.slot_of(value).wall_ms + delta_ms
            found.append(form._replace(wall_ms=wall - wall % DAY_MS if form.is_date else wall))
    return found if lines else None


def moved_rule(value: str, *, old: TimeValue, new: TimeValue, delta_ms: int) -> str:
    """The rule of a series whose DTSTART moved: UNTIL moves along, and the weekdays of a weekly rule."""
    rule = parse_rule(value)
    days = new.wall_ms // DAY_MS - old.wall_ms // DAY_MS
    if rule.freq == "WEEKLY" and rule.byday and days % 7:
        names = ",".join(WEEKDAYS[(day + days) % 7] for _, day in rule.byday)
        parts = [f"BYDAY={names}" if part.upper().startswith("BYDAY=") else part for part in value.split(";")]
        value = ";".join(parts)
    if rule.until is None:
        return value
    until = rule.until
    if new.is_date or until.is_date:
        wall = until.wall_ms + days * DAY_MS
        return with_bound(value, until=TimeValue(wall - wall % DAY_MS, True, False, None))
    return with_bound(value, until=until._replace(wall_ms=until.wall_ms + delta_ms))
