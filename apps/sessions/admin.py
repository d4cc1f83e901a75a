"""The admin's view of sessions, their logs, what hosts hold of them and who lists them; for looking only."""

from django.contrib import admin

from apps.core.admin import ReadOnlyAdmin
from apps.sessions.models import (
    ArchivedSession,
    CachedListing,
    Citation,
    DeletedSession,
    ImportedFile,
    InboxMessage,
    Lease,
    PinnedSession,
    Run,
    Session,
    SessionEvent,
    SessionMark,
    SurfaceNode,
    WorkspaceEntry,
)


class OfSessionAdmin(ReadOnlyAdmin):
    """Rows that belong to one session, found by its id."""

    list_select_related = ["session"]
    search_fields = ["session__ref"]


class SpellingAdmin(ReadOnlyAdmin):
    """Rows that name a session by how it is spelled; it need not be stored."""

    list_display = ["spelling", "profile", "created_at_ms"]
    list_filter = ["profile"]
    search_fields = ["spelling"]


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    """Sessions; several rows of one id are copies that an import brought."""

    list_display = ["ref", "profile", "workspace", "source", "title", "next_seq", "last_ms", "created_at_ms"]
    list_filter = ["profile", "source", "origin"]
    list_select_related = ["profile", "workspace"]
    search_fields = ["ref", "title", "parent"]


@admin.register(Run)
class RunAdmin(OfSessionAdmin):
    """Runs."""

    list_display = ["id", "session", "state", "starter", "started_ms", "ended_ms", "device"]
    list_filter = ["state", "profile"]


@admin.register(SessionEvent)
class SessionEventAdmin(OfSessionAdmin):
    """Events of logs, as they were accepted; those of removed turns are among them."""

    list_display = ["session", "seq", "type", "turn", "time_ms"]
    list_filter = ["type"]


@admin.register(SurfaceNode)
class SurfaceNodeAdmin(OfSessionAdmin):
    """What the model sees, in order."""

    list_display = ["session", "place", "seq"]


@admin.register(SessionMark)
class SessionMarkAdmin(OfSessionAdmin):
    """Turns, replies, commands, children and removals, by their names."""

    list_display = ["session", "kind", "key", "seq"]
    list_filter = ["kind"]


@admin.register(Citation)
class CitationAdmin(OfSessionAdmin):
    """Which event names which as its source."""

    list_display = ["session", "cited", "seq"]


@admin.register(Lease)
class LeaseAdmin(OfSessionAdmin):
    """Who holds which session, and until when."""

    list_display = ["session", "holder", "taken_ms", "expires_ms"]
    list_filter = ["holder"]


@admin.register(InboxMessage)
class InboxMessageAdmin(OfSessionAdmin):
    """Messages to hosts, taken in or not."""

    list_display = ["session", "number", "source", "created_at_ms", "acknowledged_ms", "acknowledged_seq"]
    list_filter = ["profile", "source", ("acknowledged_ms", admin.EmptyFieldListFilter)]


@admin.register(WorkspaceEntry)
class WorkspaceEntryAdmin(SpellingAdmin):
    """Sessions that workspaces list."""

    list_display = ["spelling", "workspace", "profile", "created_at_ms"]
    list_select_related = ["workspace", "profile"]


admin.site.register([ArchivedSession, PinnedSession, CachedListing], SpellingAdmin)


@admin.register(DeletedSession)
class DeletedSessionAdmin(ReadOnlyAdmin):
    """Sessions that people deleted, by the hash of their ids."""

    list_display = ["id_hash", "profile", "confirmation_id", "created_at_ms"]
    list_filter = ["profile"]
    search_fields = ["id_hash", "confirmation_id"]


@admin.register(ImportedFile)
class ImportedFileAdmin(OfSessionAdmin):
    """The files that stored sessions came from."""

    list_display = ["session", "name", "generation", "size_bytes", "sha256"]
