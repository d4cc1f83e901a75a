"""Sessions and runs."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from apps.core.models import Record
from apps.sessions.rules import ID_LENGTH


class Session(Record):
    """A conversation of an agent host; `ref` is the id that clients chose.

    One id is one session, but an import may bring stray copies of it: a copy is named by its workspace and its
    spelling. `header` is canonical JSON (empty: unreadable), `state` the validator's after the last event.
    """

    workspace = models.ForeignKey("accounts.Workspace", on_delete=models.PROTECT, related_name="+")
    ref = models.CharField(max_length=ID_LENGTH)
    source = models.CharField(max_length=64, default="cli")
    title = models.CharField(max_length=200, blank=True, default="")
    header = models.TextField(blank=True, default="")
    origin = models.CharField(max_length=32, blank=True, default="")
    parent = models.CharField(max_length=ID_LENGTH, blank=True, default="", help_text="The parent's id, bare.")
    state = models.TextField(blank=True, default="")
    next_seq = models.BigIntegerField(default=0)
    last_ms = models.BigIntegerField(default=0, help_text="The last event's time.")

    class Meta:
        ordering = ["-created_at_ms"]
        constraints = [models.UniqueConstraint(fields=["workspace", "ref"], name="session_copy_once")]
        indexes = [
            models.Index(fields=["profile", "ref"], name="session_by_ref"),
            models.Index(fields=["profile", "-created_at_ms", "-id"], name="session_newest"),
            models.Index(fields=["profile", "parent"], condition=~Q(parent=""), name="session_children"),
        ]

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
    starter = models.CharField(
        max_length=64, blank=True, default="", help_text="Who started it, as the ledger writes it."
    )

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
