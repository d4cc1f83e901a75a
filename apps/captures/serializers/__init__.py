"""Shapes of the captures room."""

from apps.captures.serializers.answers import (
    captured_body,
    evidence_body,
    failure_body,
    json_bytes,
    list_body,
    refused_body,
    scopes_body,
    source_body,
    tombstone_body,
)
from apps.captures.serializers.shapes import (
    CapturedSerializer,
    CaptureSerializer,
    ConflictsSerializer,
    EvidenceSerializer,
    FailureSerializer,
    ProjectedSerializer,
    ProjectSerializer,
    ScopeListSerializer,
    SourceListSerializer,
    SourceSerializer,
)

__all__ = [
    "CaptureSerializer",
    "CapturedSerializer",
    "ConflictsSerializer",
    "EvidenceSerializer",
    "FailureSerializer",
    "ProjectSerializer",
    "ProjectedSerializer",
    "ScopeListSerializer",
    "SourceListSerializer",
    "SourceSerializer",
    "captured_body",
    "evidence_body",
    "failure_body",
    "json_bytes",
    "list_body",
    "refused_body",
    "scopes_body",
    "source_body",
    "tombstone_body",
]
