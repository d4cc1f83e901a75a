"""The frozen vocabulary of older session logs: read on import, never turned into tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.schedules.rules.decisions import decide
from apps.schedules.rules.errors import CorruptScheduleLog
from apps.schedules.rules.kinds import After, At, Every, Record
from apps.schedules.rules.records import read_record
from apps.schedules.rules.values import is_trimmed, parse_instant, safe_integer

VERSION = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Fold:
    """What the events of a log add up to: active records in the order of their creation, and all ids ever seen."""

    active: tuple[Record, ...]
    seen_ids: tuple[str, ...]


def fold_events(events: Sequence[object], *, inherited: object) -> Fold:
    """Return what the events after the inherited ones add up to; raises CorruptScheduleLog."""
    count = safe_integer(inherited)
    if count is None or not 0 <= count <= len(events):
        raise _corrupt("count of inherited events")
    active: dict[str, Record] = {}
    seen: dict[str, None] = {}
    for event in events[count:]:
        given = event if isinstance(event, Mapping) else {}
        if safe_integer(given.get("version")) != VERSION:
            raise _corrupt("version")
        operation = given.get("operation")
        if operation == "create":
            _create(given, active, seen)
        elif operation == "delete":
            _active(given, active, {"version", "operation", "id"})
            del active[str(given["id"])]
        elif operation == "dispatch":
            _dispatch(given, active)
        else:
            raise _corrupt("operation")
    return Fold(active=tuple(active.values()), seen_ids=tuple(seen))


def _create(given: Mapping[str, object], active: dict[str, Record], seen: dict[str, None]) -> None:
    if given.keys() != {"version", "operation", "schedule"}:
        raise _corrupt("set of members")
    record = read_record(given["schedule"], untitled=True)
    if not isinstance(record.rule, After | At | Every) or record.id in seen:
        raise _corrupt("schedule")
    active[record.id] = record
    seen[record.id] = None


def _dispatch(given: Mapping[str, object], active: dict[str, Record]) -> None:
    accepted = {"acceptedAt"} & given.keys()
    record = _active(given, active, {"version", "operation", "id"} | accepted)
    if record.recurs != bool(accepted):
        raise _corrupt("acceptedAt")
    target = None
    if accepted:
        accepted_ms = parse_instant(given["acceptedAt"])
        if accepted_ms is None:
            raise _corrupt("acceptedAt")
        target = decide(record, accepted_ms=accepted_ms).next_ms
    if target is None:
        del active[record.id]
    else:
        active[record.id] = record.moved(scheduled_ms=target)


def _active(given: Mapping[str, object], active: Mapping[str, Record], members: set[str]) -> Record:
    record_id = given.get("id")
    if given.keys() != members or not isinstance(record_id, str) or not is_trimmed(record_id):
        raise _corrupt("set of members")
    if record_id not in active:
        raise _corrupt("id of no active schedule")
    return active[record_id]


def _corrupt(name: str) -> CorruptScheduleLog:
    return CorruptScheduleLog(f"An event of an older session log has a {name} that cannot be used")
