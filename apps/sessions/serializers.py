"""Shapes of sessions and runs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.sessions.models import Run, Session


def session_body(row: Session) -> dict[str, Any]:
    """Return a session as clients see it."""
    return {"id": row.ref, "source": row.source, "title": row.title, "created_at_ms": row.created_at_ms}


def run_body(row: Run) -> dict[str, Any]:
    """Return a run as clients see it."""
    return {
        "id": row.pk,
        "state": row.state,
        "started_ms": row.started_ms,
        "ended_ms": row.ended_ms,
        "background": row.background,
    }


class SessionSerializer(serializers.Serializer[Any]):
    """What makes a session."""

    id = serializers.CharField(required=False, max_length=512)
    # A base class attribute of that name is typed as text; as a declared field it is not one.
    source = serializers.CharField(required=False, max_length=64)  # type: ignore[assignment]
    title = serializers.CharField(required=False, allow_blank=True, max_length=200)
