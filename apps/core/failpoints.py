"""Named points between the steps of a change, where a test may kill the process.

A point costs one set look-up while nothing is armed. `SAYSO_FAIL_AT=name` ends the process at once, as `kill -9` does.
"""

from __future__ import annotations

import os
import signal

POINTS: dict[str, str] = {
    "submit.before_insert": "validated and previewed; no row yet",
    "submit.before_commit": "row and ledger entry written, not committed",
    "submit.after_commit": "committed, nobody told yet",
    "decide.locked": "row locked and checked",
    "decide.digest_compared": "target locked, digest equal",
    "execute.claimed": "claim committed, the external call not made",
    "execute.called": "the external call made, its outcome not stored",
    "execute.acted": "action ran inside the transaction",
    "decide.before_commit": "state, ledger and receipt written, not committed",
    "decide.after_commit": "committed, nobody told yet",
    "announce.before": "about to tell",
    "announce.after": "told",
}

_armed = frozenset(filter(None, os.environ.get("SAYSO_FAIL_AT", "").split(",")))


def reach(name: str) -> None:
    """End the process if this point is armed."""
    if _armed and name in _armed:
        os.kill(os.getpid(), signal.SIGKILL)
