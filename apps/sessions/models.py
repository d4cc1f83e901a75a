"""Sessions and runs."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from apps.core.models import Record


class Session(Record):
    """A conversation of an agent host; `ref` is the id that clients chose, unique within the profile."""

    workspace = models.ForeignKey("accounts.Workspace", on_delete=models.PROTECT, related_name="+")
    ref = models.CharField(max_length=512)
    source = models.CharField(max_length=64, default="cli")
    title = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        ordering = ["-created_at_ms"]
        constraints = [models.UniqueConstraint(fields=["profile", "ref"], name="session_ref_once")]

    def __str__(self) -> str:
        return self.ref


class Run(Record):
    """One turn of work in a session; the device that started the latest one is the session's target."""

    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="runs")
    state = models.CharField(max_length=8, default="running")
    started_ms = models.BigIntegerField()
    ended_ms = models.BigIntegerField(null=True, blank=True)
    device = models.CharField(
        max_length=64, blank=True, default="", help_text="`device:ID` of the starter, if a phone."
    )
    background = models.BooleanField(default=False)

    class Meta:
        ordering = ["-started_ms"]
        indexes = [models.Index(fields=["session", "-started_ms"], name="run_latest")]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["running", "ended", "aborted"]), name="run_state_known"),
            models.CheckConstraint(
                condition=Q(state="running", ended_ms__isnull=True) | (~Q(state="running") & Q(ended_ms__isnull=False)),
                name="run_end_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session} {self.state}"
