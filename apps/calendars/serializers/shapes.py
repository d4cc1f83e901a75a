"""The shapes of the REST endpoints."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class ItemSerializer(serializers.Serializer[Any]):
    """An event or a reminder, as written."""

    id = serializers.CharField(required=False, help_text="as list gave it, in mobile requests other than create")
    title = serializers.CharField(required=False)
    start_ms = serializers.IntegerField(required=False, help_text="events: Unix milliseconds or ISO 8601 with offset")
    end_ms = serializers.IntegerField(required=False)
    due_ms = serializers.IntegerField(required=False, allow_null=True, help_text="reminders")
    all_day = serializers.BooleanField(required=False)
    notes = serializers.CharField(required=False, allow_null=True)
    location = serializers.CharField(required=False, allow_null=True)
    reminder_minutes = serializers.IntegerField(required=False, allow_null=True)
    priority = serializers.IntegerField(required=False, min_value=0, max_value=9)
    completed = serializers.BooleanField(required=False)
    rrule = serializers.CharField(required=False, allow_null=True)
    exdates = serializers.ListField(child=serializers.IntegerField(), required=False)
    time_zone = serializers.CharField(required=False)
    calendar = serializers.CharField(required=False, help_text="id or name")


class WrittenItemSerializer(ItemSerializer):
    """An item as the REST endpoints take it, beyond what the mobile door carries."""

    start_date = serializers.DateField(required=False, help_text="all-day events: the first day")
    last_day = serializers.DateField(required=False, help_text="all-day events: the last day")
    alarm = serializers.IntegerField(required=False, allow_null=True, help_text="minutes; as reminder_minutes")
    purpose = serializers.CharField(required=False, help_text="the requester's words on the card")
    expires_in_s = serializers.IntegerField(required=False, min_value=3, max_value=604_800)


class CompletionSerializer(serializers.Serializer[Any]):
    """What completes a reminder."""

    completed = serializers.BooleanField(required=False, help_text="false opens it again")
    due_ms = serializers.IntegerField(required=False, help_text="of one occurrence: the listed time")
    notes = serializers.CharField(required=False, allow_null=True)
    location = serializers.CharField(required=False, allow_null=True)
    priority = serializers.IntegerField(required=False, min_value=0, max_value=9)
    purpose = serializers.CharField(required=False)
    expires_in_s = serializers.IntegerField(required=False, min_value=3, max_value=604_800)


class ImportSerializer(serializers.Serializer[Any]):
    """A file to import."""

    ics = serializers.CharField(help_text="the text of the file")
    replace = serializers.BooleanField(required=False, help_text="what the file lacks goes, once a person agrees")
    purpose = serializers.CharField(required=False)
    expires_in_s = serializers.IntegerField(required=False, min_value=3, max_value=604_800)


class UploadSerializer(serializers.Serializer[Any]):
    """A file to import, as a form sends it."""

    file = serializers.FileField()
    replace = serializers.BooleanField(required=False)
    purpose = serializers.CharField(required=False)
    expires_in_s = serializers.IntegerField(required=False, min_value=3, max_value=604_800)


class CalendarSerializer(serializers.Serializer[Any]):
    """A calendar."""

    id = serializers.CharField(read_only=True)
    name = serializers.CharField(max_length=200)
    colour = serializers.CharField(required=False)
    is_default = serializers.BooleanField(required=False)
    read_only = serializers.BooleanField(required=False)  # type: ignore[assignment]


class MobileRequestSerializer(serializers.Serializer[Any]):
    """A mobile-calendar request."""

    session_id = serializers.CharField()
    capability = serializers.ChoiceField(choices=["calendar", "reminder"])
    action = serializers.ChoiceField(choices=["list", "create", "update", "delete", "complete"])
    purpose = serializers.CharField()
    start_ms = serializers.IntegerField(required=False)
    end_ms = serializers.IntegerField(required=False)
    include_completed = serializers.BooleanField(required=False)
    limit = serializers.IntegerField(required=False)
    item = ItemSerializer(required=False, help_text="delete: exactly the id, title and start_ms (due_ms) of list")
    timeout_ms = serializers.IntegerField(required=False)
    expires_in_s = serializers.IntegerField(required=False)
