"""The admin's view of people, profiles and tokens."""

from django.contrib import admin
from django.contrib.auth.models import Group

from apps.accounts.models import AccessToken, LoginFailure, Membership, Profile, User, Workspace
from apps.core.admin import ReadOnlyAdmin

# Rights come from memberships; a group would mean nothing.
admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    """People, without what their sign-in rests on."""

    list_display = ["username", "is_active", "is_staff", "time_zone", "language", "last_login"]
    list_filter = ["is_active", "is_staff"]
    search_fields = ["username"]
    exclude = ["password", "groups", "user_permissions"]


@admin.register(Profile)
class ProfileAdmin(ReadOnlyAdmin):
    """Profiles."""

    list_display = ["name", "time_zone", "calendars", "id"]
    search_fields = ["name"]


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    """Who does what in which profile."""

    list_display = ["user", "profile", "role"]
    list_filter = ["role", "profile"]


@admin.register(Workspace)
class WorkspaceAdmin(ReadOnlyAdmin):
    """Workspaces."""

    list_display = ["slug", "profile", "restricted", "id"]
    list_filter = ["profile"]


@admin.register(AccessToken)
class AccessTokenAdmin(ReadOnlyAdmin):
    """Tokens, without their hashes."""

    list_display = ["label", "kind", "user", "profile", "last_used_ms", "revoked_at_ms"]
    list_filter = ["kind", "profile"]
    search_fields = ["label", "id"]
    exclude = ["secret_hash"]


@admin.register(LoginFailure)
class LoginFailureAdmin(ReadOnlyAdmin):
    """Failed sign-ins in a row."""

    list_display = ["subject_hash", "failures", "last_ms"]
