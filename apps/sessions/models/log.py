"""The log of a session and what the validator looks up about it."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from apps.core.models import RowNumber
from apps.sessions.models.sessions import Session
from apps.sessions.rules.ground import KEY_LENGTH


class SessionEvent(models.Model):
    """One accepted event, append-only; `body` is its JSON in ASCII, for texts may hold what no database keeps."""

    id = RowNumber(primary_key=True)
    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="events", db_index=False)
    seq = models.BigIntegerField()
    type = models.CharField(max_length=64)
    time_ms = models.BigIntegerField()
    turn = models.IntegerField(null=True, blank=True, help_text="The turn that was open, if one was.")
    body = models.TextField()

    class Meta:
        ordering = ["session", "seq"]
        constraints = [models.UniqueConstraint(fields=["session", "seq"], name="session_event_seq_once")]

    def __str__(self) -> str:
        return f"#{self.seq} {self.type}"


class SurfaceNode(models.Model):
    """An event that the model sees, and its place in the order.

    An appended event stands at the place of its own number, so only the few others are indexed by their number too.
    """

    id = RowNumber(primary_key=True)
    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="+", db_index=False)
    place = models.BigIntegerField()
    seq = models.BigIntegerField()

    class Meta:
        ordering = ["session", "place"]
        constraints = [
            models.UniqueConstraint(fields=["session", "place"], name="surface_place_once"),
            models.UniqueConstraint(
                fields=["session", "seq"], condition=Q(place__lt=F("seq")), name="surface_seq_once"
            ),
            models.CheckConstraint(condition=Q(place__lte=F("seq")), name="surface_place_is_earlier"),
        ]

    def __str__(self) -> str:
        return f"#{self.seq} at {self.place}"


class SessionMark(models.Model):
    """What happened once by a name: a turn's start and end, a reply, a command, a child, a removal."""

    id = RowNumber(primary_key=True)
    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=16)
    key = models.CharField(max_length=KEY_LENGTH)
    seq = models.BigIntegerField()

    class Meta:
        ordering = ["session", "kind", "seq"]
        constraints = [models.UniqueConstraint(fields=["session", "kind", "key"], name="session_mark_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class Citation(models.Model):
    """One event that names an earlier one as its source."""

    id = RowNumber(primary_key=True)
    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="+", db_index=False)
    cited = models.BigIntegerField()
    seq = models.BigIntegerField()

    class Meta:
        ordering = ["session", "cited", "seq"]
        constraints = [models.UniqueConstraint(fields=["session", "cited", "seq"], name="citation_once")]

    def __str__(self) -> str:
        return f"#{self.seq} cites #{self.cited}"
