"""The admin's view of captures."""

from django.contrib import admin

from apps.captures.models import Refused, Scope, Source
from apps.core.admin import ReadOnlyAdmin


@admin.register(Scope)
class ScopeAdmin(ReadOnlyAdmin):
    """Journals."""

    list_display = ("name", "profile", "head")
    list_filter = ("profile",)
    search_fields = ("name",)


@admin.register(Source)
class SourceAdmin(ReadOnlyAdmin):
    """Captured sources and tombstones."""

    list_display = ("source_id", "scope", "position", "captured_by", "created_at_ms", "purged_by")
    list_select_related = ("scope",)
    search_fields = ("source_id", "payload_sha256")
    ordering = ("-created_at_ms",)


@admin.register(Refused)
class RefusedAdmin(ReadOnlyAdmin):
    """Payloads that were refused under the identity of a source."""

    list_display = ("source", "sent_by", "times", "last_at_ms")
    list_select_related = ("source",)
