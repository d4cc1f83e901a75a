"""What holds for every rule, zone and instant. SAYSO_TRIPLES=20000 draws that many of each, which takes minutes."""

import os
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.schedules.rules.cron import canonical_expression, parse_expression
from apps.schedules.rules.decisions import decide, due_count, latest_due, newest_due
from apps.schedules.rules.kinds import Record
from apps.schedules.rules.patterns import pattern_of
from apps.schedules.rules.records import read_record, record_json
from apps.schedules.rules.timing import read_timing
from apps.schedules.rules.walk import count_occurrences, next_occurrence, occurrences, occurrences_back
from apps.schedules.rules.zones import zone_of
from tests.schedules.scan import DAY_MS, MAX_MS, MIN_MS, first_after, offset_ms, zoneinfo
from tests.schedules.triples import FIELDS, expressions, instants, triples, wall_rules, zone_names

TRIPLES = int(os.environ.get("SAYSO_TRIPLES", "0"))
WATCHED_DAYS = 2

pytestmark = pytest.mark.timeout(7200 if TRIPLES else 180)
drawn = settings(
    max_examples=TRIPLES or 100,
    deadline=None,
    derandomize=not TRIPLES,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def rule_of(kind, value):
    return read_timing(kind, value=value).rule


def members(text, number):
    """Read a canonical field the plain way."""
    low, high = FIELDS[number]
    found = set()
    for element in text.split(","):
        span, _, step = element.partition("/")
        first, _, last = (f"{low}-{high}" if span == "*" else span).partition("-")
        found |= set(range(int(first), int(last or first) + 1, int(step or 1)))
    return {value % 7 for value in found} if number == 4 else found


@drawn
@given(expressions())
def test_the_canonical_form_is_its_own_and_matches_the_same(drawn_expression):
    expression, wanted = drawn_expression
    canonical = canonical_expression(parse_expression(expression))
    assert canonical_expression(parse_expression(canonical)) == canonical
    texts = canonical.split(" ")
    sets = (wanted.minutes, wanted.hours, wanted.dates, wanted.months, wanted.weekdays)
    assert [members(text, number) for number, text in enumerate(texts)] == list(map(set, sets))
    assert [text.startswith("*") for text in texts] == [text.startswith("*") for text in expression.split()]


@drawn
@given(triples())
def test_next_is_what_a_watched_clock_shows_first_after_the_floor(triple):
    kind, value, wanted, name, floor = triple
    found = next_occurrence(pattern_of(rule_of(kind, value)), after_ms=floor)
    watched = first_after(zoneinfo(name), wanted, floor_ms=floor, days=WATCHED_DAYS)
    if watched is None:
        assert found is None or found >= floor + WATCHED_DAYS * DAY_MS
    else:
        assert found == watched
    assert found is None or floor < found <= MAX_MS


@drawn
@given(triples(), st.integers(0, 10 * DAY_MS), st.integers(0, 4))
def test_decisions_never_repeat_an_occurrence(triple, late, steps):
    kind, value, _, _, now = triple
    rule = rule_of(kind, value)
    pattern = pattern_of(rule)
    target = next_occurrence(pattern, after_ms=now)
    delivered = []
    for _ in range(steps + 1):
        if target is None:
            break
        record = Record(id="t", title="T", prompt="P", rule=rule, scheduled_ms=target)
        accepted = min(target + late, MAX_MS)
        decision = decide(record, accepted_ms=accepted)
        assert target <= decision.occurrence_ms <= accepted
        assert decision.occurrence_ms not in delivered
        delivered.append(decision.occurrence_ms)
        days = [pattern.zone.day_of(one) for one in delivered]
        assert kind == "cron" or len(set(days)) == len(days)
        target = decision.next_ms
        assert target is None or target > accepted
    assert delivered == sorted(delivered)


@drawn
@given(triples(), st.integers(0, 12))
def test_walking_forth_step_by_step_back_and_counting_agree(triple, count):
    kind, value, _, _, floor = triple
    rule = rule_of(kind, value)
    pattern = pattern_of(rule)
    forth = list(islice(occurrences(pattern, after_ms=floor), count))
    stepped, at = [], floor
    while len(stepped) < len(forth):
        at = next_occurrence(pattern, after_ms=at)
        stepped.append(at)
    assert forth == stepped
    if not forth:
        return
    assert list(islice(occurrences_back(pattern, until_ms=forth[-1], not_before_ms=forth[0]), count)) == forth[::-1]
    assert count_occurrences(pattern, after_ms=floor, before_ms=forth[-1]) == len(forth) - 1
    record = Record(id="t", title="T", prompt="P", rule=rule, scheduled_ms=forth[0])
    due = due_count(record, until_ms=forth[-1])
    newest = newest_due(record, until_ms=forth[-1], limit=5)
    assert len(newest) == min(due, 5)
    assert newest[-1] == latest_due(record, until_ms=forth[-1]) == forth[-1]
    assert due == len(forth)
    assert len(forth) == 1 or latest_due(record, until_ms=forth[-1] - 1) == forth[-2]
    assert newest == tuple(forth[-5:])


@drawn
@given(zone_names.flatmap(lambda name: st.tuples(st.just(name), instants(name))))
def test_a_zone_has_the_offsets_of_zoneinfo(zone_and_instant):
    name, instant = zone_and_instant
    zone = zone_of(name)
    offset = offset_ms(zoneinfo(name), instant)
    assert zone.offset_ms(instant) == offset
    assert instant in zone.instants(instant + offset)
    span = zone.span(instant)
    assert span.start_ms <= instant < span.end_ms
    for edge in (span.start_ms, span.end_ms):
        if MIN_MS < edge < MAX_MS:
            assert offset_ms(zoneinfo(name), edge - 1) != offset_ms(zoneinfo(name), edge)


@drawn
@given(wall_rules(), zone_names)
def test_a_rule_survives_being_written_and_read(rule, name):
    kind, value, _ = rule
    record = Record(id="t", title="T", prompt="P", rule=rule_of(kind, value | {"time_zone": name}), scheduled_ms=0)
    assert read_record(record_json(record)) == record
