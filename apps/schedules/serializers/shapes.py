"""Shapes of the parts and the answers of the schedules API, for its schema."""

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
