"""The admin's view of sessions and runs."""

from django.contrib import admin

from apps.core.admin import ReadOnlyAdmin
from apps.sessions.models import Run, Session


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    """Sessions."""

    list_display = ["ref", "profile", "source", "title", "created_at_ms"]
    list_filter = ["profile", "source"]
    search_fields = ["ref", "title"]


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Runs."""

    list_display = ["id", "session", "state", "started_ms", "ended_ms", "device"]
    list_filter = ["state", "profile"]
