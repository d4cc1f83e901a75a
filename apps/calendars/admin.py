"""Calendars in the admin: for looking only; deleting goes through the dialog."""

from __future__ import annotations

from django.contrib import admin

from apps.calendars.models import AlarmClock, Calendar, CalendarObject, Occurrence, RecentWrite, Revision
from apps.core.admin import ReadOnlyAdmin


@admin.register(Calendar)
class CalendarAdmin(ReadOnlyAdmin):
    """Calendars."""

    list_display = ("name", "profile", "is_default", "read_only")
    list_filter = ("profile",)
    search_fields = ("name",)


@admin.register(CalendarObject)
class CalendarObjectAdmin(ReadOnlyAdmin):
    """Events and reminders with everything that belongs to one UID."""

    list_display = ("title", "kind", "calendar", "recurring", "occurrences", "version")
    list_filter = ("kind", "profile", "recurring")
    list_select_related = ("calendar",)
    search_fields = ("title", "uid")


@admin.register(Revision)
class RevisionAdmin(ReadOnlyAdmin):
    """What items were before."""

    list_display = ("object", "number", "action", "by", "at_ms")
    list_select_related = ("object",)


@admin.register(Occurrence)
class OccurrenceAdmin(ReadOnlyAdmin):
    """The expanded dates of items within their horizon."""

    list_display = ("object", "slot", "at_ms", "until_ms")
    list_filter = ("kind", "profile")
    list_select_related = ("object",)


@admin.register(RecentWrite)
class RecentWriteAdmin(ReadOnlyAdmin):
    """Writes of the last minute, by which too many of them are noticed."""

    list_display = ("requester", "profile", "at_ms")


@admin.register(AlarmClock)
class AlarmClockAdmin(ReadOnlyAdmin):
    """When objects that may ring are looked at next."""

    list_display = ("object", "profile", "at_ms", "since_ms")
    list_select_related = ("object",)
