"""Tasks, their deliveries and receipts, the record of edits, and webhooks."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from apps.core.models import Record
from apps.schedules.rules.hooks import CALL_STATES, PENDING
from apps.schedules.rules.kinds import ACTIVE, INACTIVE, TITLE_LENGTH
from apps.schedules.rules.messages import ORIGINS, OUTCOMES, SCHEDULED, SENT
from apps.schedules.rules.options import DEFAULT_GRACE_S, LATEST, MISSED
from apps.sessions.models import Session

_AWAKE = Q(status=ACTIVE, paused=False, quarantined="")


class Task(Record):
    """A schedule of a session. `ref` is its id for clients, `rule` the members of its record that say when, as JSON.

    `wake_ms` is when the dispatcher looks at it: the target, or later after a failed delivery; null for what is never
    due. `place` is the storage order. `shown` and `oldest_ms` are about the deliveries that answers show.
    """

    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="+", db_index=False)
    ref = models.CharField(max_length=64, unique=True)
    place = models.BigIntegerField()
    kind = models.CharField(max_length=6)
    title = models.CharField(max_length=TITLE_LENGTH)
    prompt = models.TextField()
    rule = models.TextField()
    scheduled_ms = models.BigIntegerField()
    status = models.CharField(max_length=8, default=ACTIVE)
    missed = models.CharField(max_length=6, default=LATEST, help_text="What becomes of missed occurrences.")
    grace_s = models.BigIntegerField(default=DEFAULT_GRACE_S)
    until_ms = models.BigIntegerField(null=True, blank=True)
    max_runs = models.BigIntegerField(null=True, blank=True)
    paused = models.BooleanField(default=False)
    runs = models.BigIntegerField(default=0)
    missed_total = models.BigIntegerField(default=0)
    last_scheduled_ms = models.BigIntegerField(null=True, blank=True)
    last_delivered_ms = models.BigIntegerField(null=True, blank=True)
    last_message = models.CharField(max_length=32, blank=True, default="")
    newest_ms = models.BigIntegerField(null=True, blank=True, help_text="The newest occurrence ever delivered.")
    shown = models.IntegerField(default=0)
    oldest_ms = models.BigIntegerField(null=True, blank=True)
    earlier_unavailable = models.BooleanField(default=False)
    earlier_pruned = models.BooleanField(default=False)
    failures = models.IntegerField(default=0)
    retry_ms = models.BigIntegerField(null=True, blank=True)
    problem = models.TextField(blank=True, default="", help_text="Why the latest delivery failed.")
    quarantined = models.TextField(blank=True, default="", help_text="Why this row is left alone.")
    wake_ms = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["place", "id"]
        indexes = [
            models.Index(fields=["wake_ms"], condition=Q(wake_ms__isnull=False), name="task_wake"),
            models.Index(fields=["retry_ms"], condition=Q(retry_ms__isnull=False), name="task_retry"),
            models.Index(fields=["session", "wake_ms"], name="task_of_session"),
            models.Index(fields=["profile", "scheduled_ms", "ref"], name="task_catalog"),
            models.Index(fields=["place"], name="task_place"),
            models.Index(fields=["profile"], condition=~Q(quarantined=""), name="task_quarantined"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=[ACTIVE, INACTIVE]), name="task_status_known"),
            models.CheckConstraint(condition=Q(missed__in=list(MISSED)), name="task_missed_known"),
            # What should run is never forgotten, and what should rest never wakes.
            models.CheckConstraint(
                condition=(Q(wake_ms__isnull=False) & _AWAKE) | (Q(wake_ms__isnull=True) & ~_AWAKE),
                name="task_wakes_when_awake",
            ),
            models.CheckConstraint(
                condition=Q(last_scheduled_ms__isnull=True, last_delivered_ms__isnull=True, last_message="")
                | (Q(last_scheduled_ms__isnull=False, last_delivered_ms__isnull=False) & ~Q(last_message="")),
                name="task_last_delivery_whole",
            ),
        ]

    def __str__(self) -> str:
        return self.ref


class Delivery(models.Model):
    """How one occurrence ended, in the order in which that was decided; title and prompt are those of that moment.

    `hidden` ones lie beyond the window of answers; they go only when a person purges them.
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False)
    origin = models.CharField(max_length=9, default=SCHEDULED)
    outcome = models.CharField(max_length=8, default=SENT)
    occurrence_ms = models.BigIntegerField()
    delivered_ms = models.BigIntegerField()
    message_id = models.CharField(max_length=32, blank=True, default="")
    title = models.CharField(max_length=TITLE_LENGTH)
    prompt = models.TextField()
    missed = models.BigIntegerField(default=0)
    hidden = models.BooleanField(default=False)
    by = models.CharField(max_length=64, blank=True, default="", help_text="Who asked for it, if not the rule.")

    class Meta:
        ordering = ["task", "id"]
        verbose_name_plural = "deliveries"
        indexes = [models.Index(fields=["task", "id"], name="delivery_of_task")]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "message_id"], condition=~Q(message_id=""), name="delivery_message_once"
            ),
            models.CheckConstraint(condition=Q(outcome__in=list(OUTCOMES)), name="delivery_outcome_known"),
            models.CheckConstraint(
                condition=(Q(outcome=SENT) & ~Q(message_id="")) | (~Q(outcome=SENT) & Q(message_id="")),
                name="delivery_sent_has_message",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} {self.occurrence_ms}"


class Receipt(models.Model):
    """Proof that an occurrence reached the inbox of its session; there is one at most, whatever the clock does."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False)
    origin = models.CharField(max_length=9, default=SCHEDULED)
    occurrence_ms = models.BigIntegerField()
    delivered_ms = models.BigIntegerField()
    message_id = models.CharField(max_length=32)

    class Meta:
        ordering = ["task", "occurrence_ms"]
        constraints = [
            models.UniqueConstraint(fields=["task", "origin", "occurrence_ms"], name="occurrence_delivered_once"),
            models.CheckConstraint(condition=Q(origin__in=list(ORIGINS)), name="receipt_origin_known"),
        ]

    def __str__(self) -> str:
        return f"{self.origin} {self.occurrence_ms}"


class TaskEdit(models.Model):
    """What somebody did to a task: the record, its options and its status before and after, as JSON."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False)
    action = models.CharField(max_length=16)
    by = models.CharField(max_length=64)
    at_ms = models.BigIntegerField()
    before = models.TextField(blank=True, default="")
    after = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["task", "id"]
        indexes = [models.Index(fields=["task", "id"], name="edit_of_task")]

    def __str__(self) -> str:
        return f"{self.action} by {self.by}"


class Webhook(Record):
    """Where the host of a session wants its reminders to be sent; the secret is derived from `salt`, never stored."""

    session = models.OneToOneField(Session, on_delete=models.PROTECT, related_name="+")
    url = models.TextField()
    salt = models.CharField(max_length=32)
    enabled = models.BooleanField(default=True)
    by = models.CharField(max_length=64)
    failures = models.IntegerField(default=0)
    last_ok_ms = models.BigIntegerField(null=True, blank=True)
    problem = models.TextField(blank=True, default="")

    def __str__(self) -> str:
        return self.url


class WebhookCall(models.Model):
    """One message on its way to a webhook."""

    webhook = models.ForeignKey(Webhook, on_delete=models.PROTECT, related_name="+", db_index=False)
    message_id = models.CharField(max_length=32)
    state = models.CharField(max_length=7, default=PENDING)
    tries = models.IntegerField(default=0)
    created_ms = models.BigIntegerField()
    next_ms = models.BigIntegerField(null=True, blank=True)
    problem = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["webhook", "id"]
        constraints = [
            models.UniqueConstraint(fields=["webhook", "message_id"], name="webhook_call_once"),
            models.CheckConstraint(condition=Q(state__in=list(CALL_STATES)), name="webhook_call_state_known"),
        ]

    def __str__(self) -> str:
        return f"{self.message_id} {self.state}"
