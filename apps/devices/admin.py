"""The admin's view of phones, for looking only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from apps.devices.models import Device


@admin.register(Device)
class DeviceAdmin(admin.ModelAdmin):
    """Phones; they are made by pairing and ended on the settings page."""

    list_display = ["name", "user", "connection_type", "brand", "model", "paired_at_ms"]
    search_fields = ["name", "user__username"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody adds one here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody changes one here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes one here."""
        return False
