"""The import codes that need the whole series: zones, exclusions, overrides, a DTSTART outside its rule."""

from apps.calendars.rules.parts import Part
from apps.calendars.rules.reading import Note, Reading
from apps.calendars.rules.series import Series
from apps.calendars.rules.values import TimeValue, basic_text


class Budget:
    """Recurrence periods that the checks of one file may still look at."""

    def __init__(self, *, periods: int) -> None:
        self.periods = periods

    def spend(self, series: Series, *, before: int) -> bool:
        """Take off what the walks of a series have used since `before`; False when nothing is left."""
        self.periods -= max(1, walked(series) - before)
        return self.periods > 0


def walked(series: Series) -> int:
    """Periods that the walks of a series have looked at."""
    return sum(walk.periods for walk in series.walks)


def zone_notes(*, part: Part) -> list[Note]:
    """Codes of the zones that the times of a component name, each zone once."""
    reading = part.reading
    notes = []
    for tzid in dict.fromkeys(value.tzid for value in _values(reading) if value.tzid is not None):
        found = part.book.resolve(tzid=tzid, first_year=part.years[0], last_year=part.years[1])
        if found.code is not None:
            notes.append(Note(found.code, -1, tzid))
    return notes


def _values(reading: Reading) -> list[TimeValue]:
    single = [value for value in (reading.start, reading.end, reading.recurrence_id) if value is not None]
    return [*single, *reading.exdates, *(extra.start for extra in reading.extra_dates)]


def part_notes(*, part: Part) -> list[Note]:
    """Codes of one component with its zones: those of its end and of its zones."""
    return [*zone_notes(part=part), *(Note(code, -1, "") for code in part.loose)]


def master_notes(*, series: Series, budget: Budget) -> list[Note]:
    """Codes of the recurrence set; checks that would look too far are left out once the budget is spent."""
    master = series.master
    if master is None or master.anchor is None:
        return []
    notes = []
    anchor = master.anchor
    if any(walk.rule.until is not None and walk.rule.until.is_date != anchor.is_date for walk in series.walks):
        notes.append(Note("until_type_mismatch", -1, ""))
    if series.walks and master.reading.start is not None and not _start_fits(series):
        notes.append(Note("dtstart_not_in_rrule", -1, ""))
    if master.reading.exdates:
        notes += _exclusion_notes(series, master, budget)
    return notes


def _start_fits(series: Series) -> bool:
    master = series.master
    assert master is not None
    assert master.anchor is not None
    wall = master.anchor.wall_ms
    key = wall if series.all_day else master.anchor_zone.to_utc(wall)
    pairs = zip(series.walks, series.untils, strict=True)
    return any(walk.start_is_instance and (until is None or key <= until) for walk, until in pairs)


def _exclusion_notes(series: Series, master: Part, budget: Budget) -> list[Note]:
    notes = []
    if not series.all_day:
        for value in master.reading.exdates:
            if budget.periods > 0 and not value.is_date and not _matches(series, master, value, budget):
                notes.append(Note("exdate_no_match", -1, basic_text(value.wall_ms, is_date=False, utc=value.utc)))
                break
    if budget.periods > 0 and _is_empty(series, budget):
        notes.append(Note("series_empty", -1, ""))
    return notes


def _matches(series: Series, master: Part, value: TimeValue, budget: Budget) -> bool:
    key = master.instant_of(value)
    if key in series.overrides:
        return True
    before = walked(series)
    if next(series.slots_at(key), None) is not None:
        budget.spend(series, before=before)
        return True
    # Out of budget counts as a match: a warning must be true.
    return not budget.spend(series, before=before)


def _is_empty(series: Series, budget: Budget) -> bool:
    if any(not series.is_excluded(override.slot) for override in series.overrides.values()):
        return False
    before = walked(series)
    empty = next(series.present(), None) is None
    return budget.spend(series, before=before) and empty
