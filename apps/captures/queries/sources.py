"""Reading sources; every look-up starts from the profile and the scope, and what is hidden is not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from apps.captures.models import Refused, Scope, Source
from apps.captures.rules import SOURCE_TYPE, SourceNotFound, Tombstone, check_listing
from apps.core import rows
from apps.sessions.models import Session
from apps.sessions.rules.ids import bare, spellings

LIST_ROWS = 1_000
LIST_BYTES = 8 * 1024 * 1024
"""What one page of a list may hold; `next_after` of it leads on."""

_IN_SCOPE = "scope_id = (select id from captures_scope where profile_id = %s and name = %s)"
_ONE = f"{_IN_SCOPE} and source_type = %s and source_id = %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some of a journal in order; `next_after` is where it goes on, None at its end."""

    sources: list[Source]
    next_after: int | None


def source_of(*, profile_id: str, scope_id: str, source_id: str) -> Source:
    """Return a source, or the tombstone of one; raise SourceNotFound for whatever this profile does not have there."""
    row = rows.fetch(Source, _ONE, [profile_id, scope_id, SOURCE_TYPE, source_id])
    if row is None:
        raise SourceNotFound
    return row


def scope_named(*, profile_id: str, name: str) -> Scope | None:
    """Return a scope of the profile."""
    return Scope.objects.filter(profile_id=profile_id, name=name).first()


def scopes_of(*, profile_id: str) -> QuerySet[Scope]:
    """Return the profile's scopes by name."""
    return Scope.objects.filter(profile_id=profile_id)


def journal_page(*, profile_id: str, scope_id: str, after: int = 0, limit: int | None = None) -> Page:
    """Return the sources and tombstones after a position in order, as many as asked for and as one answer may hold."""
    check_listing(after=after, limit=limit)
    most = min(limit or LIST_ROWS, LIST_ROWS)
    scope = scope_named(profile_id=profile_id, name=scope_id)
    if scope is None:
        return Page(sources=[], next_after=None)
    found: list[Source] = []
    size = 0
    ahead = Source.objects.filter(scope=scope, position__gt=after).order_by("position")[:most]
    for row in ahead.iterator(chunk_size=20):
        size += len(row.payload or b"") + len(row.metadata)
        if found and size > LIST_BYTES:
            break
        found.append(row)
    last = found[-1].position if found else after
    # The head was read first: what came after it is for the next look.
    return Page(sources=found, next_after=last if found and last < scope.head else None)


def tombstone_of(row: Source, *, scope_id: str) -> Tombstone:
    """Return what stays of a purged source."""
    return Tombstone(
        scope_id=scope_id,
        source_type=row.source_type,
        source_id=row.source_id,
        position=row.position,
        payload_sha256=row.payload_sha256,
        purged_by=row.purged_by,
        purged_at_ms=row.purged_at_ms or 0,
    )


def refused_of(row: Source) -> list[Refused]:
    """Return the payloads that were refused under a source's identity, the eldest first."""
    return list(Refused.objects.filter(source=row))


def sources_of_session(*, owner_id: str) -> QuerySet[Source]:
    """Return what was captured in a session and is not purged, under either spelling of its id."""
    found = Session.objects.filter(pk=owner_id).values_list("profile_id", "ref").first()
    if found is None:
        return Source.objects.none()
    profile_id, ref = found
    copies = Session.objects.filter(profile_id=profile_id, ref__in=spellings(ref))
    if copies.order_by("pk").values_list("pk", flat=True).first() != owner_id:
        # An import may bring several copies of one session: its captures are the first one's.
        return Source.objects.none()
    return Source.objects.filter(profile_id=profile_id, session=bare(ref), purged_at_ms=None).exclude(session="")


def count_of_session(*, owner_id: str) -> int:
    """Return how many captures of a session there are."""
    return sources_of_session(owner_id=owner_id).count()


def digest_part_of_session(*, owner_id: str) -> Any:
    """Return what a card about a session rests on of its captures."""
    return sorted(sources_of_session(owner_id=owner_id).values_list("pk", flat=True))
