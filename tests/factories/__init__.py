"""People, profiles and tokens for tests, made through the real actions."""

from apps.accounts.actions import create_profile, create_token
from apps.accounts.models import AccessToken, Membership, Profile, User, Workspace
from apps.accounts.queries import caller_of_token
from apps.accounts.rules import SCOPES, Caller

ALL_SCOPES = [scope for scope in SCOPES if scope != "device"]
PASSWORD = "correct horse battery"


def person(name: str = "alice", **roles: str) -> User:
    """Make a person, with a role in each of the named profiles."""
    user = User.objects.create_user(name, password=None)
    for profile, role in roles.items():
        Membership.objects.create(user=user, profile=Profile.objects.get(name=profile), role=role)
    return user


def profile(name: str = "default", *, zone: str = "Europe/Berlin", calendars: str = "sayso") -> Profile:
    """Make a profile."""
    return create_profile(name=name, time_zone=zone, calendars=calendars)


def token(user: User, *, of: Profile, scopes: list[str] | None = None, **members: object) -> tuple[AccessToken, str]:
    """Make a token and return it with its secret."""
    wanted = ALL_SCOPES if scopes is None else scopes
    return create_token(user=user, profile=of, label="Agent", scopes=wanted, **members)  # type: ignore[arg-type]


def caller(secret: str, *, now_ms: int = 0) -> Caller:
    """Return the caller behind a token."""
    found = caller_of_token(secret=secret, now_ms=now_ms)
    assert found is not None
    return found[0]


def human(user: User, *, of: Profile) -> Caller:
    """Return the caller that a person is in a browser."""
    return Caller(
        kind="person",
        user_id=user.pk,
        profile_id=of.pk,
        profile_name=of.name,
        role=Membership.objects.get(user=user, profile=of).role,  # type: ignore[arg-type]
        label=user.username,
        time_zone=of.time_zone,
    )


def workspace(slug: str, *, of: Profile) -> Workspace:
    """Make a workspace, the target of the contracts of `tests.factories.contracts`."""
    return Workspace.objects.create(profile=of, slug=slug)
