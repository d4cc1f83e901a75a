"""Wiring of the ledger room."""

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    """The tamper-evident record of what was asked, decided and done."""

    name = "apps.ledger"
    label = "ledger"
