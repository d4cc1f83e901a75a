"""The shape of sessions."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.sessions.models import Session


def session_body(row: Session) -> dict[str, Any]:
    """Return a session as clients see it."""
    return {"id": row.ref, "source": row.source, "title": row.title, "created_at_ms": row.created_at_ms}


class SessionSerializer(serializers.Serializer[Any]):
    """What makes a session."""

    id = serializers.CharField(required=False, max_length=512)
    # A base class attribute of that name is typed as text; as a declared field it is not one.
    source = serializers.CharField(required=False, max_length=64)  # type: ignore[assignment]
    title = serializers.CharField(required=False, allow_blank=True, max_length=200)
    workspace = serializers.CharField(required=False, help_text="the slug of a workspace; `default` if absent")
    cwd = serializers.CharField(required=False, help_text="an absolute path")
    parentSession = serializers.CharField(required=False, max_length=512)  # noqa: N815 (the format's name)
    origin = serializers.CharField(required=False, help_text="`subagent` or absent")
    agentPreset = serializers.CharField(required=False)  # noqa: N815 (the format's name)
    delegationDepth = serializers.IntegerField(required=False, min_value=0)  # noqa: N815 (the format's name)


class ListedSessionSerializer(serializers.Serializer[Any]):
    """A session in a list."""

    id = serializers.CharField()
    # A base class attribute of that name is typed as text; as a declared field it is not one.
    source = serializers.CharField()  # type: ignore[assignment]
    title = serializers.CharField()
    created_at_ms = serializers.IntegerField()
    workspace = serializers.CharField()
    origin = serializers.CharField()
    # Another base class attribute.
    parent = serializers.CharField()  # type: ignore[assignment]
    events = serializers.IntegerField()
    last_ms = serializers.IntegerField()
    live = serializers.BooleanField()
    running = serializers.BooleanField()
    archived = serializers.BooleanField()
    pinned = serializers.BooleanField()
    # And one more.
    label = serializers.CharField(help_text="the title or the id, safe to show")  # type: ignore[assignment]


class SessionPageSerializer(serializers.Serializer[Any]):
    """A page of sessions."""

    sessions = ListedSessionSerializer(many=True)
    next = serializers.CharField(allow_null=True)
