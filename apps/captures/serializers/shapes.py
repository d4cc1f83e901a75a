"""Shapes of the REST endpoints, for the schema."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.captures.rules import MODES, PROFILES
from apps.captures.rules.coverage import STATUSES


class CaptureSerializer(serializers.Serializer[Any]):
    """One text with its metadata, under the identity that the adapter chose."""

    scope_id = serializers.CharField(max_length=256)
    source_id = serializers.CharField(max_length=256)
    content = serializers.CharField(max_length=200_000, trim_whitespace=False)
    metadata = serializers.JSONField(required=False)


class NamedSerializer(serializers.Serializer[Any]):
    """A source by its name."""

    source_type = serializers.CharField()
    source_id = serializers.CharField()


class CoverageSerializer(serializers.Serializer[Any]):
    """What the declaration means to a reader."""

    status = serializers.ChoiceField(choices=sorted(STATUSES))
    reasons = serializers.ListField(child=serializers.CharField())
    problem = serializers.CharField(allow_null=True)


class CapturedSerializer(serializers.Serializer[Any]):
    """A capture that is stored: now, or before."""

    outcome = serializers.ChoiceField(choices=["created", "replayed"])
    # A base class attribute of that name is typed as text; as a declared field it is not one.
    source = NamedSerializer()  # type: ignore[assignment]
    position = serializers.IntegerField()
    coverage = CoverageSerializer()


class PurgedSerializer(serializers.Serializer[Any]):
    """Who purged a source, and when."""

    by = serializers.CharField()
    at_ms = serializers.IntegerField()


class SourceSerializer(serializers.Serializer[Any]):
    """A source, or the tombstone of one: then `purged` instead of the text and what belongs to it."""

    scope_id = serializers.CharField()
    source = NamedSerializer()  # type: ignore[assignment]
    position = serializers.IntegerField()
    payload_sha256 = serializers.CharField()
    content = serializers.CharField(required=False)
    metadata = serializers.JSONField(required=False)
    coverage = CoverageSerializer(required=False)
    captured_at_ms = serializers.IntegerField(required=False)
    session_id = serializers.CharField(required=False, allow_null=True)
    purged = PurgedSerializer(required=False)


class SourceListSerializer(serializers.Serializer[Any]):
    """A part of a journal; `next_after` is the `after` of the next part, null at the end."""

    scope_id = serializers.CharField()
    sources = SourceSerializer(many=True)
    next_after = serializers.IntegerField(allow_null=True)


class RefusedSerializer(serializers.Serializer[Any]):
    """A payload that was refused under the identity of a source."""

    content = serializers.CharField()
    metadata = serializers.JSONField()
    coverage = CoverageSerializer()
    payload_sha256 = serializers.CharField()
    times = serializers.IntegerField()
    first_at_ms = serializers.IntegerField()
    last_at_ms = serializers.IntegerField()


class ConflictsSerializer(serializers.Serializer[Any]):
    """A source beside what was refused under its identity."""

    stored = SourceSerializer()
    refused = RefusedSerializer(many=True)


class ScopeSerializer(serializers.Serializer[Any]):
    """A scope and the last position taken in it."""

    scope_id = serializers.CharField()
    head = serializers.IntegerField()


class ScopeListSerializer(serializers.Serializer[Any]):
    """The scopes of the profile."""

    scopes = ScopeSerializer(many=True)


class EvidenceSerializer(serializers.Serializer[Any]):
    """Whole sources within a budget of tokens; `next_after` is where the cursor goes once they were dealt with."""

    scope_id = serializers.CharField()
    after = serializers.IntegerField()
    next_after = serializers.IntegerField()
    budget = serializers.IntegerField()
    tokens = serializers.IntegerField()
    halvings = serializers.IntegerField()
    evidence = serializers.ListField(child=serializers.DictField())


class ProjectSerializer(serializers.Serializer[Any]):
    """What a host knows of a turn or a window; which members count depends on the profile."""

    profile = serializers.ChoiceField(choices=sorted(PROFILES))
    session_id = serializers.CharField(required=False)
    user = serializers.JSONField(required=False)
    assistant = serializers.JSONField(required=False)
    messages = serializers.ListField(child=serializers.JSONField(), required=False)
    previous = serializers.ListField(child=serializers.JSONField(), required=False)
    mode = serializers.ChoiceField(choices=sorted(MODES), required=False)
    stream = serializers.CharField(required=False)
    protocol = serializers.CharField(required=False)
    finish_reason = serializers.CharField(required=False)
    input = serializers.JSONField(required=False)
    output = serializers.ListField(child=serializers.JSONField(), required=False)
    status = serializers.CharField(required=False)
    previous_response_id = serializers.CharField(required=False)
    gap = serializers.BooleanField(required=False)


class ProjectedSerializer(serializers.Serializer[Any]):
    """What would be captured; `captured` false: send nothing. `error` is there when a required window does not fit."""

    captured = serializers.BooleanField()
    text = serializers.CharField(allow_null=True)
    coverage = serializers.DictField(allow_null=True)
    metadata = serializers.DictField(allow_null=True)
    source_id = serializers.CharField(allow_null=True)
    error = serializers.CharField(required=False)


class CaptureErrorSerializer(serializers.Serializer[Any]):
    """Why something was refused."""

    code = serializers.CharField()
    message = serializers.CharField()
    field = serializers.CharField(required=False)


class FailureSerializer(serializers.Serializer[Any]):
    """A failure of this room."""

    error = CaptureErrorSerializer()
