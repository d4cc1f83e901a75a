"""Calendars, their objects, the pre-expanded occurrences and the revisions."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from apps.core.models import Record


class Calendar(Record):
    """A named calendar of a profile; it holds events and reminders."""

    name = models.CharField(max_length=200)
    colour = models.CharField(max_length=16, default="#3b6ea5")
    is_default = models.BooleanField(default=False)
    read_only = models.BooleanField(default=False)

    class Meta:
        ordering = ["-is_default", "name"]
        constraints = [
            models.UniqueConstraint(fields=["profile", "name"], name="calendar_name_once"),
            models.UniqueConstraint(fields=["profile"], condition=Q(is_default=True), name="calendar_default_once"),
        ]

    def __str__(self) -> str:
        return self.name


class CalendarObject(Record):
    """Everything with one UID, as iCalendar text, with the columns that lists and look-ups need.

    `first_ms` and `last_ms` bound every occurrence (null `last_ms`: no end). Between `rows_from_ms` and `rows_to_ms`
    the occurrence rows are complete; null means without bound. `occurrences` is null for an endless series.
    """

    # The first index below serves it.
    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+", db_index=False)
    calendar = models.ForeignKey(Calendar, on_delete=models.PROTECT, related_name="+", db_index=False)
    uid = models.TextField()
    uid_key = models.CharField(max_length=64)
    kind = models.CharField(max_length=6)
    ics = models.TextField()
    digest = models.CharField(max_length=64)
    owner_zone = models.CharField(max_length=64)
    title = models.TextField(blank=True)
    location = models.TextField(blank=True)
    notes = models.TextField(blank=True)
    status = models.CharField(max_length=40, blank=True)
    transparent = models.BooleanField(default=False)
    zone = models.CharField(max_length=200, blank=True)
    all_day = models.BooleanField(default=False)
    recurring = models.BooleanField(default=False)
    rrule = models.TextField(blank=True)
    sequence = models.BigIntegerField(default=0)
    priority = models.SmallIntegerField(default=0)
    attendees = models.IntegerField(default=0)
    alarm_minutes = models.BigIntegerField(null=True, blank=True)
    completed = models.BooleanField(default=False)
    completed_ms = models.BigIntegerField(null=True, blank=True)
    start_ms = models.BigIntegerField(null=True, blank=True)
    end_ms = models.BigIntegerField(null=True, blank=True)
    first_start_ms = models.BigIntegerField(null=True, blank=True)
    first_title = models.TextField(blank=True)
    first_ms = models.BigIntegerField(null=True, blank=True)
    last_ms = models.BigIntegerField(null=True, blank=True)
    occurrences = models.IntegerField(null=True, blank=True)
    rows_from_ms = models.BigIntegerField(null=True, blank=True)
    rows_to_ms = models.BigIntegerField(null=True, blank=True)
    extend_at_ms = models.BigIntegerField(null=True, blank=True)
    changed_at_ms = models.BigIntegerField()

    class Meta:
        ordering = ["first_ms", "id"]
        indexes = [
            models.Index(fields=["profile", "owner_zone"], name="calobject_zone"),
            # Of single items, whose rows have no bound, neither holds anything.
            models.Index(
                fields=["profile", "rows_to_ms"], name="calobject_rows_to", condition=Q(rows_to_ms__isnull=False)
            ),
            models.Index(
                fields=["profile", "rows_from_ms"], name="calobject_rows_from", condition=Q(rows_from_ms__isnull=False)
            ),
            models.Index(fields=["extend_at_ms"], name="calobject_extend", condition=Q(extend_at_ms__isnull=False)),
        ]
        constraints = [
            models.UniqueConstraint(fields=["calendar", "uid_key"], name="calobject_uid_once"),
            models.CheckConstraint(condition=Q(kind__in=["VEVENT", "VTODO"]), name="calobject_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class Occurrence(models.Model):
    """One occurrence within the horizon of its object, written with the object and never read back into it.

    `at_ms` and `until_ms` are what windows are matched with; both null for a to-do without any time. `words` is JSON
    of what differs from the object: empty for most rows. `long` rows last more than a day.
    """

    # The indexes below begin with these two, so they need none of their own: a daily series has hundreds of rows.
    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+", db_index=False)
    object = models.ForeignKey(CalendarObject, on_delete=models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=6)
    slot = models.CharField(max_length=300)
    slot_hash = models.CharField(max_length=16)
    at_ms = models.BigIntegerField(null=True, blank=True)
    until_ms = models.BigIntegerField(null=True, blank=True)
    long = models.BooleanField(default=False)
    start_ms = models.BigIntegerField(null=True, blank=True)
    end_ms = models.BigIntegerField(null=True, blank=True)
    all_day = models.BooleanField(default=False)
    start_date = models.CharField(max_length=12, blank=True)
    end_date = models.CharField(max_length=12, blank=True)
    words = models.TextField(blank=True)

    class Meta:
        ordering = ["at_ms", "id"]
        indexes = [
            models.Index(fields=["profile", "kind", "long", "at_ms", "until_ms"], name="occurrence_window"),
        ]
        constraints = [models.UniqueConstraint(fields=["object", "slot_hash"], name="occurrence_once")]

    def __str__(self) -> str:
        return self.slot


class Revision(Record):
    """What an object was before a change; `number` is the version that the text had."""

    object = models.ForeignKey(CalendarObject, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.PositiveIntegerField()
    ics = models.TextField()
    title = models.TextField(blank=True)
    action = models.CharField(max_length=40)
    by = models.CharField(max_length=64)
    at_ms = models.BigIntegerField()

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["object", "number"], name="revision_once")]

    def __str__(self) -> str:
        return f"{self.object_id} #{self.number}"


class RecentWrite(models.Model):
    """That a requester wrote something a moment ago; kept for a minute."""

    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+")
    requester = models.CharField(max_length=64)
    at_ms = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["requester", "at_ms"], name="recentwrite_of")]

    def __str__(self) -> str:
        return f"{self.requester} {self.at_ms}"


class AlarmClock(models.Model):
    """When the dispatcher looks at an object that may ring; what fired up to `since_ms` has been told."""

    object = models.OneToOneField(CalendarObject, on_delete=models.PROTECT, primary_key=True, related_name="+")
    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+", db_index=False)
    at_ms = models.BigIntegerField(db_index=True)
    since_ms = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.object_id} {self.at_ms}"
