"""What a schedule may be told beside its record: missed occurrences, an end, a number of runs, a pause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.schedules.rules.errors import InvalidRule, ScheduleInputError, TimeOutOfRange
from apps.schedules.rules.kinds import Record
from apps.schedules.rules.timing import read_at
from apps.schedules.rules.values import format_instant, in_range, safe_integer

LATEST, SKIP, EACH = "latest", "skip", "each"
MISSED = (LATEST, SKIP, EACH)
DEFAULT_GRACE_S = 3600
MOST_SECONDS = 10 * 366 * 86_400
MOST_RUNS = 1_000_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """How a task is run: what becomes of missed occurrences, until when, how often, and whether it rests."""

    missed: str = LATEST
    grace_s: int = DEFAULT_GRACE_S
    until_ms: int | None = None
    max_runs: int | None = None
    paused: bool = False


def read_options(value: object, *, base: Options | None = None) -> Options:
    """Return the options with the members of an object put over `base`; null takes a limit away."""
    known = base or Options()
    if not isinstance(value, Mapping) or not value.keys() <= {"missed", "grace_s", "until", "max_runs", "paused"}:
        raise InvalidRule("options may have missed, grace_s, until, max_runs and paused", field="options")
    missed, paused = value.get("missed", known.missed), value.get("paused", known.paused)
    if not isinstance(missed, str) or missed not in MISSED:
        raise InvalidRule("missed must be latest, skip or each", field="missed")
    if not isinstance(paused, bool):
        raise InvalidRule("paused must be true or false", field="paused")
    grace = _integer(value.get("grace_s", known.grace_s), name="grace_s", least=0, most=MOST_SECONDS)
    runs = value.get("max_runs", known.max_runs)
    return Options(
        missed=missed,
        grace_s=grace,
        until_ms=_until(value["until"]) if "until" in value else known.until_ms,
        max_runs=None if runs is None else _integer(runs, name="max_runs", least=1, most=MOST_RUNS),
        paused=paused,
    )


def options_json(options: Options) -> dict[str, object]:
    """Return the options as they are read and shown."""
    return {
        "missed": options.missed,
        "grace_s": options.grace_s,
        "until": None if options.until_ms is None else format_instant(options.until_ms),
        "max_runs": options.max_runs,
        "paused": options.paused,
    }


def check_options(options: Options, *, record: Record, runs: int) -> None:
    """Refuse options that leave the record without any run; `runs` is how many it has had."""
    if options.until_ms is not None and options.until_ms < record.scheduled_ms:
        raise TimeOutOfRange("The schedule has no occurrence before it ends", field="until")
    if options.max_runs is not None and options.max_runs <= runs:
        raise InvalidRule(f"max_runs must be more than the {runs} runs so far", field="max_runs")


def is_due(record: Record, *, options: Options, now_ms: int) -> bool:
    """Tell whether an active record is to be delivered; a paused one never is, and its target stays what it was."""
    return not options.paused and record.scheduled_ms <= now_ms


def _until(value: object) -> int | None:
    if value is None:
        return None
    try:
        until = read_at(value)
    except ScheduleInputError as error:
        error.extra["field"] = "until"
        raise
    if not in_range(until):
        raise TimeOutOfRange(field="until")
    return until


def _integer(value: object, *, name: str, least: int, most: int) -> int:
    number = safe_integer(value)
    if number is None or not least <= number <= most:
        raise InvalidRule(f"{name} must be a whole number from {least} to {most}", field=name)
    return number
