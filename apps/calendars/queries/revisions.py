"""Reading what items were before."""

from __future__ import annotations

from typing import Any

from apps.accounts.queries import labels_of
from apps.calendars.models import Revision

LIST_SIZE = 200


def revisions_of(*, object_id: str) -> list[dict[str, Any]]:
    """Return the revisions of an object, the latest first."""
    rows = Revision.objects.filter(object_id=object_id).values("number", "title", "action", "by", "at_ms")
    found: list[dict[str, Any]] = [dict(row) for row in rows[:LIST_SIZE]]
    labels = labels_of(refs={row["by"] for row in found})
    return [{**row, "by_label": labels.get(row["by"], row["by"])} for row in found]
