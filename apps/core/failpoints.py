"""Named points between the steps of a change, where a test may kill the process.

A point costs one look while nothing is armed. `SAYSO_FAIL_AT=name` ends the process at once, as `kill -9` does;
`name:3` the third time the point is reached.
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
    "append.before_head": "events written, the session's own row not yet",
    "append.before_commit": "events and the session's row written, not committed",
    "delete_session.dependents": "what hangs on a session removed, its rows not yet",
    "delete_session.erased": "every stored copy erased, lists and cache not yet",
    "delete_session.remembered": "all of a session gone and its id remembered, not committed",
    "remove_turn.appended": "a removal's four events written, not committed",
    "deliver.claimed": "sessions locked, due schedules read",
    "deliver.messages_written": "messages written, not committed",
    "deliver.before_commit": "messages, deliveries, receipts and advances written, not committed",
    "deliver.after_commit": "committed, nobody told yet",
    "announce.before": "about to tell",
    "announce.after": "told",
}


def _parsed(text: str) -> dict[str, int]:
    """Return how often each armed point may still be passed."""
    found = (part.partition(":") for part in text.split(",") if part)
    return {name: int(count or 1) - 1 for name, _, count in found}


_armed = _parsed(os.environ.get("SAYSO_FAIL_AT", ""))


def reach(name: str) -> None:
    """End the process if this point is armed and its time has come."""
    if _armed and name in _armed:
        if _armed[name] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        _armed[name] -= 1
