"""The abstract root of every governed record. There are no tables here."""

from __future__ import annotations

from django.db import models

from apps.core.values import new_id, now_ms


class Record(models.Model):
    """A row of one profile, with an id that says nothing, its birth and its version."""

    id = models.CharField(primary_key=True, max_length=32, default=new_id, editable=False)
    profile = models.ForeignKey("accounts.Profile", on_delete=models.PROTECT, related_name="+")
    created_at_ms = models.BigIntegerField(default=now_ms, editable=False)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        abstract = True
