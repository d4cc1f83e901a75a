"""What an agent host holds of a session, and what waits for it there."""

from __future__ import annotations

from django.db import models

from apps.core.models import Record
from apps.sessions.models.sessions import Session


class Lease(models.Model):
    """A host's claim on a session; while it has not run out the session is live."""

    session = models.OneToOneField(Session, on_delete=models.PROTECT, primary_key=True, related_name="lease")
    holder = models.CharField(max_length=64, help_text="`token:ID` of the host.")
    lease_id = models.CharField(max_length=32, unique=True)
    taken_ms = models.BigIntegerField()
    expires_ms = models.BigIntegerField(db_index=True)

    def __str__(self) -> str:
        return f"{self.session} held by {self.holder}"


class InboxMessage(Record):
    """Something for a session's host to take in at a boundary of its choice; no event of the log."""

    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="inbox", db_index=False)
    number = models.BigIntegerField()
    source = models.CharField(max_length=32)
    payload = models.TextField()
    acknowledged_ms = models.BigIntegerField(null=True, blank=True)
    acknowledged_seq = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["session", "number"]
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="inbox_number_once")]

    def __str__(self) -> str:
        return f"{self.source} #{self.number}"
