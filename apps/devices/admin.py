"""The admin's view of phones, for looking only."""

from __future__ import annotations

from django.contrib import admin

from apps.core.admin import ReadOnlyAdmin
from apps.devices.models import Device, PairingCode


@admin.register(Device)
class DeviceAdmin(ReadOnlyAdmin):
    """Phones; they are made by pairing and ended on the settings page."""

    list_display = ["name", "user", "connection_type", "brand", "model", "paired_at_ms"]
    search_fields = ["name", "user__username"]


@admin.register(PairingCode)
class PairingCodeAdmin(ReadOnlyAdmin):
    """Pairing codes, which are stored as hashes and good for minutes."""

    list_display = ["user", "profile", "connection_type", "expires_at_ms", "used_at_ms"]
    exclude = ["code_hash"]
