"""Which sessions are live and which are running, read fresh each time and under both spellings."""

from __future__ import annotations

from apps.core import rows
from apps.sessions.models import Lease, Run
from apps.sessions.rules.ids import spellings

_OF_SPELLINGS = """
select l.session_id, s.ref, l.holder, l.lease_id, l.taken_ms, l.expires_ms
from agent_sessions_lease l join agent_sessions_session s on s.id = l.session_id
where s.profile_id = %s and s.ref in (%s, %s) and l.expires_ms > %s
"""


def live_spellings(*, profile_id: str, now_ms: int) -> frozenset[str]:
    """Return the ids of the sessions that a host holds, as they are spelled where it holds them."""
    held = Lease.objects.filter(session__profile_id=profile_id, expires_ms__gt=now_ms)
    return frozenset(held.values_list("session__ref", flat=True))


def running_spellings(*, profile_id: str) -> frozenset[str]:
    """Return the ids of the sessions with an open run."""
    return frozenset(Run.objects.filter(profile_id=profile_id, state="running").values_list("session__ref", flat=True))


def live_leases(*, profile_id: str, ref: str, now_ms: int) -> list[Lease]:
    """Return the leases that have not run out of a session, under either spelling and of every copy."""
    known = spellings(ref)
    if not known:
        return []
    found = rows.execute(_OF_SPELLINGS, [profile_id, known[0], known[-1], now_ms]).fetchall()
    names = ("holder", "lease_id", "taken_ms", "expires_ms")
    return [Lease(session_id=row[0], **dict(zip(names, row[2:], strict=True))) for row in found]


def is_live(*, profile_id: str, ref: str, now_ms: int) -> bool:
    """Tell whether a host holds a session, under either spelling."""
    return bool(live_leases(profile_id=profile_id, ref=ref, now_ms=now_ms))


def is_running(*, profile_id: str, ref: str) -> bool:
    """Tell whether a session has an open run, under either spelling."""
    return Run.objects.filter(profile_id=profile_id, session__ref__in=spellings(ref), state="running").exists()


def lease_count_of_token(*, owner_id: str) -> int:
    """Return how many sessions a token holds."""
    return Lease.objects.filter(holder=f"token:{owner_id}").count()
