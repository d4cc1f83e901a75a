"""The gate's tables."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from apps.confirmations.rules import LABEL_LENGTH, OPEN_STATES, STATES
from apps.core.models import Record

_OPEN = Q(state__in=list(OPEN_STATES))


class Confirmation(Record):
    """One contract call that waits, or waited, for a person.

    Session, run and other ids of the requester are kept as text in `ids`. JSON is kept as canonical text, so that both
    databases return the very bytes that were digested.
    """

    # The composite indexes below begin with the profile; one of its own would be one more to keep.
    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+", db_index=False)
    requester = models.CharField(max_length=64)
    requester_label = models.CharField(max_length=LABEL_LENGTH)
    requester_user_id = models.BigIntegerField()
    contract = models.CharField(max_length=64)
    arguments = models.TextField()
    purpose = models.CharField(max_length=500, blank=True, default="")
    ids = models.TextField(default="{}")
    target_kind = models.CharField(max_length=32)
    target_id = models.CharField(max_length=200)
    target_device = models.CharField(max_length=64, blank=True, default="")
    effect = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    facts = models.TextField(default="{}")
    state = models.CharField(max_length=12, default="pending", choices=[(state, state) for state in STATES])
    deadline_ms = models.BigIntegerField()
    decided_at_ms = models.BigIntegerField(null=True, blank=True)
    decider = models.CharField(max_length=64, blank=True, default="")
    decider_label = models.CharField(max_length=150, blank=True, default="")
    decider_kind = models.CharField(max_length=8, blank=True, default="")
    acknowledged = models.BooleanField(default=False)
    reason = models.CharField(max_length=500, blank=True, default="")
    code = models.CharField(max_length=64, blank=True, default="")
    outcome = models.TextField(default="{}")
    receipt_id = models.CharField(max_length=32, blank=True, default="")
    allowed_again = models.BooleanField(default=False)
    change_seq = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["created_at_ms", "id"]
        # Each index is paid for by every ask and every decision: the partial ones hold only what they are asked for.
        # How many a requester has open is counted from the unique constraint below.
        indexes = [
            models.Index(fields=["profile", "created_at_ms"], condition=_OPEN, name="confirmation_open"),
            models.Index(fields=["profile", "change_seq"], name="confirmation_changes"),
            models.Index(fields=["requester", "created_at_ms"], name="confirmation_requester"),
            models.Index(fields=["requester", "effect"], condition=Q(state="denied"), name="confirmation_denials"),
            models.Index(fields=["deadline_ms"], condition=Q(state="pending"), name="confirmation_due"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=list(STATES)), name="confirmation_state_known"),
            models.CheckConstraint(
                condition=~Q(state="executed")
                | (
                    ~Q(decider="")
                    & Q(decided_at_ms__isnull=False)
                    & Q(acknowledged=True)
                    & Q(decider_kind__in=["session", "device"])
                ),
                name="confirmation_executed_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(decider_kind__in=["", "session"])
                | (Q(decider_kind="device") & ~Q(target_device="") & Q(decider=F("target_device"))),
                name="confirmation_device_decides_own",
            ),
            models.CheckConstraint(
                condition=~Q(decider_kind="session") | Q(decider__startswith="user:"),
                name="confirmation_session_is_human",
            ),
            models.UniqueConstraint(
                fields=["requester", "effect"],
                condition=_OPEN,
                name="confirmation_effect_open_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.contract} {self.state}"


class SpentNonce(models.Model):
    """A decision nonce that was used; it is never good again."""

    nonce = models.CharField(primary_key=True, max_length=80)
    spent_at_ms = models.BigIntegerField()

    def __str__(self) -> str:
        return self.nonce
