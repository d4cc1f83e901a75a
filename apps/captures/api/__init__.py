"""Captures over REST."""

from apps.captures.api.evidence import EvidenceWindow
from apps.captures.api.projecting import Project
from apps.captures.api.scopes import ScopeList, SourceConflicts
from apps.captures.api.sources import SourceAlias, SourceDetail, SourceList

__all__ = [
    "EvidenceWindow",
    "Project",
    "ScopeList",
    "SourceAlias",
    "SourceConflicts",
    "SourceDetail",
    "SourceList",
]
