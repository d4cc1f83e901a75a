"""The admin's base for every record: for looking only."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Shows records; adding, changing and deleting have their own ways, with their own rules."""

    actions: Any = None
    list_per_page = 50
    show_full_result_count = False

    @property
    def media(self) -> forms.Media:
        """Return no scripts: nothing here needs one, and our policy would refuse them."""
        return forms.Media()

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody adds a record here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody changes a record here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes a record here."""
        return False
