"""Scopes with their journals, captured sources and what was refused under their names."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from apps.captures.rules.payload import ID_CHARACTERS, SOURCE_TYPE
from apps.core.models import Record

SESSION_LENGTH = 512


class Scope(Record):
    """One journal; `head` is the last position taken, and its row is locked before anything in the scope changes."""

    # The unique constraint below begins with the profile.
    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+", db_index=False)
    name = models.CharField(max_length=ID_CHARACTERS)
    head = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["profile", "name"], name="scope_name_once"),
            models.CheckConstraint(condition=Q(head__gte=0), name="scope_head_counts"),
        ]

    def __str__(self) -> str:
        return self.name


class Source(Record):
    """One captured text at its place in the journal, for ever as it came; once purged, the tombstone that stays there.

    `payload` is the canonical JSON whose bytes decide equality, `metadata` the JSON text as it was sent, for display.
    `session` is the id of the session that the capturer's token stands for, without its prefix.
    """

    # Each index is paid for by every capture: look-ups start from the scope, so the profile needs none.
    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+", db_index=False)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="sources", db_index=False)
    source_type = models.CharField(max_length=32, default=SOURCE_TYPE)
    source_id = models.CharField(max_length=ID_CHARACTERS)
    position = models.BigIntegerField()
    payload = models.BinaryField(null=True)
    payload_sha256 = models.CharField(max_length=64)
    metadata = models.TextField(blank=True)
    session = models.CharField(max_length=SESSION_LENGTH, blank=True, default="")
    captured_by = models.CharField(max_length=64)
    purged_by = models.CharField(max_length=64, blank=True, default="")
    purged_at_ms = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["scope", "position"]
        indexes = [models.Index(fields=["profile", "session"], condition=~Q(session=""), name="source_of_session")]
        constraints = [
            models.UniqueConstraint(fields=["scope", "source_type", "source_id"], name="source_identity_once"),
            models.UniqueConstraint(fields=["scope", "position"], name="source_position_once"),
            models.CheckConstraint(condition=Q(position__gte=1), name="source_position_counts"),
            models.CheckConstraint(
                condition=Q(payload__isnull=False, purged_by="", purged_at_ms__isnull=True)
                | (Q(payload__isnull=True, metadata="", purged_at_ms__isnull=False) & ~Q(purged_by="")),
                name="source_whole_or_tombstone",
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.position} {self.source_id}"


class Refused(Record):
    """Another payload that was sent under the identity of a source and not stored there; for people to compare."""

    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+", db_index=False)
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="refused", db_index=False)
    payload = models.BinaryField()
    payload_sha256 = models.CharField(max_length=64)
    sent_by = models.CharField(max_length=64)
    times = models.PositiveIntegerField(default=1)
    last_at_ms = models.BigIntegerField()

    class Meta:
        ordering = ["created_at_ms", "id"]
        verbose_name = "refused payload"
        constraints = [models.UniqueConstraint(fields=["source", "payload_sha256"], name="refused_payload_once")]

    def __str__(self) -> str:
        return f"{self.source_id} {self.payload_sha256[:8]}"
