"""A VTIMEZONE written from the rules of a zone: past changes one by one, the lasting rule as RRULE."""

import re
from functools import lru_cache
from typing import NamedTuple

from apps.calendars.rules.content_lines import escape_text
from apps.calendars.rules.recurrence import WEEKDAYS, parse_rule
from apps.calendars.rules.rule_walk import RuleWalk
from apps.calendars.rules.values import DAY_MS, basic_text, civil, day_number
from apps.calendars.rules.zones import IanaZone, Zone, tzif_octets

HOUR_MS = 3_600_000
# Changes are listed until here where no RRULE can say them; zones without clock changes need nothing more.
_LISTED_UNTIL = 2050
_RULE_FROM = 2037
_RULES_BEGIN = -100 * 366
_FOOTER_RULE = re.compile(r"M([0-9]+)\.([0-9]+)\.([0-9]+)(?:/([+-]?[0-9:]+))?\Z")


class Change(NamedTuple):
    """One change of offset: its instant, the offsets around it, whether summer time begins, and the new name."""

    utc_ms: int
    offset_from: int
    offset_to: int
    daylight: bool
    name: str

    @property
    def wall_ms(self) -> int:
        """The clock before the change at that moment, as DTSTART of an observance wants it."""
        return self.utc_ms + self.offset_from


@lru_cache(maxsize=512)
def vtimezone_lines(*, tzid: str, zone: Zone, first_year: int) -> tuple[str, ...]:
    """Unfolded lines of a VTIMEZONE for a zone, right from the start of `first_year` on."""
    lines = ["BEGIN:VTIMEZONE", f"TZID:{escape_text(tzid)}"]
    start_day = day_number(max(1, min(first_year, 9998)), month=1, day=1) or 0
    changes = _changes(zone, start_day * DAY_MS, _LISTED_UNTIL)
    rules = _lasting_rules(zone) if changes else {}
    lasting_from = _lasting_from(changes, rules)
    offset = zone.to_wall(start_day * DAY_MS) - start_day * DAY_MS
    lines += _observance(Change(start_day * DAY_MS - offset, offset, offset, False, _name(zone, start_day * DAY_MS)))
    grouped: dict[tuple[int, int, bool, str], list[Change]] = {}
    for change in changes:
        if lasting_from is None or change.wall_ms < (day_number(lasting_from, month=1, day=1) or 0) * DAY_MS:
            grouped.setdefault(change[1:], []).append(change)
    for group in grouped.values():
        lines += _observance(group[0], dates=[change.wall_ms for change in group[1:]])
    if lasting_from is not None:
        for change in changes:
            if _year(change) == lasting_from:
                lines += _observance(change, rule=rules[change.daylight])
    return (*lines, "END:VTIMEZONE")


def _observance(change: Change, *, dates: list[int] | None = None, rule: str = "") -> list[str]:
    kind = "DAYLIGHT" if change.daylight else "STANDARD"
    lines = [
        f"BEGIN:{kind}",
        f"DTSTART:{basic_text(change.wall_ms, is_date=False)}",
        f"TZOFFSETFROM:{_offset_text(change.offset_from)}",
        f"TZOFFSETTO:{_offset_text(change.offset_to)}",
    ]
    if change.name:
        lines.append(f"TZNAME:{escape_text(change.name)}")
    if rule:
        lines.append(f"RRULE:{rule}")
    lines += [f"RDATE:{basic_text(date, is_date=False)}" for date in dates or ()]
    return [*lines, f"END:{kind}"]


def _offset_text(offset_ms: int) -> str:
    seconds = abs(offset_ms) // 1000
    text = f"{'-' if offset_ms < 0 else '+'}{seconds // 3600:02d}{seconds // 60 % 60:02d}"
    return text + f"{seconds % 60:02d}" if seconds % 60 else text


def _name(zone: Zone, utc_ms: int) -> str:
    return zone.name_at(utc_ms) if isinstance(zone, IanaZone) else ""


def _is_summer(zone: Zone, utc_ms: int) -> bool | None:
    return zone.is_summer_at(utc_ms) if isinstance(zone, IanaZone) else None


def _changes(zone: Zone, start_ms: int, until_year: int) -> list[Change]:
    """Changes of offset after an instant, found by halving between samples a day apart."""
    end_ms = (day_number(until_year, month=1, day=1) or 0) * DAY_MS
    found = []
    before = zone.to_wall(start_ms) - start_ms
    # No zone kept an offset for less than a day.
    step = DAY_MS
    at = start_ms
    while at < end_ms:
        following = at + step
        after = zone.to_wall(following) - following
        if after != before:
            moment = _exact(zone, at, following, before)
            summer = _is_summer(zone, moment)
            found.append(
                Change(moment, before, after, after > before if summer is None else summer, _name(zone, moment))
            )
        at, before = following, after
    return found


def _exact(zone: Zone, low: int, high: int, before: int) -> int:
    while high - low > 1000:
        middle = (low + high) // 2000 * 1000
        if zone.to_wall(middle) - middle == before:
            low = middle
        else:
            high = middle
    return high


@lru_cache(maxsize=512)
def _lasting_rules(zone: Zone) -> dict[bool, str]:
    """RRULEs of the yearly changes that the zone's data names as lasting: True for summer time; empty without."""
    if not isinstance(zone, IanaZone):
        return {}
    footer = tzif_octets(zone.name).rstrip(b"\n").rpartition(b"\n")[2].decode("ascii")
    parts = footer.split(",")
    if len(parts) != 3:
        return {}
    rules = [_yearly(part) for part in parts[1:]]
    if rules[0] is None or rules[1] is None:
        return {}
    return {True: rules[0], False: rules[1]}


def _yearly(text: str) -> str | None:
    """RRULE of a POSIX rule Mm.w.d/time, or None for what one RRULE cannot say."""
    match = _FOOTER_RULE.match(text)
    if match is None:
        return None
    month, week, day = int(match[1]), int(match[2]), (int(match[3]) - 1) % 7
    clock = (match[4] or "2").lstrip("+")
    sign = -1 if clock.startswith("-") else 1
    hours, *rest = [int(part) for part in clock.lstrip("-").split(":")]
    seconds = sign * (hours * 3600 + sum(part * 60 ** (1 - i) for i, part in enumerate(rest)))
    shift = seconds // 86_400
    head = f"FREQ=YEARLY;BYMONTH={month}"
    if shift == 0:
        return f"{head};BYDAY={-1 if week == 5 else week}{WEEKDAYS[day]}"
    # A time past midnight means the next day: the weekday after, in the days of the month shifted likewise.
    first = (-7 if week == 5 else 7 * week - 6) + shift
    days = range(first, first + 7)
    if 0 in days or (week < 5 and (days[0] < 1 or days[-1] > 28)) or (week == 5 and days[-1] > -1):
        return None
    return f"{head};BYDAY={WEEKDAYS[(day + shift) % 7]};BYMONTHDAY={','.join(map(str, days))}"


def _lasting_from(changes: list[Change], rules: dict[bool, str]) -> int | None:
    """First year from which every change is the one that the lasting rules give."""
    last = {change.daylight: change for change in changes if _year(change) == _RULE_FROM + 1}
    if not rules or set(last) != {True, False}:
        return None
    expected = set()
    for daylight, rule in rules.items():
        change = last[daylight]
        # Begun long before, at the hour of the change: the rule alone says which days.
        walk = RuleWalk(rule=parse_rule(rule), start_ms=change.wall_ms % DAY_MS + _RULES_BEGIN * DAY_MS)
        walls = walk.walls(low_ms=changes[0].wall_ms - 366 * DAY_MS, high_ms=change.wall_ms + 1)
        expected |= {(wall, change.offset_from, change.offset_to, daylight) for wall in walls}
    by_year: dict[int, set[tuple[int, int, int, bool]]] = {}
    for each in expected:
        by_year.setdefault(civil(each[0] // DAY_MS)[0], set()).add(each)
    found: dict[int, set[tuple[int, int, int, bool]]] = {}
    for change in changes:
        entry = (change.wall_ms, change.offset_from, change.offset_to, change.daylight)
        found.setdefault(_year(change), set()).add(entry)
    year = _RULE_FROM + 2
    while year - 1 in found and found[year - 1] == by_year.get(year - 1):
        year -= 1
    return year if year <= _RULE_FROM + 1 else None


def _year(change: Change) -> int:
    return civil(change.wall_ms // DAY_MS)[0]
