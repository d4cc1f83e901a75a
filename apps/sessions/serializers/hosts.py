"""The shapes of leases and inbox messages."""

from __future__ import annotations

import json
from typing import Any

from rest_framework import serializers

from apps.sessions.models import InboxMessage, Lease


def lease_body(row: Lease, *, ref: str) -> dict[str, Any]:
    """Return a lease as its holder sees it."""
    return {
        "session_id": ref,
        "lease_id": row.lease_id,
        "taken_ms": row.taken_ms,
        "expires_ms": row.expires_ms,
    }


def message_body(row: InboxMessage) -> dict[str, Any]:
    """Return an inbox message as a host sees it."""
    return {
        "id": row.pk,
        "number": row.number,
        "source": row.source,
        "payload": json.loads(row.payload),
        "created_at_ms": row.created_at_ms,
        "acknowledged_ms": row.acknowledged_ms,
        "acknowledged_seq": row.acknowledged_seq,
    }


class LeaseSerializer(serializers.Serializer[Any]):
    """A host's claim on a session."""

    session_id = serializers.CharField()
    lease_id = serializers.CharField()
    taken_ms = serializers.IntegerField()
    expires_ms = serializers.IntegerField()


class LeaseTakeSerializer(serializers.Serializer[Any]):
    """Which lease to hold on to; whichever the caller has, if absent."""

    lease_id = serializers.CharField(required=False, allow_null=True)


class MessageSerializer(serializers.Serializer[Any]):
    """Something for a session's host to take in."""

    id = serializers.CharField()
    number = serializers.IntegerField()
    # A base class attribute of that name is typed as text; as a declared field it is not one.
    source = serializers.CharField()  # type: ignore[assignment]
    payload = serializers.DictField()
    created_at_ms = serializers.IntegerField()
    acknowledged_ms = serializers.IntegerField(allow_null=True)
    acknowledged_seq = serializers.IntegerField(allow_null=True)


class InboxSerializer(serializers.Serializer[Any]):
    """A page of an inbox; `next` is the `after` of the page that follows."""

    messages = MessageSerializer(many=True)
    next = serializers.IntegerField()
