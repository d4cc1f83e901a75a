"""Which sessions a person deleted here."""

from __future__ import annotations

from apps.sessions.models import DeletedSession
from apps.sessions.rules.ids import id_hash


def was_deleted(*, profile_id: str, ref: str) -> bool:
    """Tell whether a person deleted a session of this id, under either spelling."""
    return DeletedSession.objects.filter(
        profile_id=profile_id, id_hash=id_hash(profile_id=profile_id, ref=ref)
    ).exists()
