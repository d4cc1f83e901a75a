"""Names of zones, their clocks, and where the data come from."""

import pytest

from apps.schedules.rules.errors import InvalidTimeZone
from apps.schedules.rules.values import MAX_MS, MIN_MS, parse_instant
from apps.schedules.rules.zone_names import canonical_zone, zone_name
from apps.schedules.rules.zones import zone_of
from tests.schedules.scan import offset_ms, places, zoneinfo


def ms(text):
    return parse_instant(text)


def test_each_place_is_its_own_canonical_name():
    assert [canonical_zone(name) for name in places()] == list(places())


@pytest.mark.parametrize(
    ("alias", "canonical"),
    [
        ("Etc/GMT-0", "UTC"),
        ("etc/zulu", "UTC"),
        ("Europe/Oslo", "Europe/Oslo"),
        ("Africa/Timbuktu", "Africa/Bamako"),
        ("Atlantic/Jan_Mayen", "Arctic/Longyearbyen"),
        ("America/Virgin", "America/St_Thomas"),
        ("Asia/Saigon", "Asia/Ho_Chi_Minh"),
        ("Mexico/General", "America/Mexico_City"),
        ("Etc/GMT-14", "Etc/GMT-14"),
    ],
)
def test_an_alias_has_a_canonical_name(alias, canonical):
    assert canonical_zone(alias) == canonical


def test_an_alias_is_kept_where_it_is_not_to_be_changed():
    assert zone_name("us/eastern") == "US/Eastern"


@pytest.mark.parametrize(
    "name",
    ["", "UTC ", "Utc", "Factory", "posix/Europe/Paris", "right/UTC", "Europe/../UTC", "Europe/Paris\n", 7, b"UTC"],
)
def test_all_else_is_refused(name):
    with pytest.raises(InvalidTimeZone):
        zone_name(name)


def test_a_gap_has_no_instant_and_an_overlap_two():
    zone = zone_of("America/New_York")
    assert zone.instants(ms("2026-03-08T02:30:00.000Z")) == ()
    assert zone.instants(ms("2026-11-01T01:30:00.000Z")) == (
        ms("2026-11-01T05:30:00.000Z"),
        ms("2026-11-01T06:30:00.000Z"),
    )


def test_a_whole_day_may_be_missing_or_come_twice():
    apia, anchorage = zone_of("Pacific/Apia"), zone_of("America/Anchorage")
    assert apia.instants(ms("2011-12-30T12:00:00.000Z")) == ()
    assert len(anchorage.instants(ms("1867-10-18T18:00:00.000Z"))) == 2


def test_the_last_rule_of_a_zone_holds_in_every_century():
    zone = zone_of("Europe/Berlin")
    for year in (2500, 4999, 9998):
        assert zone.offset_ms(ms(f"{year}-01-15T12:00:00.000Z")) == 3_600_000
        assert zone.offset_ms(ms(f"{year}-07-15T12:00:00.000Z")) == 7_200_000


def test_the_rule_begins_in_the_year_of_the_last_listed_change():
    assert zone_of("Antarctica/Troll").offset_ms(ms("2005-06-01T00:00:00.000Z")) == 7_200_000


@pytest.mark.parametrize("edge", [MIN_MS, MAX_MS])
def test_both_ends_of_the_calendar_have_local_days(edge):
    for name in ("Etc/GMT-14", "Etc/GMT+12", "Europe/Berlin"):
        zone = zone_of(name)
        assert zone.resolve(edge + zone.offset_ms(edge)) == edge


def test_each_clock_change_on_record_is_known():
    """The offsets a second before and after each change of every place are those of zoneinfo."""
    for name in places()[::9]:
        zone, theirs = zone_of(name), zoneinfo(name)
        at = MIN_MS
        while at < ms("2040-01-01T00:00:00.000Z"):
            span = zone.span(at)
            for instant in (max(span.start_ms, MIN_MS), min(span.end_ms, MAX_MS) - 1000):
                assert zone.offset_ms(instant) == offset_ms(theirs, instant), (name, instant)
            at = span.end_ms
