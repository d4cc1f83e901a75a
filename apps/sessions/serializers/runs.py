"""The shape of runs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.sessions.models import Run


def run_body(row: Run) -> dict[str, Any]:
    """Return a run as clients see it."""
    return {
        "id": row.pk,
        "state": row.state,
        "started_ms": row.started_ms,
        "ended_ms": row.ended_ms,
        "background": row.background,
    }


class RunStartSerializer(serializers.Serializer[Any]):
    """How a run is started."""

    background = serializers.BooleanField(required=False)
