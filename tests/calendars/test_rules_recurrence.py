"""Own recurrence rules against python-dateutil and against the examples of RFC 5545."""

import warnings
from datetime import UTC, datetime, timedelta

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.calendars.rules.limits import InvalidRecurrence
from apps.calendars.rules.recurrence import by_product, parse_rule
from apps.calendars.rules.rule_walk import RuleWalk

EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def wall(moment: datetime) -> int:
    return int((moment - EPOCH) / timedelta(milliseconds=1))


def ours(*, rule: str, start: datetime, low: datetime, high: datetime) -> list[datetime]:
    walk = RuleWalk(rule=parse_rule(rule), start_ms=wall(start))
    return [EPOCH + timedelta(milliseconds=each) for each in walk.walls(low_ms=wall(low), high_ms=wall(high))]


def lists(low: int, high: int, *, signed: bool = False, most: int = 3) -> st.SearchStrategy[list[int]]:
    numbers = st.integers(low, high)
    if signed:
        numbers = st.one_of(numbers, numbers.map(lambda n: -n))
    return st.lists(numbers, min_size=1, max_size=most, unique=True)


@st.composite
def rules(draw: st.DrawFn) -> str:
    """Rules on which dateutil and RFC 5545 agree: see `test_the_rfc_beats_dateutil` for the rest."""
    freq = draw(st.sampled_from(("HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")))
    parts = [f"FREQ={freq}", f"INTERVAL={draw(st.integers(1, 4 if freq != 'HOURLY' else 50))}"]
    if draw(st.booleans()):
        parts.append(f"BYMONTH={','.join(map(str, draw(lists(1, 12))))}")
    choice = draw(st.sampled_from(("none", "weekday", "ordinal", "monthday", "yearday")))
    if choice == "weekday":
        parts.append(f"BYDAY={','.join(draw(st.lists(st.sampled_from(DAYS), min_size=1, max_size=4, unique=True)))}")
    elif choice == "ordinal" and freq in ("MONTHLY", "YEARLY"):
        ordinals = draw(lists(1, 5, signed=True, most=2))
        parts.append(f"BYDAY={','.join(f'{n}{draw(st.sampled_from(DAYS))}' for n in ordinals)}")
    elif choice == "monthday":
        parts.append(f"BYMONTHDAY={','.join(map(str, draw(lists(1, 31, signed=True))))}")
    elif choice == "yearday":
        parts.append(f"BYYEARDAY={','.join(map(str, draw(lists(1, 366, signed=True))))}")
    # dateutil raises where an hourly rule with an interval can never reach the hour.
    if freq != "HOURLY" and draw(st.booleans()):
        parts.append(f"BYHOUR={','.join(map(str, draw(lists(0, 23))))}")
    if draw(st.booleans()):
        parts.append(f"BYMINUTE={','.join(map(str, draw(lists(0, 59))))}")
    if freq in ("DAILY", "MONTHLY", "YEARLY") and len(parts) > 2 and draw(st.booleans()):
        parts.append(f"BYSETPOS={','.join(map(str, draw(lists(1, 4, signed=True, most=2))))}")
    if draw(st.booleans()):
        parts.append(f"COUNT={draw(st.integers(1, 60))}")
    if draw(st.booleans()):
        parts.append(f"WKST={draw(st.sampled_from(DAYS))}")
    return ";".join(parts)


def dateutil_list(rule: str, start: datetime, high: datetime) -> list[datetime]:
    with warnings.catch_warnings():
        # COUNT and UNTIL together: only so does a rule that never matches come to an end.
        warnings.simplefilter("ignore", DeprecationWarning)
        return list(rrulestr(rule, dtstart=start).replace(until=high - timedelta(seconds=1)))


@settings(max_examples=150, deadline=None)
@given(
    rule=rules(),
    start=st.datetimes(datetime(2015, 1, 1), datetime(2025, 1, 1)),  # noqa: DTZ001
    ahead=st.integers(0, 2500),
    length=st.integers(1, 400),
)
def test_rules_give_what_dateutil_gives(rule: str, start: datetime, ahead: int, length: int) -> None:
    start = start.replace(microsecond=0)
    low = start + timedelta(days=ahead // 30 if "HOURLY" in rule else ahead)
    high = low + timedelta(days=length)
    walk = RuleWalk(rule=parse_rule(rule), start_ms=wall(start))
    theirs_all = dateutil_list(rule, start, high)
    assert walk.start_is_instance == (theirs_all[:1] == [start])
    if walk.rule.count is not None and not walk.start_is_instance:
        # DTSTART counts as the first here; dateutil does not count it.
        theirs_all = theirs_all[: walk.rule.count - 1] if len(theirs_all) == walk.rule.count else theirs_all
    theirs = [each for each in theirs_all if low <= each]
    assert ours(rule=rule, start=start, low=low, high=high) == theirs


# Rule, DTSTART, the days that RFC 5545 section 3.8.5.3 prints.
RFC_EXAMPLES = [
    ("FREQ=YEARLY;INTERVAL=2;COUNT=4;BYMONTH=1,2", (1997, 1, 10, 9), ["0110", "0210", "0110", "0210"]),
    ("FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", (1997, 9, 22, 9), ["0922", "1020", "1117", "1222", "0119", "0216"]),
    ("FREQ=MONTHLY;BYMONTHDAY=-3;COUNT=3", (1997, 9, 28, 9), ["0928", "1029", "1128"]),
    ("FREQ=YEARLY;BYDAY=20MO;COUNT=3", (1997, 5, 19, 9), ["0519", "0518", "0517"]),
    ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3", (1997, 5, 12, 9), ["0512", "0511", "0517"]),
    ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=3", (1998, 2, 13, 9), ["0213", "0313", "1113"]),
    ("FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8;COUNT=3", (1996, 11, 5, 9),
     ["1105", "1107", "1102"]),
    ("FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", (1997, 9, 4, 9), ["0904", "1007", "1106"]),
    ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;COUNT=3", (1997, 9, 29, 9), ["0929", "1030", "1127"]),
    ("FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", (1997, 8, 5, 9), ["0805", "0810", "0819", "0824"]),
    ("FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", (1997, 8, 5, 9), ["0805", "0817", "0819", "0831"]),
    ("FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", (2007, 1, 15, 9), ["0115", "0130", "0215", "0315", "0330"]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "start", "days"), RFC_EXAMPLES)
def test_the_examples_of_the_rfc_hold(rule: str, start: tuple[int, int, int, int], days: list[str]) -> None:
    begin = datetime(*start)  # noqa: DTZ001
    found = ours(rule=rule, start=begin, low=begin, high=begin + timedelta(days=366 * 13))
    assert [each.strftime("%m%d") for each in found] == days


def test_the_rfc_beats_dateutil_on_a_week_number_without_a_weekday() -> None:
    start = datetime(2026, 5, 13, 9)  # noqa: DTZ001
    found = ours(rule="FREQ=YEARLY;BYWEEKNO=20", start=start, low=start, high=start + timedelta(days=800))
    assert [each.date().isoformat() for each in found] == ["2026-05-13", "2027-05-19", "2028-05-17"]


def test_a_plain_weekday_and_an_ordinal_one_add_up() -> None:
    start = datetime(2026, 6, 1, 9)  # noqa: DTZ001
    found = ours(rule="FREQ=MONTHLY;BYDAY=1FR,MO;COUNT=6", start=start, low=start, high=start + timedelta(days=99))
    assert [each.day for each in found] == [1, 5, 8, 15, 22, 29]


@pytest.mark.parametrize(
    "value",
    ["", "FREQ=FORTNIGHTLY", "FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;COUNT=0", "FREQ=DAILY;UNTIL=soon", "COUNT=3",
     "FREQ=DAILY;BYMONTH=13", "FREQ=DAILY;BYMONTHDAY=0", "FREQ=WEEKLY;BYDAY=XX", "FREQ=DAILY;FREQ=WEEKLY",
     "FREQ=MONTHLY;RSCALE=HEBREW"],
)  # fmt: skip
def test_a_rule_that_cannot_be_read_is_refused(value: str) -> None:
    with pytest.raises(InvalidRecurrence):
        parse_rule(value)


def test_the_product_of_the_lists_is_taken_from_the_text() -> None:
    assert by_product("FREQ=YEARLY;BYMONTH=1,2,3;BYDAY=MO,TU;COUNT=5") == 6


def test_the_position_of_a_count_is_found_by_arithmetic_a_century_on() -> None:
    start = datetime(2026, 4, 1, 6)  # noqa: DTZ001
    low = datetime(2126, 4, 1)  # noqa: DTZ001
    walk = RuleWalk(rule=parse_rule("FREQ=DAILY;COUNT=36526"), start_ms=wall(start))
    found = list(walk.walls(low_ms=wall(low), high_ms=wall(low + timedelta(days=9))))
    assert len(found) == 36526 - (low.date() - start.date()).days
    assert walk.periods < 10


def test_a_window_past_the_end_of_a_series_costs_nothing() -> None:
    start, until = datetime(2026, 4, 1, 6), datetime(2090, 1, 1)  # noqa: DTZ001
    walk = RuleWalk(rule=parse_rule("FREQ=DAILY"), start_ms=wall(start))
    # What a rule with UNTIL asks for a later window: it ends before it begins.
    assert list(walk.walls(low_ms=wall(until) + 1, high_ms=wall(until))) == []
    assert walk.periods == 0
