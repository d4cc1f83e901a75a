"""The shapes of a session's page."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.sessions.serializers.sessions import ListedSessionSerializer


class RemovedTurnSerializer(serializers.Serializer[Any]):
    """A turn that a person removed from the model's view."""

    turn = serializers.IntegerField()
    seq = serializers.IntegerField()
    time_ms = serializers.IntegerField()


class StandingSerializer(ListedSessionSerializer):
    """How a session stands."""

    next_seq = serializers.IntegerField()
    replaces = serializers.IntegerField()
    messages_seen = serializers.IntegerField()
    open_turn = serializers.IntegerField(allow_null=True)
    compacting = serializers.BooleanField()
    removed = RemovedTurnSerializer(many=True)


class TranscriptRowSerializer(serializers.Serializer[Any]):
    """A message, the start or end of a turn, or another entry of a log; every text in it is safe to show."""

    seq = serializers.IntegerField()
    turn = serializers.IntegerField(allow_null=True)
    type = serializers.CharField()
    time_ms = serializers.IntegerField()
    seen = serializers.BooleanField()
    kind = serializers.ChoiceField(["message", "turn_start", "turn_end", "title", "entry", "long"])
    blocks = serializers.ListField(child=serializers.DictField(), required=False)


class TranscriptSerializer(serializers.Serializer[Any]):
    """A page of a session."""

    rows = TranscriptRowSerializer(many=True)
    before = serializers.IntegerField(allow_null=True)
    more = serializers.BooleanField()
    standing = StandingSerializer()
