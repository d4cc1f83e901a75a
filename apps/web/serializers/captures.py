"""What the pages of captures show: names and texts made safe to look at, coverage as a badge with its reason."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from django.utils.http import urlencode
from django.utils.translation import gettext as _

from apps.accounts.queries import labels_of
from apps.captures.models import Refused, Scope, Source
from apps.captures.queries.browsing import PURGED, Counts
from apps.captures.rules import COVERAGE_KEY, HERMES_PRECOMPRESS, interpret
from apps.captures.rules.coverage import COMPLETE, PARTIAL, UNKNOWN
from apps.captures.serializers.badges import badge_of
from apps.core.text import visible

Shown = dict[str, Any]
EXCERPT = 200
TEXT_SHOWN = 20_000
"""How many characters a page shows of a text before it is asked for all of it."""

_SPACES = re.compile(r"( {2,})")


def page_of(kind: str = "", **query: str | int) -> str:
    """Return the address of one of these pages; names may hold anything, so they travel as its query."""
    return f"/captures/{kind}?{urlencode(query)}" if query else f"/captures/{kind}"


def shown_text(text: str) -> str:
    """Return a captured text with what is invisible in it spelled out; runs of spaces stay, pages keep them."""
    parts = _SPACES.split(text)
    return "".join(visible(part, keep_newlines=True) if index % 2 == 0 else part for index, part in enumerate(parts))


def shown_scope(scope: Scope) -> Shown:
    """Return a scope as the list shows it."""
    return {"name": visible(scope.name), "page": page_of(scope=scope.name), "head": scope.head}


def shown_counts(counts: Counts) -> list[Shown]:
    """Return each status with its count; tombstones are counted beside them, they have no coverage."""
    labels = {
        COMPLETE: _("Complete"),
        PARTIAL: _("Partial"),
        UNKNOWN: _("Unknown"),
        PURGED: _("Purged"),
    }
    return [{"status": key, "label": label, "count": counts.by_status.get(key, 0)} for key, label in labels.items()]


def shown_row(row: Source, *, scope: str, refused: int) -> Shown:
    """Return a source as the journal lists it."""
    place = _place(row, scope)
    if row.payload is None:
        return {**place, "badge": None, "refused": 0}
    content = json.loads(bytes(row.payload))["content"]
    head = visible(" ".join(content[:EXCERPT].split()))
    badge = badge_of(interpret(json.loads(row.metadata)))
    return {**place, "badge": badge, "excerpt": head, "longer": len(content) > EXCERPT, "refused": refused}


def shown_source(row: Source, *, scope: str, whole: bool, refused: int) -> Shown:
    """Return a source with its text and declaration, or what stays of a purged one."""
    place = _place(row, scope)
    facts = {"sha256": row.payload_sha256, "refused": refused}
    if row.payload is None:
        return {**place, **facts, "purged_by": _who(row.purged_by)}
    payload = json.loads(bytes(row.payload))
    return {**place, **facts, "captured_by": _who(row.captured_by), **shown_payload(payload, whole=whole)}


def shown_payload(payload: Mapping[str, Any], *, whole: bool) -> Shown:
    """Return a text with its metadata, the declaration apart from the other keys."""
    content, metadata = payload["content"], dict(payload["metadata"])
    found = interpret(metadata)
    declared = COVERAGE_KEY in metadata
    declaration = metadata.pop(COVERAGE_KEY, None)
    text = content if whole else content[:TEXT_SHOWN]
    return {
        "text": shown_text(text),
        "characters": len(content),
        "cut": len(text) < len(content),
        "badge": badge_of(found),
        "declared": declared,
        "declaration": _members(declaration),
        # In optional mode the host never offers the tail again: this mark is all that tells of it.
        "lost": found.status == PARTIAL and declaration["projection"] == HERMES_PRECOMPRESS,
        "metadata": _members(metadata) if metadata else [],
    }


def shown_refused(row: Refused, *, stored: Mapping[str, Any], whole: bool) -> Shown:
    """Return a refused payload, and in what it differs from the stored one."""
    payload = json.loads(bytes(row.payload))
    keys = sorted(
        key
        for key in {*payload["metadata"], *stored["metadata"]}
        if _json(payload["metadata"].get(key, ...)) != _json(stored["metadata"].get(key, ...))
    )
    return {
        **shown_payload(payload, whole=whole),
        "sha256": row.payload_sha256,
        "times": row.times,
        "first_at_ms": row.created_at_ms,
        "last_at_ms": row.last_at_ms,
        "sent_by": _who(row.sent_by),
        "text_differs": payload["content"] != stored["content"],
        "keys": [visible(key) for key in keys],
    }


def _who(ref: str) -> str:
    return visible(labels_of(refs=[ref]).get(ref, ref))


def _place(row: Source, scope: str) -> Shown:
    return {
        "id": row.source_id,
        "name": visible(row.source_id),
        "position": row.position,
        "page": page_of("source", scope=scope, id=row.source_id),
        "conflicts_page": page_of("conflicts", scope=scope, id=row.source_id),
        "captured_at_ms": row.created_at_ms,
        "purged_at_ms": row.purged_at_ms,
    }


def _members(value: Any) -> list[tuple[str, str]]:
    """Return the members of an object in their order; anything else is one nameless value."""
    if not isinstance(value, dict):
        return [("", shown_text(_json(value)))]
    return [(visible(key), shown_text(one if isinstance(one, str) else _json(one))) for key, one in value.items()]


def _json(value: Any) -> str:
    return "" if value is ... else json.dumps(value, ensure_ascii=False, sort_keys=True)
