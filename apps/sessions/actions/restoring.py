"""Taking back the memory of a deletion, so that an import may bring the session in again."""

from __future__ import annotations

from django.db import transaction

from apps.accounts.rules import Caller
from apps.ledger.actions import append
from apps.sessions.models import DeletedSession
from apps.sessions.rules.ids import id_hash
from apps.sessions.rules.restoring import check_person


@transaction.atomic
def forget_deletion(*, by: Caller, ref: str, now_ms: int) -> bool:
    """Let a deleted session be stored again, in the name of a person; tells whether it was remembered as deleted."""
    check_person(kind=by.kind)
    name = id_hash(profile_id=by.profile_id, ref=ref)
    gone, _ = DeletedSession.objects.filter(profile_id=by.profile_id, id_hash=name).delete()
    if gone:
        # By its hash, like the deletion itself.
        append(profile_id=by.profile_id, actor=by.ref, action="session.restored", target=name, now_ms=now_ms)
    return gone > 0
