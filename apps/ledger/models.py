"""The hash chain, its heads, receipts and idempotency keys."""

from __future__ import annotations

from django.db import models

from apps.core.values import new_id, now_ms
from apps.ledger.rules import GENESIS


class LedgerHead(models.Model):
    """The end of one profile's chain; its row lock is the last one that any transaction takes."""

    profile = models.OneToOneField("accounts.Profile", on_delete=models.PROTECT, primary_key=True, related_name="+")
    seq = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, default=GENESIS)

    def __str__(self) -> str:
        return f"{self.profile_id} #{self.seq}"


class LedgerEntry(models.Model):
    """One effect, or one step of a confirmation; append-only, hashes instead of texts."""

    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+", db_index=False)
    seq = models.BigIntegerField()
    at_ms = models.BigIntegerField()
    actor = models.CharField(max_length=64)
    action = models.CharField(max_length=64)
    target = models.CharField(max_length=200)
    effect = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    ids = models.TextField(default="{}")
    prev_hash = models.CharField(max_length=64)
    own_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["profile", "seq"]
        verbose_name_plural = "ledger entries"
        constraints = [models.UniqueConstraint(fields=["profile", "seq"], name="ledger_entry_seq_once")]

    def __str__(self) -> str:
        return f"#{self.seq} {self.action}"


class Receipt(models.Model):
    """What was decided and done, for keeping; `body` is canonical JSON and never changes."""

    id = models.CharField(primary_key=True, max_length=32, default=new_id, editable=False)
    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+", db_index=False)
    confirmation_id = models.CharField(max_length=32, unique=True)
    requester = models.CharField(max_length=64)
    body = models.TextField()
    signature = models.TextField(blank=True, default="")
    created_at_ms = models.BigIntegerField(default=now_ms, editable=False)

    def __str__(self) -> str:
        return self.id


class IdempotencyKey(models.Model):
    """A key that a requester used, for what, and where the outcome is found."""

    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+", db_index=False)
    requester = models.CharField(max_length=64)
    key = models.CharField(max_length=255)
    payload_hash = models.CharField(max_length=64)
    confirmation_id = models.CharField(max_length=32, blank=True, default="")
    answer = models.TextField(blank=True, default="")
    created_at_ms = models.BigIntegerField(default=now_ms, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["profile", "requester", "key"], name="idempotency_key_once"),
        ]

    def __str__(self) -> str:
        return self.key
