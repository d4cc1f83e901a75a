"""Shapes of the requests of the schedules API, for its schema; the rules read the bodies themselves."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.schedules.serializers.shapes import CronSerializer, DailySerializer, OptionsSerializer, WeeklySerializer


class SelectorsSerializer(serializers.Serializer[Any]):
    """The six selectors of when, of which a request names exactly one."""

    after_seconds = serializers.IntegerField(required=False)
    at = serializers.JSONField(required=False)
    every_seconds = serializers.IntegerField(required=False)
    daily = DailySerializer(required=False)
    weekly = WeeklySerializer(required=False)
    cron = CronSerializer(required=False)


class CreateSerializer(SelectorsSerializer):
    """A new schedule: title, prompt and exactly one of the six selectors."""

    title = serializers.CharField()
    prompt = serializers.CharField()
    options = OptionsSerializer(required=False)


class UpdateSerializer(serializers.Serializer[Any]):
    """A change; `expected` is the record as it was read, `change` an object of kind and the timing of that kind."""

    expected = serializers.DictField(required=False)
    title = serializers.CharField(required=False)
    prompt = serializers.CharField(required=False)
    change = serializers.DictField(required=False)
    options = OptionsSerializer(required=False)


class PreviewRequestSerializer(SelectorsSerializer):
    """One selector, and how many occurrences from when."""

    now = serializers.CharField(required=False)
    count = serializers.IntegerField(required=False, min_value=1, max_value=50)
    time_zone = serializers.CharField(required=False, help_text="of the local times of a rule that has none")
