"""Leases: a host takes a session, keeps it by renewing, and lets it go."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from apps.accounts.queries import labels_of
from apps.accounts.rules import Caller
from apps.core.announce import announce
from apps.core.values import new_id
from apps.sessions.models import Lease, Session
from apps.sessions.queries import session_of
from apps.sessions.queries.leases import live_leases
from apps.sessions.rules.hosts import LEASE_MS, LeaseHeld, LeaseNotHeld
from apps.sessions.rules.ids import spellings


@transaction.atomic
def take_lease(*, by: Caller, ref: str, now_ms: int, lease_id: str | None = None) -> Lease:
    """Take a session for 60 seconds, or go on holding it.

    A lease of the caller's own goes on under another id unless `lease_id` is its id or None: what an earlier connection
    of the same token holds, that connection cannot let go any more. Raises `LeaseHeld` while somebody else holds the
    session under either spelling.
    """
    session = session_of(by=by, ref=ref)
    _lock_copies(session)
    held = live_leases(profile_id=by.profile_id, ref=session.ref, now_ms=now_ms)
    foreign = next((one for one in held if one.holder != by.ref), None)
    if foreign is not None:
        raise _held(foreign, now_ms=now_ms)
    lease = next((one for one in held if one.session_id == session.pk), None)
    if lease is not None and lease_id not in (None, lease.lease_id):
        _tell_end(lease, session=session)
        lease = None
    if lease is None:
        lease = Lease(session=session, holder=by.ref, lease_id=new_id(), taken_ms=now_ms)
        announce("session.leased", profile=session.profile_id, session=session.pk, lease=lease.lease_id)
    lease.expires_ms = now_ms + LEASE_MS
    _keep(lease)
    return lease


@transaction.atomic
def renew_lease(*, by: Caller, ref: str, lease_id: str, now_ms: int) -> Lease:
    """Hold a session for another 60 seconds; raises `LeaseNotHeld` once the lease has run out."""
    session = session_of(by=by, ref=ref)
    _lock_copies(session)
    held = live_leases(profile_id=by.profile_id, ref=session.ref, now_ms=now_ms)
    lease = next((one for one in held if one.lease_id == lease_id and one.holder == by.ref), None)
    if lease is None:
        raise LeaseNotHeld
    lease.expires_ms = now_ms + LEASE_MS
    _keep(lease)
    return lease


@transaction.atomic
def release_lease(*, by: Caller, ref: str, now_ms: int, lease_id: str = "") -> bool:
    """Let a session go; tells whether it was held. One that another host took meanwhile stays with that host."""
    session = session_of(by=by, ref=ref)
    mine = Lease.objects.filter(session=session, holder=by.ref)
    lease = (mine.filter(lease_id=lease_id) if lease_id else mine).first()
    if lease is None:
        return False
    end_leases(lease_ids=[lease.lease_id])
    return lease.expires_ms > now_ms


@transaction.atomic
def end_leases(*, lease_ids: Collection[str]) -> int:
    """End leases by their ids, as a closed connection does; returns how many there were."""
    found = Lease.objects.filter(lease_id__in=list(lease_ids)).select_related("session")
    for lease in found:
        _tell_end(lease, session=lease.session)
    return Lease.objects.filter(pk__in=[lease.pk for lease in found]).delete()[0]


@transaction.atomic
def end_leases_of_token(*, owner_id: str, now_ms: int) -> int:
    """End what a revoked token holds."""
    ids = Lease.objects.filter(holder=f"token:{owner_id}").values_list("lease_id", flat=True)
    return end_leases(lease_ids=list(ids))


def _lock_copies(session: Session) -> None:
    """Lock every copy of a session under either spelling, so that two hosts take it one after the other."""
    copies = Session.objects.select_for_update().filter(profile_id=session.profile_id, ref__in=spellings(session.ref))
    list(copies.order_by("id").values_list("pk", flat=True))


def _keep(lease: Lease) -> None:
    values = {"holder": lease.holder, "lease_id": lease.lease_id, "taken_ms": lease.taken_ms}
    Lease.objects.update_or_create(session_id=lease.session_id, defaults={**values, "expires_ms": lease.expires_ms})


def _held(lease: Lease, *, now_ms: int) -> LeaseHeld:
    label = labels_of(refs=[lease.holder]).get(lease.holder, lease.holder)
    left_s = (lease.expires_ms - now_ms + 999) // 1000
    return LeaseHeld(
        f"{label} holds this session; close it there, or try again in {left_s} s, when an unrenewed lease has run out.",
        held_by=label,
        expires_ms=lease.expires_ms,
        retry_after_s=left_s,
    )


def _tell_end(lease: Lease, *, session: Session) -> None:
    announce(
        "session.released",
        keys=(f"lease:{lease.lease_id}",),
        profile=session.profile_id,
        session=session.pk,
        lease=lease.lease_id,
    )
