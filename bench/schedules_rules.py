"""Occurrences of cron rules per second of processor time, beside croniter, cronsim and APScheduler.

Each round measures everybody in turn; the first occurrence is always that of an expression nobody has seen before.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import islice, product
from pathlib import Path
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger
from croniter import croniter
from cronsim import CronSim

sys.path.insert(0, str(Path(__file__).parent.parent))

from apps.schedules.rules.decisions import decide
from apps.schedules.rules.kinds import Record
from apps.schedules.rules.patterns import pattern_of
from apps.schedules.rules.timing import read_timing
from apps.schedules.rules.walk import occurrences

ZONE = "America/New_York"
NOW_MS = 1_789_516_800_000
NOW = datetime.fromtimestamp(NOW_MS / 1000, ZoneInfo(ZONE))
ORDINARY = ("0 9 * * 1-5", "*/15 8-18 * * *", "30 6 1,15 * *")
IMPOSSIBLE = "0 0 30 2 *"
# The second Sunday of March is when this zone has no 02:30; the peers shift the time or read the rule otherwise.
NEVER_SHOWN = "30 2 8-14 3 */7"
QUICK = "--quick" in sys.argv
ROUNDS = 3 if QUICK else 7
STEPS = 300 if QUICK else 2_000
FRESH = 200 if QUICK else 1_000

Walk = Callable[[str], Iterator[object]]


def ours(expression: str) -> Iterator[object]:
    """Walk our rule; what a caller wrote is checked and made canonical first, as on creating it."""
    timing = read_timing("cron", value={"expression": expression, "time_zone": ZONE})
    return occurrences(pattern_of(timing.rule), after_ms=NOW_MS)


def croniter_walk(expression: str) -> Iterator[object]:
    rule = croniter(expression, NOW)
    return iter(lambda: rule.get_next(float), None)


def cronsim_walk(expression: str) -> Iterator[object]:
    return CronSim(expression, NOW)


def apscheduler_walk(expression: str) -> Iterator[object]:
    trigger, at = CronTrigger.from_crontab(expression, timezone=ZoneInfo(ZONE)), NOW
    while (found := trigger.get_next_fire_time(at, at)) is not None:
        yield found
        at = found + timedelta(microseconds=1)


WALKS: dict[str, Walk] = {
    "sayso": ours,
    "croniter": croniter_walk,
    "cronsim": cronsim_walk,
    "apscheduler": apscheduler_walk,
}


def rate(work: Callable[[], int]) -> float:
    """Return how often per second of processor time some work does what it counts."""
    start = time.process_time_ns()
    count = work()
    return count / max(time.process_time_ns() - start, 1) * 1e9


def walked(walk: Walk, expression: str, steps: int) -> int:
    return sum(1 for _ in islice(walk(expression), steps))


def firsts(walk: Walk, expressions: Iterable[str]) -> int:
    return sum(1 for expression in expressions if next(walk(expression)) is not None)


def consecutive(expression: str) -> dict[str, float]:
    """Return the median rates of following one rule; ours is followed further, because it is through too soon."""
    found: dict[str, list[float]] = {name: [] for name in WALKS}
    for _, (name, walk) in product(range(ROUNDS), WALKS.items()):
        steps = STEPS * 20 if name == "sayso" else STEPS
        found[name].append(rate(partial(walked, walk, expression, steps)))
    return {name: statistics.median(rates) for name, rates in found.items()}


def fresh() -> dict[str, float]:
    """Return the median rates of reading a rule and finding its first occurrence."""
    weekdays = ("1-5", "*", "0,3", "6", "2-4", "1,5")
    everything = (f"{minute} {hour} * * {days}" for minute, hour, days in product(range(60), range(24), weekdays))
    found: dict[str, list[float]] = {name: [] for name in WALKS}
    for _ in range(ROUNDS):
        unseen = list(islice(everything, FRESH))
        for name, walk in WALKS.items():
            found[name].append(rate(partial(firsts, walk, unseen)))
    return {name: statistics.median(rates) for name, rates in found.items()}


def refusal(walk: Walk, expression: str) -> float:
    """Return the milliseconds until a rule is found to have no occurrence."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time_ns()
        try:
            found = next(walk(expression), None)
        except Exception:
            found = None
        times.append((time.process_time_ns() - start) / 1e6)
        assert found is None, found
    return statistics.median(times)


def decisions() -> float:
    """Return decisions per second of a due task: the newest occurrence and the next target."""
    rule = read_timing("cron", value={"expression": ORDINARY[0], "time_zone": ZONE}).rule
    record = Record(id="t", title="T", prompt="P", rule=rule, scheduled_ms=NOW_MS + 46_800_000)
    late = range(NOW_MS + 50_000_000, NOW_MS + 50_000_000 + FRESH * 60_000, 60_000)
    return statistics.median(
        rate(lambda: sum(1 for at in late if decide(record, accepted_ms=at))) for _ in range(ROUNDS)
    )


def show(title: str, rates: dict[str, float], wanted: float) -> None:
    fastest = max(rate for name, rate in rates.items() if name != "sayso")
    figures = "  ".join(f"{name} {rate:,.0f}" for name, rate in rates.items())
    print(f"{title:34} {figures}  -> {rates['sayso'] / fastest:.1f} times the fastest (wanted {wanted})")


def main() -> None:
    ours(ORDINARY[0])
    for expression in ORDINARY:
        show(f"consecutive/s {expression}", consecutive(expression), 10)
    show("first of a fresh rule/s", fresh(), 1.5)
    figures = "  ".join(f"{name} {refusal(walk, IMPOSSIBLE):.4f}" for name, walk in WALKS.items())
    print(f"refused in ms {IMPOSSIBLE:20} {figures}  (wanted below 0.2)")
    print(f"refused in ms {NEVER_SHOWN:20} sayso {refusal(ours, NEVER_SHOWN):.4f}")
    print(f"decisions/s                        sayso {decisions():,.0f}")


if __name__ == "__main__":
    main()
