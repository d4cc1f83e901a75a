"""The admin's view of the ledger."""

from django.contrib import admin

from apps.core.admin import ReadOnlyAdmin
from apps.ledger.models import IdempotencyKey, LedgerEntry, LedgerHead, Receipt


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnlyAdmin):
    """The chain."""

    list_display = ["seq", "profile", "at_ms", "actor", "action", "target"]
    list_filter = ["profile", "action"]
    search_fields = ["target", "actor", "own_hash"]
    ordering = ["-at_ms", "-seq"]


@admin.register(LedgerHead)
class LedgerHeadAdmin(ReadOnlyAdmin):
    """The end of each chain."""

    list_display = ["profile", "seq", "hash"]


@admin.register(Receipt)
class ReceiptAdmin(ReadOnlyAdmin):
    """Receipts."""

    list_display = ["id", "profile", "confirmation_id", "requester", "created_at_ms"]
    list_filter = ["profile"]
    search_fields = ["id", "confirmation_id"]


@admin.register(IdempotencyKey)
class IdempotencyKeyAdmin(ReadOnlyAdmin):
    """Keys of requesters."""

    list_display = ["key", "requester", "profile", "confirmation_id", "created_at_ms"]
    search_fields = ["key", "confirmation_id"]
