"""Rules, zones and instants for the property tests: often at clock changes, and at both ends of the calendar."""

from functools import cache

from hypothesis import strategies as st

from tests.schedules.scan import DAY_MS, FOUR_CENTURIES_MS, MAX_MS, MIN_MS, Wanted, offset_ms, places, zoneinfo

FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
EVERY_MONTH = frozenset(range(1, 13))
EVERY_DATE = frozenset(range(1, 32))
YEAR_MS = 365 * DAY_MS


@cache
def transitions(name):
    """List when the clock of a zone is changed from 1850 to 2100."""
    zone, found = zoneinfo(name), []
    step = 5 * DAY_MS
    at, offset = -120 * YEAR_MS, None
    while at < 130 * YEAR_MS:
        before, offset = offset, offset_ms(zone, at)
        if before is not None and before != offset:
            low, high = at - step, at
            while high - low > 1000:
                middle = (low + high) // 2000 * 1000
                low, high = (middle, high) if offset_ms(zone, middle) == before else (low, middle)
            found.append(high)
        at += step
    return tuple(found)


zone_names = st.sampled_from(places())
close = st.integers(-2 * DAY_MS, 2 * DAY_MS)
whole = st.integers(-48, 48).map(lambda hours: hours * 3_600_000)


@st.composite
def instants(draw, name):
    """Draw an instant: half of them at a clock change, a quarter at an end of the calendar."""
    changes = transitions(name)
    kind = draw(st.integers(0, 7))
    nearby = draw(close | whole | st.sampled_from((-1, 0, 1)))
    if kind < 4 and changes:
        change = draw(st.sampled_from(changes))
        # What the last rule of a zone says comes again in later centuries.
        later = 0 if kind else draw(st.integers(0, 19)) * FOUR_CENTURIES_MS
        return min(change + (later if change > changes[-1] - YEAR_MS else 0) + nearby, MAX_MS)
    if kind == 4:
        return MIN_MS + abs(nearby)
    if kind == 5:
        return MAX_MS - abs(nearby)
    return draw(st.integers(MIN_MS, MAX_MS))


@st.composite
def elements(draw, low, high):
    """Draw one element of a cron field as a text, and what it stands for."""
    shape = draw(st.sampled_from(("*", "v", "a-b", "*/n", "a-b/n")))
    first = draw(st.integers(low, high))
    last = draw(st.integers(first, high))
    step = draw(st.integers(1, high + 3))
    zeros = draw(st.sampled_from(("", "", "0")))
    texts = {
        "*": ("*", range(low, high + 1)),
        "v": (f"{zeros}{first}", (first,)),
        "a-b": (f"{zeros}{first}-{last}", range(first, last + 1)),
        "*/n": (f"*/{step}", range(low, high + 1, step)),
        "a-b/n": (f"{first}-{last}/{zeros}{step}", range(first, last + 1, step)),
    }
    return texts[shape]


@st.composite
def fields(draw, number):
    """Draw a cron field as a text, and what it stands for; every other one is a star."""
    low, high = FIELDS[number]
    if draw(st.booleans()):
        return "*", frozenset(value % 7 if number == 4 else value for value in range(low, high + 1))
    drawn = draw(st.lists(elements(low, high), min_size=1, max_size=4))
    values = frozenset(value % 7 if number == 4 else value for _, members in drawn for value in members)
    return ",".join(text for text, _ in drawn), values


@st.composite
def expressions(draw):
    """Draw a cron expression and what it wants of the clock."""
    drawn = [draw(fields(number)) for number in range(5)]
    texts = [text for text, _ in drawn]
    minutes, hours, dates, months, weekdays = (values for _, values in drawn)
    wanted = Wanted(
        minutes=minutes,
        hours=hours,
        dates=dates,
        months=months,
        weekdays=weekdays,
        either_day=not texts[2].startswith("*") and not texts[4].startswith("*"),
    )
    return draw(st.sampled_from((" ", " ", "\t", "  "))).join(texts), wanted


times = st.sampled_from((0, 1_800_000, 5_400_000, 9_000_000, 84_600_000, DAY_MS - 1)) | st.integers(0, DAY_MS - 1)


@st.composite
def wall_rules(draw):
    """Draw a selector of a rule that follows the wall clock, without its zone, and what it wants of the clock."""
    kind = draw(st.sampled_from(("daily", "weekly", "cron", "cron")))
    if kind == "cron":
        expression, wanted = draw(expressions())
        return kind, {"expression": expression}, wanted
    time = draw(times)
    days = draw(st.sets(st.integers(1, 7), min_size=1)) if kind == "weekly" else set(range(1, 8))
    minutes, rest = divmod(time, 60_000)
    hour, minute = divmod(minutes, 60)
    wanted = Wanted(
        minutes=frozenset({minute}),
        hours=frozenset({hour}),
        dates=EVERY_DATE,
        months=EVERY_MONTH,
        weekdays=frozenset(day % 7 for day in days),
        either_day=False,
        rest_ms=rest,
    )
    text = f"{hour:02d}:{minute:02d}:{rest // 1000:02d}.{rest % 1000:03d}"
    return kind, {"time": text} | ({"weekdays": sorted(days)} if kind == "weekly" else {}), wanted


@st.composite
def triples(draw):
    """Draw a selector with its value, what it wants of the clock, the zone, and an instant."""
    name = draw(zone_names)
    kind, value, wanted = draw(wall_rules())
    return kind, value | {"time_zone": name}, wanted, name, draw(instants(name))
