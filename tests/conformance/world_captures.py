"""Captures in a story's world: made in journal order by the room's own action, told by position."""

from typing import Any

from apps.captures.actions.capturing import capture
from apps.captures.models import Scope, Source
from apps.captures.rules import check_request
from tests.conformance import world

KINDS = ("captures",)


def make(given: dict[str, Any]) -> None:
    """Capture what the story begins with, as the profile's owner."""
    for one in given.get("captures", ()):
        body = {"scope_id": one["scope"], "source_id": one["id"], "content": one["content"]}
        capture(by=world.owner_of(one["profile"]), request=check_request(body), now_ms=world.now_ms())


def rows(kind: str, wanted: dict[str, Any], _: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of each scope by position; a gap shows as an empty text."""
    return {name: entries(name) for name in wanted}


def entries(scope: str) -> list[str]:
    head = Scope.objects.get(name=scope).head
    found = {row.position: row for row in Source.objects.filter(scope__name=scope)}
    assert max(found, default=0) == head
    return [told(found.get(position)) for position in range(1, head + 1)]


def told(row: Source | None) -> str:
    if row is None:
        return ""
    if row.payload is None:
        assert (row.metadata, bool(row.purged_by), row.purged_at_ms is not None) == ("", True, True)
        return f"{row.source_id} tombstone"
    return row.source_id
