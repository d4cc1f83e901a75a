"""Who lists which session. Ids are kept as text: a list may name sessions that are not stored."""

from __future__ import annotations

from django.db import models

from apps.accounts.models import Workspace
from apps.core.models import Record
from apps.sessions.models.sessions import Session
from apps.sessions.rules import ID_LENGTH


class WorkspaceEntry(Record):
    """A session listed in a workspace."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="+")
    spelling = models.CharField(max_length=ID_LENGTH)

    class Meta:
        ordering = ["created_at_ms", "id"]
        constraints = [models.UniqueConstraint(fields=["workspace", "spelling"], name="workspace_entry_once")]

    def __str__(self) -> str:
        return f"{self.spelling} in {self.workspace}"


class ArchivedSession(Record):
    """A session put away."""

    spelling = models.CharField(max_length=ID_LENGTH)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["profile", "spelling"], name="archived_once")]

    def __str__(self) -> str:
        return self.spelling


class PinnedSession(Record):
    """A session kept at the top."""

    spelling = models.CharField(max_length=ID_LENGTH)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["profile", "spelling"], name="pinned_once")]

    def __str__(self) -> str:
        return self.spelling


class CachedListing(Record):
    """What a list shows of a session without reading its log."""

    spelling = models.CharField(max_length=ID_LENGTH)
    body = models.TextField(default="{}")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["profile", "spelling"], name="cached_listing_once")]

    def __str__(self) -> str:
        return self.spelling


class DeletedSession(Record):
    """A session that a person deleted, remembered by the hash of its id so that nothing makes it anew."""

    id_hash = models.CharField(max_length=64)
    confirmation_id = models.CharField(max_length=32)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["profile", "id_hash"], name="deleted_session_once")]

    def __str__(self) -> str:
        return self.id_hash


class ImportedFile(models.Model):
    """A file that a stored session came from; the original is never written to."""

    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="files")
    name = models.CharField(max_length=255)
    generation = models.IntegerField()
    sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()

    class Meta:
        ordering = ["session", "generation"]
        constraints = [models.UniqueConstraint(fields=["session", "name"], name="imported_file_once")]

    def __str__(self) -> str:
        return self.name
