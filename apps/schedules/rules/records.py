"""Records and tasks as stored JSON: written one way, read strictly, never repaired."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from apps.schedules.rules.cron import canonical_expression, parse_expression
from apps.schedules.rules.errors import CorruptScheduleLog, InvalidRule, InvalidTimeZone
from apps.schedules.rules.kinds import TITLE_LENGTH, After, At, Cron, Daily, Every, Record, Rule, Weekly
from apps.schedules.rules.timing import LEAST_EVERY_SECONDS
from apps.schedules.rules.values import (
    MAX_SAFE,
    format_instant,
    format_time,
    is_trimmed,
    parse_instant,
    parse_time,
    safe_integer,
    utf16_length,
)
from apps.schedules.rules.zone_names import zone_name

_COMMON = frozenset({"id", "kind", "title", "prompt", "scheduledAt"})


def record_json(record: Record) -> dict[str, object]:
    """Return the record with the members of the contract."""
    return {
        "id": record.id,
        "kind": record.kind,
        "title": record.title,
        "prompt": record.prompt,
        **rule_json(record.rule),
        "scheduledAt": format_instant(record.scheduled_ms),
    }


def rule_json(rule: Rule) -> dict[str, object]:
    """Return the members of a record that say when."""
    if isinstance(rule, After):
        return {"afterSeconds": rule.after_seconds}
    if isinstance(rule, At):
        return {}
    if isinstance(rule, Every):
        return {"everySeconds": rule.every_seconds}
    if isinstance(rule, Cron):
        return {"expression": rule.expression, "timeZone": rule.time_zone}
    members: dict[str, object] = {"time": format_time(rule.time_ms), "timeZone": rule.time_zone}
    return members | ({"weekdays": list(rule.weekdays)} if isinstance(rule, Weekly) else {})


def read_record(value: object, *, untitled: bool = False) -> Record:
    """Return the record of stored JSON; raises CorruptScheduleLog. `untitled` accepts one without a title."""
    given = _checked_object(value)
    title = given.get("title")
    if not untitled or "title" in given:
        _check(isinstance(title, str) and is_trimmed(title) and utf16_length(title) <= TITLE_LENGTH, "title")
    kind = given.get("kind")
    reader = _RULES.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise CorruptScheduleLog("A stored schedule has a kind that does not exist")
    names, read_rule = reader
    keys = _COMMON | names
    _check(given.keys() == keys or (untitled and given.keys() == keys - {"title"}), "set of members")
    record_id, prompt, target = given["id"], given["prompt"], parse_instant(given["scheduledAt"])
    if not isinstance(record_id, str) or not is_trimmed(record_id):
        raise _corrupt("id")
    if not isinstance(prompt, str) or not is_trimmed(prompt):
        raise _corrupt("prompt")
    if target is None:
        raise _corrupt("scheduledAt")
    text = title if isinstance(title, str) else ""
    return Record(id=record_id, title=text, prompt=prompt, rule=read_rule(given), scheduled_ms=target)


def _checked_object(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise CorruptScheduleLog("A stored schedule is no object")
    return value


def _check(holds: bool, name: str) -> None:
    if not holds:
        raise _corrupt(name)


def _corrupt(name: str) -> CorruptScheduleLog:
    return CorruptScheduleLog(f"A stored schedule has a {name} that cannot be used", field=name)


def _after(given: Mapping[str, object]) -> Rule:
    return After(after_seconds=_integer(given, "afterSeconds", least=1, most=MAX_SAFE))


def _at(given: Mapping[str, object]) -> Rule:
    return At()


def _every(given: Mapping[str, object]) -> Rule:
    return Every(every_seconds=_integer(given, "everySeconds", least=LEAST_EVERY_SECONDS, most=MAX_SAFE // 1000))


def _daily(given: Mapping[str, object]) -> Rule:
    return Daily(time_ms=_time(given), time_zone=_zone(given))


def _weekly(given: Mapping[str, object]) -> Rule:
    value = given["weekdays"]
    days = [safe_integer(day) or 0 for day in value] if isinstance(value, list | tuple) else []
    _check(days != [] and days == sorted(set(days)) and days[0] >= 1 and days[-1] <= 7, "weekdays")
    return Weekly(time_ms=_time(given), time_zone=_zone(given), weekdays=tuple(days))


def _cron(given: Mapping[str, object]) -> Rule:
    expression = given["expression"]
    try:
        text = canonical_expression(parse_expression(expression))
    except InvalidRule as error:
        raise _corrupt("expression") from error
    _check(text == expression, "expression")
    return Cron(expression=text, time_zone=_zone(given))


_RULES: dict[str, tuple[frozenset[str], Callable[[Mapping[str, object]], Rule]]] = {
    "after": (frozenset({"afterSeconds"}), _after),
    "at": (frozenset(), _at),
    "every": (frozenset({"everySeconds"}), _every),
    "daily": (frozenset({"time", "timeZone"}), _daily),
    "weekly": (frozenset({"time", "timeZone", "weekdays"}), _weekly),
    "cron": (frozenset({"expression", "timeZone"}), _cron),
}


def _integer(given: Mapping[str, object], name: str, *, least: int, most: int) -> int:
    value = safe_integer(given[name])
    if value is None or not least <= value <= most:
        raise _corrupt(name)
    return value


def _time(given: Mapping[str, object]) -> int:
    text = given["time"]
    time = parse_time(text) if isinstance(text, str) else None
    if time is None or format_time(time) != text:
        raise _corrupt("time")
    return time


def _zone(given: Mapping[str, object]) -> str:
    """Return the zone byte for byte as it is stored; an alias stays one."""
    zone = given["timeZone"]
    try:
        zone_name(zone)
    except InvalidTimeZone as error:
        raise _corrupt("timeZone") from error
    return str(zone)
