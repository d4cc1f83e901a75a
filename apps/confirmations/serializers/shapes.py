"""Shapes of the REST endpoints."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class PollSerializer(serializers.Serializer[Any]):
    """Where a confirmation stands."""

    confirmation_id = serializers.CharField()
    state = serializers.CharField()
    reason = serializers.CharField(required=False)
    receipt_id = serializers.CharField(required=False)


class PollListSerializer(serializers.Serializer[Any]):
    """Where the caller's confirmations stand."""

    confirmations = PollSerializer(many=True)


class PendingSerializer(serializers.Serializer[Any]):
    """A person was asked and has not decided."""

    status = serializers.CharField()
    detail = serializers.CharField()
    confirmation_id = serializers.CharField()


class DecisionSerializer(serializers.Serializer[Any]):
    """What the dialog sends."""

    decision = serializers.ChoiceField(choices=["approve", "deny"])
    acknowledged = serializers.BooleanField(required=False)
    digest = serializers.CharField()
    nonce = serializers.CharField()
    reason = serializers.CharField(required=False, allow_blank=True)


class ErrorSerializer(serializers.Serializer[Any]):
    """A failure of family R."""

    code = serializers.CharField()
    detail = serializers.CharField()
    confirmation_id = serializers.CharField(required=False)
