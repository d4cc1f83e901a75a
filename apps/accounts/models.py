"""People, profiles (tenants), memberships, workspaces and tokens."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.crypto import salted_hmac

from apps.accounts.rules import NAME_LENGTH, ROLES
from apps.core.values import new_id, now_ms


class User(AbstractUser):
    """A person."""

    time_zone = models.CharField(max_length=64, blank=True, default="")
    language = models.CharField(max_length=16, blank=True, default="")
    week_start = models.PositiveSmallIntegerField(default=0, help_text="0 Monday … 6 Sunday")
    session_epoch = models.PositiveIntegerField(default=0, help_text="Raised by 'sign out everywhere'.")

    def get_session_auth_hash(self) -> str:
        """Return what each signed-in session must carry; a new epoch ends them all."""
        return self._epoch_hash(super().get_session_auth_hash())

    def _epoch_hash(self, inner: str) -> str:
        return salted_hmac("sayso.session", f"{inner}:{self.session_epoch}", algorithm="sha256").hexdigest()


class Profile(models.Model):
    """A tenant: the unit of ownership, rights and policies."""

    id = models.CharField(primary_key=True, max_length=32, default=new_id, editable=False)
    name = models.CharField(max_length=64, unique=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    calendars = models.CharField(max_length=8, default="sayso", choices=[("sayso", "sayso"), ("device", "device")])
    policies = models.JSONField(default=dict, blank=True)
    policy_versions = models.JSONField(default=dict, blank=True)
    created_at_ms = models.BigIntegerField(default=now_ms, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(calendars__in=["sayso", "device"]), name="profile_calendars_known"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """What a person may do in a profile."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    profile = models.ForeignKey(Profile, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=8, choices=[(role, role) for role in ROLES])
    created_at_ms = models.BigIntegerField(default=now_ms, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "profile"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=list(ROLES)), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.profile}: {self.role}"


class Workspace(models.Model):
    """A room of a profile for sessions and pages; a restricted one lists its own members."""

    id = models.CharField(primary_key=True, max_length=32, default=new_id, editable=False)
    profile = models.ForeignKey(Profile, on_delete=models.PROTECT, related_name="workspaces")
    # As long as a folder name: imports of sessions keep the name of their project folder.
    slug = models.CharField(max_length=255)
    title = models.CharField(max_length=200, blank=True, default="", help_text="What lists show; empty: the slug.")
    path = models.CharField(max_length=1024, blank=True, default="", help_text="Its folder on the host, if known.")
    restricted = models.BooleanField(default=False)
    members = models.ManyToManyField(User, blank=True, related_name="workspaces")
    created_at_ms = models.BigIntegerField(default=now_ms, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["profile", "slug"], name="workspace_once")]

    def __str__(self) -> str:
        return self.slug


class AccessToken(models.Model):
    """A credential of an agent, of a person's own script or of a device; only its hash is stored."""

    id = models.CharField(primary_key=True, max_length=32, default=new_id, editable=False)
    kind = models.CharField(max_length=8, choices=[("agent", "agent"), ("person", "person"), ("device", "device")])
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="tokens")
    profile = models.ForeignKey(Profile, on_delete=models.PROTECT, related_name="tokens")
    label = models.CharField(max_length=NAME_LENGTH)
    secret_hash = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    session = models.CharField(max_length=512, blank=True, default="")
    created_at_ms = models.BigIntegerField(default=now_ms, editable=False)
    expires_at_ms = models.BigIntegerField(null=True, blank=True)
    last_used_ms = models.BigIntegerField(null=True, blank=True)
    revoked_at_ms = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at_ms"]
        indexes = [models.Index(fields=["profile", "revoked_at_ms"])]

    def __str__(self) -> str:
        return f"{self.label} ({self.kind})"


class LoginFailure(models.Model):
    """Failed sign-ins in a row, by account name or by address, as a hash of either."""

    subject_hash = models.CharField(primary_key=True, max_length=64)
    failures = models.PositiveIntegerField(default=0)
    last_ms = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.failures} failures"
