"""Editing a schedule: optimistic, and without touching the target where nothing about the timing changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from apps.schedules.rules.errors import (
    CorruptScheduleLog,
    InvalidRule,
    ScheduleConflict,
    ScheduleEnded,
    ScheduleNotFound,
)
from apps.schedules.rules.kinds import ACTIVE, After, At, Cron, Daily, Record, Weekly
from apps.schedules.rules.records import read_record
from apps.schedules.rules.requests import read_prompt, read_title
from apps.schedules.rules.timing import Timing, read_timing
from apps.schedules.rules.zone_names import canonical_zone

CHANGES = {"at": "at", "every": "every_seconds", "daily": "daily", "weekly": "weekly", "cron": "cron"}
"""By the kind of a change, the member that says when."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Update:
    """The record after an edit, and whether it differs from the one before."""

    record: Record
    updated: bool


def update_record(record: Record | None, *, status: str, request: Mapping[str, object], now_ms: int) -> Update:
    """Return what an edit makes of a record; None stands for no such task in this session.

    `request` has `expected` and may have `title`, `prompt` and `change`. `now_ms` is the time at which the edit's turn
    came.
    """
    if record is None:
        raise ScheduleNotFound
    if status != ACTIVE:
        raise ScheduleEnded
    _check_expected(request.get("expected"), record)
    title = read_title(request["title"]) if "title" in request else record.title
    prompt = read_prompt(request["prompt"]) if "prompt" in request else record.prompt
    edited = replace(record, title=title, prompt=prompt)
    if "change" in request:
        timing = _read_change(request["change"])
        if not _is_same(timing, record):
            target = timing.first_target(now_ms=now_ms)
            return Update(record=replace(edited, rule=timing.rule, scheduled_ms=target), updated=True)
    return Update(record=edited, updated=edited != record)


def _check_expected(value: object, record: Record) -> None:
    try:
        expected = read_record(value)
    except CorruptScheduleLog as error:
        raise InvalidRule("expected must be the schedule as it was read", field="expected") from error
    if expected != record:
        raise ScheduleConflict


def _read_change(value: object) -> Timing:
    kind = value.get("kind") if isinstance(value, Mapping) else None
    selector = CHANGES.get(kind) if isinstance(kind, str) else None
    if not isinstance(value, Mapping) or selector is None or value.keys() != {"kind", selector}:
        raise InvalidRule("A change must be an object of kind and the timing of that kind", field="change")
    return read_timing(selector, value=value[selector])


def _is_same(timing: Timing, record: Record) -> bool:
    """Tell whether a change asks for what the record does already; zones are compared by their canonical names."""
    new, old = timing.rule, record.rule
    if isinstance(new, At):
        return isinstance(old, After | At) and timing.at_ms == record.scheduled_ms
    if isinstance(new, Daily | Weekly | Cron) and isinstance(old, Daily | Weekly | Cron):
        return new == replace(old, time_zone=canonical_zone(old.time_zone))
    return new == old
