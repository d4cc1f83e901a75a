"""Busy time of objects in a window (RFC 4791 section 7.10)."""

from collections.abc import Iterable
from typing import NamedTuple

from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.occurrences import DEFAULT_LIMIT, expand


class BusyPeriod(NamedTuple):
    """A period of one FBTYPE, in Unix milliseconds."""

    start_ms: int
    end_ms: int
    fbtype: str


def busy(
    *, objects: Iterable[StoredObject], window_start_ms: int, window_end_ms: int, limit: int = DEFAULT_LIMIT
) -> list[BusyPeriod]:
    """Merged busy periods cut to the window, ordered; TENTATIVE is BUSY-TENTATIVE.

    Events that are TRANSPARENT, cancelled or without length do not block, to-dos never do.
    """
    spans: dict[str, list[tuple[int, int]]] = {"BUSY": [], "BUSY-TENTATIVE": []}
    for stored in objects:
        if stored.kind != "VEVENT":
            continue
        found = expand(stored=stored, window_start_ms=window_start_ms, window_end_ms=window_end_ms, limit=limit)
        for each in found:
            if each.transparent or each.status == "CANCELLED" or each.start_ms is None or each.end_ms is None:
                continue
            start, end = max(each.start_ms, window_start_ms), min(each.end_ms, window_end_ms)
            if start < end:
                spans["BUSY-TENTATIVE" if each.status == "TENTATIVE" else "BUSY"].append((start, end))
    merged = [BusyPeriod(*span, fbtype) for fbtype, each in spans.items() for span in _merged(each)]
    return sorted(merged)


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
