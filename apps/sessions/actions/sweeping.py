"""Emptying SQLite's write-ahead log after a deletion: at once, and again later while somebody is in the way.

Until then older forms of pages lie in it. PostgreSQL keeps house by itself.
"""

from __future__ import annotations

from django.db import connection

from apps.core import rows

BRIEFLY_MS = 200
"""How long a reader elsewhere is waited for: the caller may be the lane."""
AGAIN_MS = 10_000

_owed: list[int] = []
"""When the next try is due; empty once the last one succeeded."""


def sweep_journal(*, now_ms: int) -> bool:
    """Empty the journal, outside any transaction; tells whether nobody was in the way. A server begins with it."""
    _owed.clear()
    done = connection.vendor != "sqlite" or (not connection.in_atomic_block and _emptied())
    if not done:
        _owed.append(now_ms + AGAIN_MS)
    return done


def _emptied() -> bool:
    rows.execute(f"pragma busy_timeout = {BRIEFLY_MS}")
    try:
        busy: int = rows.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
    finally:
        usual_s = connection.settings_dict["OPTIONS"].get("timeout", 5)
        rows.execute(f"pragma busy_timeout = {round(usual_s * 1000)}")
    return busy == 0


def next_sweep_ms() -> int | None:
    """Return when the next try is due, None when nothing is left to empty."""
    return min(_owed, default=None)
