"""Schedules in the admin: for looking only; what failed or is left alone has a filter of its own."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.core.admin import ReadOnlyAdmin
from apps.schedules.models import Delivery, Receipt, Task, TaskEdit, Webhook, WebhookCall


class Trouble(admin.SimpleListFilter):
    """Chooses tasks by what is wrong with them."""

    title = _("trouble")
    parameter_name = "trouble"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Return the choices."""
        return [("undelivered", _("undelivered")), ("quarantined", _("quarantined"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Task]) -> QuerySet[Task]:
        """Return the tasks of the choice."""
        if self.value() == "undelivered":
            return queryset.filter(failures__gt=0)
        if self.value() == "quarantined":
            return queryset.exclude(quarantined="")
        return queryset


@admin.register(Task)
class TaskAdmin(ReadOnlyAdmin):
    """Schedules."""

    list_display = ("ref", "title", "session", "kind", "status", "scheduled_ms", "failures", "problem", "quarantined")
    list_filter = (Trouble, "status", "paused", "kind", "profile")
    list_select_related = ("session",)
    search_fields = ("ref", "title")


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    """How occurrences ended."""

    list_display = ("task", "outcome", "origin", "occurrence_ms", "delivered_ms", "missed", "hidden")
    list_filter = ("outcome", "origin", "hidden")
    list_select_related = ("task",)
    search_fields = ("task__ref", "message_id")


@admin.register(Receipt)
class ReceiptAdmin(ReadOnlyAdmin):
    """Proofs of delivery."""

    list_display = ("task", "origin", "occurrence_ms", "delivered_ms", "message_id")
    list_select_related = ("task",)
    search_fields = ("task__ref", "message_id")


@admin.register(TaskEdit)
class TaskEditAdmin(ReadOnlyAdmin):
    """What was done to schedules."""

    list_display = ("task", "action", "by", "at_ms")
    list_filter = ("action",)
    list_select_related = ("task",)
    search_fields = ("task__ref",)


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    """Where reminders are sent."""

    list_display = ("session", "url", "enabled", "failures", "problem")
    list_filter = ("enabled", "profile")
    list_select_related = ("session",)


@admin.register(WebhookCall)
class WebhookCallAdmin(ReadOnlyAdmin):
    """Messages on their way to webhooks."""

    list_display = ("webhook", "message_id", "state", "tries", "problem")
    list_filter = ("state",)
    list_select_related = ("webhook",)
