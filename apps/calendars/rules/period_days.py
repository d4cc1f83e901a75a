"""The days that a recurrence rule picks in a year, a month or a week (the table of RFC 5545 section 3.3.10)."""

from apps.calendars.rules.recurrence import Rule
from apps.calendars.rules.values import civil, day_number, weekday

_MONTHS = tuple(range(1, 13))


class DayRules:
    """The day parts of a rule, with what DTSTART lends to a rule that leaves them open."""

    def __init__(self, *, rule: Rule, start_day: int) -> None:
        _, month, number = civil(start_day)
        self.yearly = rule.freq == "YEARLY"
        self.months = rule.bymonth
        self.month_days = rule.bymonthday
        self.year_days = rule.byyearday
        self.weeks = rule.byweekno
        self.week_start = rule.wkst
        # An ordinal means something in a month or a year only.
        keeps_ordinals = rule.freq in ("YEARLY", "MONTHLY")
        self.ordinals = tuple(pair for pair in rule.byday if pair[0]) if keeps_ordinals else ()
        self.weekdays = frozenset(day for n, day in rule.byday if not (n and keeps_ordinals))
        if not (rule.byday or rule.bymonthday or rule.byyearday):
            self._borrow(rule=rule, month=month, number=number, start_weekday=weekday(start_day))
        self.has_days = bool(self.ordinals or self.weekdays)
        others = bool(self.months or self.month_days or self.year_days or self.weeks)
        self.unrestricted = not (others or self.has_days)
        self.only_weekdays = not others and self.has_days and not self.ordinals
        # At most 12 months of 14 kinds of years (with week numbers: of years by their neighbours).
        self._offsets: dict[tuple[object, ...], list[int]] = {}
        self._week_offsets = sorted((day - self.week_start) % 7 for day in self.weekdays)

    def _borrow(self, *, rule: Rule, month: int, number: int, start_weekday: int) -> None:
        if self.yearly and self.weeks:
            self.weekdays = frozenset((start_weekday,))
        elif self.yearly:
            self.months = self.months or (month,)
            self.month_days = (number,)
        elif rule.freq == "MONTHLY":
            self.month_days = (number,)
        elif rule.freq == "WEEKLY":
            self.weekdays = frozenset((start_weekday,))

    def of_year(self, year: int) -> list[int]:
        """Days of a year in order."""
        return self._known(year, 0)

    def of_month(self, year: int, month: int) -> list[int]:
        """Days of a month in order."""
        if self.months and month not in self.months:
            return []
        return self._known(year, month)

    def _known(self, year: int, month: int) -> list[int]:
        """Days of a year or of one of its months, remembered for all years that look alike."""
        if not 1 < year < 9998:
            return self._in_month(year, month) if month else self._in_year(year)
        first = day_number(year, month=1, day=1) or 0
        key = (month, weekday(first), _is_leap(year), *(self.weeks and (_is_leap(year - 1), _is_leap(year + 1))))
        offsets = self._offsets.get(key)
        if offsets is None:
            days = self._in_month(year, month) if month else self._in_year(year)
            offsets = self._offsets[key] = [day - first for day in days]
        return [first + offset for offset in offsets]

    def _in_year(self, year: int) -> list[int]:
        first, last = day_number(year, month=1, day=1), day_number(year, month=12, day=31)
        if first is None or last is None:
            return []
        months = self.months or _MONTHS
        if self.month_days:
            found = [day for month in months for day in self._month_day_list(year, month)]
            picked = set(self._by_weekday_of_year(year, first, last)) if self.has_days else None
        elif self.has_days:
            found, picked = self._by_weekday_of_year(year, first, last), None
        elif self.year_days:
            found, picked = self._year_day_list(first, last), None
        else:
            found, picked = list(range(first, last + 1)), None
        days = {day for day in found if picked is None or day in picked}
        return sorted(day for day in days if self._fits_rest(day))

    def _in_month(self, year: int, month: int) -> list[int]:
        if self.month_days:
            days = self._month_day_list(year, month)
            if self.has_days:
                picked = set(self._by_weekday_of_month(year, month))
                days = [day for day in days if day in picked]
        elif self.has_days:
            days = self._by_weekday_of_month(year, month)
        else:
            first, last = _month_span(year, month)
            days = list(range(first, last + 1)) if not self.year_days else self._year_days_within(year, first, last)
        if self.year_days or self.weeks:
            return [day for day in days if self._fits_rest(day)]
        return days

    def of_week(self, first: int) -> list[int]:
        """Days of the week that begins on a day number, in order."""
        days = [first + offset for offset in self._week_offsets] if self.weekdays else list(range(first, first + 7))
        if self.only_weekdays:
            return days
        return [day for day in days if self.fits(day)]

    def fits(self, day: int) -> bool:
        """Whether a single day passes every day part; ordinals are not asked."""
        if self.unrestricted:
            return True
        if self.weekdays and weekday(day) not in self.weekdays:
            return False
        if self.month_days:
            year, month, number = civil(day)
            last = _month_span(year, month)[1]
            if number not in self.month_days and day - last - 1 not in self.month_days:
                return False
        return self._fits_rest(day)

    def _fits_rest(self, day: int) -> bool:
        if self.months and civil(day)[1] not in self.months:
            return False
        if self.year_days:
            year = civil(day)[0]
            first, last = day_number(year, month=1, day=1) or 0, day_number(year, month=12, day=31) or 0
            if day - first + 1 not in self.year_days and day - last - 1 not in self.year_days:
                return False
        return not self.weeks or self._fits_week(day)

    def _fits_week(self, day: int) -> bool:
        number, total = week_number(day, first_weekday=self.week_start)
        return number in self.weeks or number - total - 1 in self.weeks

    def _month_day_list(self, year: int, month: int) -> list[int]:
        first, last = _month_span(year, month)
        size = last - first + 1
        numbers = {number if number > 0 else size + 1 + number for number in self.month_days}
        return [first + number - 1 for number in sorted(numbers) if 1 <= number <= size]

    def _year_day_list(self, first: int, last: int) -> list[int]:
        size = last - first + 1
        numbers = {number if number > 0 else size + 1 + number for number in self.year_days}
        return [first + number - 1 for number in sorted(numbers) if 1 <= number <= size]

    def _year_days_within(self, year: int, first: int, last: int) -> list[int]:
        begin, end = day_number(year, month=1, day=1) or 0, day_number(year, month=12, day=31) or 0
        return [day for day in self._year_day_list(begin, end) if first <= day <= last]

    def _by_weekday_of_year(self, year: int, first: int, last: int) -> list[int]:
        if not self.months:
            return self._by_weekday(first, last)
        return [day for month in self.months for day in self._by_weekday_of_month(year, month)]

    def _by_weekday_of_month(self, year: int, month: int) -> list[int]:
        return self._by_weekday(*_month_span(year, month))

    def _by_weekday(self, first: int, last: int) -> list[int]:
        found: set[int] = set()
        for day in self.weekdays:
            found.update(range(first + (day - weekday(first)) % 7, last + 1, 7))
        for ordinal, day in self.ordinals:
            if ordinal > 0:
                at = first + (day - weekday(first)) % 7 + 7 * (ordinal - 1)
            else:
                at = last - (weekday(last) - day) % 7 + 7 * (ordinal + 1)
            if first <= at <= last:
                found.add(at)
        return sorted(found)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _month_span(year: int, month: int) -> tuple[int, int]:
    """First and last day number of a month within years 1 to 9999."""
    first = day_number(year, month=month, day=1) or 0
    if month == 12:
        return first, first + 30
    return first, (day_number(year, month=month + 1, day=1) or 0) - 1


def week_number(day: int, *, first_weekday: int) -> tuple[int, int]:
    """Number of the week that holds a day, and how many weeks its year has (RFC 5545: week 1 has four days or more)."""
    begin = day - (weekday(day) - first_weekday) % 7
    # The week belongs to the year of its fourth day.
    middle = min(begin + 3, day_number(9999, month=12, day=31) or 0)
    year = civil(middle)[0]
    first = _first_week(year, first_weekday)
    following = _first_week(year + 1, first_weekday) if year < 9999 else first + 52 * 7
    return (begin - first) // 7 + 1, (following - first) // 7


def _first_week(year: int, first_weekday: int) -> int:
    fourth = day_number(year, month=1, day=4) or 0
    return fourth - (weekday(fourth) - first_weekday) % 7
