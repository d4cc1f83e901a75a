"""The admin's view of the gate."""

from django.contrib import admin

from apps.confirmations.models import Confirmation, SpentNonce
from apps.core.admin import ReadOnlyAdmin


@admin.register(Confirmation)
class ConfirmationAdmin(ReadOnlyAdmin):
    """Confirmations; they are decided in the dialog and nowhere else."""

    list_display = ["id", "profile", "contract", "state", "requester_label", "decider_label", "created_at_ms"]
    list_filter = ["state", "contract", "profile"]
    search_fields = ["id", "target_id", "requester"]
    ordering = ["-created_at_ms"]


@admin.register(SpentNonce)
class SpentNonceAdmin(ReadOnlyAdmin):
    """Used nonces."""

    list_display = ["nonce", "spent_at_ms"]
