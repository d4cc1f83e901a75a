"""Which part of a window is new: list overlap, so that repeats inside a window are kept."""

from __future__ import annotations

from collections.abc import Sequence


def already_captured(current: Sequence[str], *, snapshot: Sequence[str]) -> int:
    """Return how many leading fingerprints of `current` the snapshot holds already.

    All of them when `current` is found inside the snapshot as a run, else the longest overlap of the snapshot's end
    with the start of `current`. Linear: the search of Knuth, Morris and Pratt answers both.
    """
    if not current or not snapshot:
        return 0
    fallback = _borders(current)
    matched = 0
    for fingerprint in snapshot:
        while matched and current[matched] != fingerprint:
            matched = fallback[matched - 1]
        if current[matched] == fingerprint:
            matched += 1
        if matched == len(current):
            return matched
    return matched


def _borders(pattern: Sequence[str]) -> list[int]:
    """Return for each prefix the length of the longest proper prefix that is also its suffix."""
    lengths = [0] * len(pattern)
    length = 0
    for index in range(1, len(pattern)):
        while length and pattern[index] != pattern[length]:
            length = lengths[length - 1]
        if pattern[index] == pattern[length]:
            length += 1
        lengths[index] = length
    return lengths
