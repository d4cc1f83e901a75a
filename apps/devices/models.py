"""Phones and pairing codes."""

from __future__ import annotations

from django.db import models

from apps.accounts.models import AccessToken, Profile, User
from apps.core.values import new_id, now_ms
from apps.devices.rules import (
    BRAND_LENGTH,
    CONNECTION_TYPES,
    DEVICE_CODE_LENGTH,
    MODEL_LENGTH,
    NAME_LENGTH,
    Identity,
)


class Device(models.Model):
    """One installation of the app, paired by one person over one kind of connection.

    Pairing again keeps the row and its token's id and replaces the token's hash. `device_id` is the public hash; two
    rows of one phone (`lan` and `cloud`) share it.
    """

    id = models.CharField(primary_key=True, max_length=32, default=new_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="devices")
    device_code = models.CharField(max_length=DEVICE_CODE_LENGTH)
    device_id = models.CharField(max_length=24, db_index=True)
    connection_type = models.CharField(max_length=8, choices=[(kind, kind) for kind in CONNECTION_TYPES])
    name = models.CharField(max_length=NAME_LENGTH)
    brand = models.CharField(max_length=BRAND_LENGTH, blank=True, default="")
    model = models.CharField(max_length=MODEL_LENGTH, blank=True, default="")
    token = models.OneToOneField(AccessToken, on_delete=models.PROTECT, related_name="device")
    created_at_ms = models.BigIntegerField(default=now_ms, editable=False)
    paired_at_ms = models.BigIntegerField()

    class Meta:
        ordering = ["-paired_at_ms"]
        constraints = [
            models.UniqueConstraint(fields=["user", "device_code", "connection_type"], name="device_once"),
            models.CheckConstraint(
                condition=models.Q(connection_type__in=list(CONNECTION_TYPES)), name="device_connection_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.connection_type})"

    @property
    def identity(self) -> Identity:
        """Return which phone this is."""
        return Identity(device_id=self.device_id, user_id=self.user_id, device_code=self.device_code, label=self.name)


class PairingCode(models.Model):
    """A code that lets one app in, once, for five minutes; only its hash is stored."""

    code_hash = models.CharField(primary_key=True, max_length=64)
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    profile = models.ForeignKey(Profile, on_delete=models.PROTECT, related_name="+")
    connection_type = models.CharField(max_length=8, default="lan")
    created_at_ms = models.BigIntegerField()
    expires_at_ms = models.BigIntegerField()
    used_at_ms = models.BigIntegerField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["expires_at_ms"], name="pairing_code_expiry")]

    def __str__(self) -> str:
        return f"code of {self.user}"
