"""The admin's view of people, profiles and tokens."""

from django.contrib import admin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.accounts.actions import set_active
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
    actions = ["disable", "enable"]

    @admin.action(description=_("Disable the chosen people"))
    def disable(self, request: HttpRequest, chosen: QuerySet[User]) -> None:
        """Keep people out, at once."""
        self.set_active(request, chosen, active=False)

    @admin.action(description=_("Enable the chosen people"))
    def enable(self, request: HttpRequest, chosen: QuerySet[User]) -> None:
        """Let people in again."""
        self.set_active(request, chosen, active=True)

    def set_active(self, request: HttpRequest, chosen: QuerySet[User], *, active: bool) -> None:
        """Call the room's own action for each person but oneself; only a superuser may."""
        if not request.user.is_superuser:
            raise PermissionDenied
        for user in chosen.exclude(pk=request.user.pk):
            set_active(user=user, active=active)


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
