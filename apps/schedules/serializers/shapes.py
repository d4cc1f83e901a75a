"""Shapes of the schedules API, for its schema; the rules read the bodies themselves."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class OptionsSerializer(serializers.Serializer[Any]):
    """How a schedule is run, beside its record."""

    missed = serializers.ChoiceField(choices=["latest", "skip", "each"], required=False)
    grace_s = serializers.IntegerField(required=False)
    until = serializers.JSONField(required=False, allow_null=True)
    max_runs = serializers.IntegerField(required=False, allow_null=True)
    paused = serializers.BooleanField(required=False)


class DailySerializer(serializers.Serializer[Any]):
    """A time of every day in a time zone."""

    time = serializers.CharField()
    time_zone = serializers.CharField()


class WeeklySerializer(DailySerializer):
    """A time of some days of the week; 1 is Monday."""

    weekdays = serializers.ListField(child=serializers.IntegerField())


class CronSerializer(serializers.Serializer[Any]):
    """A cron expression in a time zone."""

    expression = serializers.CharField()
    time_zone = serializers.CharField()


class CreateSerializer(serializers.Serializer[Any]):
    """A new schedule: title, prompt and exactly one of the six selectors."""

    title = serializers.CharField()
    prompt = serializers.CharField()
    after_seconds = serializers.IntegerField(required=False)
    at = serializers.JSONField(required=False)
    every_seconds = serializers.IntegerField(required=False)
    daily = DailySerializer(required=False)
    weekly = WeeklySerializer(required=False)
    cron = CronSerializer(required=False)
    options = OptionsSerializer(required=False)


class UpdateSerializer(serializers.Serializer[Any]):
    """A change; `expected` is the record as it was read, `change` an object of kind and the timing of that kind."""

    expected = serializers.DictField(required=False)
    title = serializers.CharField(required=False)
    prompt = serializers.CharField(required=False)
    change = serializers.DictField(required=False)
    options = OptionsSerializer(required=False)


class PreviewRequestSerializer(serializers.Serializer[Any]):
    """One selector, and how many occurrences from when."""

    now = serializers.CharField(required=False)
    count = serializers.IntegerField(required=False, min_value=1, max_value=50)
    time_zone = serializers.CharField(required=False, help_text="of the local times of a rule that has none")
    after_seconds = serializers.IntegerField(required=False)
    at = serializers.JSONField(required=False)
    every_seconds = serializers.IntegerField(required=False)
    daily = DailySerializer(required=False)
    weekly = WeeklySerializer(required=False)
    cron = CronSerializer(required=False)


class RecordSerializer(serializers.Serializer[Any]):
    """A schedule's record; further members belong to its kind."""

    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=["after", "at", "every", "daily", "weekly", "cron"])
    title = serializers.CharField()
    prompt = serializers.CharField()
    scheduledAt = serializers.CharField()  # noqa: N815 (the contract's name)


class UpdatedSerializer(serializers.Serializer[Any]):
    """What became of a change."""

    id = serializers.CharField()
    updated = serializers.BooleanField()
    record = RecordSerializer()
    options = OptionsSerializer()


class WebhookSerializer(serializers.Serializer[Any]):
    """Where a session's reminders are sent; the secret is shown once, when the address is set."""

    url = serializers.CharField(required=False)
    enabled = serializers.BooleanField(required=False)
