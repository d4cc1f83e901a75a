"""The contract of the captures room."""

from __future__ import annotations

from apps.captures.actions import purging
from apps.captures.queries import previews
from apps.captures.serializers.words import kept_facts, purge_words
from apps.core.contracts import Contract

PURGE = Contract(
    name="captures.purge",
    scope="capture.purge",
    preview=previews.purge,
    act=purging.purge_source,
    words=purge_words,
    keeps=kept_facts,
    erases=True,
    example={"scope_id": "main", "source_id": "hermes-turn:0190"},
)
ALL = (PURGE,)
