"""The abstract root of every governed record. There are no tables here."""

from __future__ import annotations

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from apps.core.values import new_id, now_ms


class RowNumber(models.BigAutoField[int, int]):
    """A key that nothing refers to and no client sees: SQLite need not write down the highest one ever used."""

    def db_type_suffix(self, connection: BaseDatabaseWrapper) -> str | None:
        """Leave AUTOINCREMENT out, which costs every insert another look-up and page."""
        return None if connection.vendor == "sqlite" else super().db_type_suffix(connection)

    def get_internal_type(self) -> str:
        """Be to all others what a BigAutoField is."""
        return "BigAutoField"


class Record(models.Model):
    """A row of one profile, with an id that says nothing, its birth and its version."""

    id = models.CharField(primary_key=True, max_length=32, default=new_id, editable=False)
    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+")
    created_at_ms = models.BigIntegerField(default=now_ms, editable=False)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        abstract = True
