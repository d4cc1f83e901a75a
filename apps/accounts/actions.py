"""Making and changing people, profiles, memberships and tokens."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import F

from apps.accounts.models import AccessToken, LoginFailure, Membership, Profile, User, Workspace
from apps.accounts.rules import (
    NAME_LENGTH,
    POLICY_NAMES,
    POLICY_VALUES,
    ROLES,
    Caller,
    LastOwner,
    LoginThrottled,
    MemberNotFound,
    Role,
    TokenNotFound,
    check_owner,
    check_profile_name,
    check_scopes,
    check_username,
    check_zone,
    login_block_ms,
    new_secret,
    secret_hash,
)
from apps.core.announce import announce
from apps.core.dependents import dependents_of
from apps.core.errors import Conflict, InvalidField
from apps.core.values import sha256_hex

LAST_USED_GRAIN_MS = 60_000


@transaction.atomic
def create_person(
    *, username: str, password: str, operator: bool = False, profile: Profile | None = None, role: Role = "decider"
) -> User:
    """Make a person, a member of a profile if one is given; an operator may look into all records in the admin."""
    check_username(username)
    if User.objects.filter(username=username).exists():
        raise Conflict(f"There is already a person named {username}.")
    user = User.objects.create_user(username, password=password, is_staff=operator, is_superuser=operator)
    if profile is not None:
        Membership.objects.create(user=user, profile=profile, role=role)
    return user


@transaction.atomic
def create_profile(
    *, name: str, time_zone: str = "UTC", calendars: str = "sayso", owner: User | None = None
) -> Profile:
    """Make a profile with one workspace, and its owner's membership if one is given."""
    check_profile_name(name)
    check_zone(time_zone)
    if Profile.objects.filter(name=name).exists():
        raise Conflict(f"There is already a profile named {name}.")
    profile = Profile.objects.create(name=name, time_zone=time_zone, calendars=calendars)
    Workspace.objects.create(profile=profile, slug="default")
    if owner is not None:
        Membership.objects.create(user=owner, profile=profile, role="owner")
    return profile


def ensure_workspace(*, profile_id: str, slug: str) -> Workspace:
    """Return a workspace of a profile, made if there is none of that name."""
    workspace, _ = Workspace.objects.get_or_create(profile_id=profile_id, slug=slug)
    return workspace


def create_token(
    *,
    user: User,
    profile: Profile,
    label: str,
    scopes: list[str],
    kind: str = "agent",
    session: str = "",
    expires_at_ms: int | None = None,
    by: Caller | None = None,
) -> tuple[AccessToken, str]:
    """Make a token and return it with its secret, which is not stored and never shown again."""
    if by is not None:
        check_owner(by=by)
        if by.profile_id != profile.pk:
            raise MemberNotFound
    if not label.strip() or len(label) > NAME_LENGTH:
        raise InvalidField("label", f"label must have 1 to {NAME_LENGTH} characters")
    if not Membership.objects.filter(user=user, profile=profile).exists():
        raise MemberNotFound
    secret = new_secret()
    token = AccessToken.objects.create(
        kind=kind,
        user=user,
        profile=profile,
        label=label.strip(),
        secret_hash=secret_hash(secret),
        scopes=check_scopes(scopes),
        session=session,
        expires_at_ms=expires_at_ms,
    )
    return token, secret


@transaction.atomic
def revoke_token(*, token_id: str, by: Caller, now_ms: int) -> AccessToken:
    """End a token at once, with everything that it asked for."""
    token = AccessToken.objects.select_for_update().filter(pk=token_id, profile_id=by.profile_id).first()
    if token is None or token.revoked_at_ms is not None:
        raise TokenNotFound
    if token.user_id != by.user_id:
        check_owner(by=by)
    end_token(token, now_ms=now_ms)
    return token


def end_token(token: AccessToken, *, now_ms: int) -> None:
    """End a token with everything that it asked for, inside the caller's transaction; the caller checks rights."""
    token.revoked_at_ms = now_ms
    token.save(update_fields=["revoked_at_ms"])
    # What the token asked for goes with it, in the same transaction.
    for dependent in dependents_of("token"):
        dependent.remove(owner_id=token.pk, now_ms=now_ms)
    announce("token.revoked", keys=(f"token:{token.pk}",), profile=token.profile_id, token=token.pk)


def untie_tokens(*, profile_id: str, sessions: Sequence[str]) -> int:
    """Let tokens that were made for sessions which are gone stand for none; returns how many."""
    return AccessToken.objects.filter(profile_id=profile_id, session__in=sessions).update(session="")


def touch_token(*, token_id: str, last_used_ms: int | None, now_ms: int) -> None:
    """Note that a token was used, at most once a minute."""
    if last_used_ms is None or now_ms - last_used_ms >= LAST_USED_GRAIN_MS:
        AccessToken.objects.filter(pk=token_id).update(last_used_ms=now_ms)


@transaction.atomic
def set_member(*, by: Caller, username: str, role: str) -> Membership:
    """Give a person a role in the caller's profile."""
    check_owner(by=by)
    if role not in ROLES:
        raise InvalidField("role", "role must be owner, decider or viewer")
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise MemberNotFound("There is no person by that name on this server.")
    membership = Membership.objects.select_for_update().filter(user=user, profile_id=by.profile_id).first()
    if membership is None:
        membership = Membership(user=user, profile_id=by.profile_id)
    elif membership.role == "owner" and role != "owner":
        _check_other_owner(profile_id=by.profile_id, user_id=user.pk)
    membership.role = role
    membership.save()
    announce("member.changed", keys=(f"user:{user.pk}",), profile=by.profile_id, user=user.pk)
    return membership


@transaction.atomic
def remove_member(*, by: Caller, user_id: int, now_ms: int) -> None:
    """Take a person out of the caller's profile and end their tokens for it."""
    if by.user_id != user_id:
        check_owner(by=by)
    membership = Membership.objects.select_for_update().filter(user_id=user_id, profile_id=by.profile_id).first()
    if membership is None:
        raise MemberNotFound
    if membership.role == "owner":
        _check_other_owner(profile_id=by.profile_id, user_id=user_id)
    for token in AccessToken.objects.filter(user_id=user_id, profile_id=by.profile_id, revoked_at_ms=None):
        end_token(token, now_ms=now_ms)
    membership.delete()
    announce("member.removed", keys=(f"user:{user_id}",), profile=by.profile_id, user=user_id)


def _check_other_owner(*, profile_id: str, user_id: int) -> None:
    if not Membership.objects.filter(profile_id=profile_id, role="owner").exclude(user_id=user_id).exists():
        raise LastOwner


@transaction.atomic
def set_policies(*, by: Caller, policies: dict[str, str], time_zone: str = "", calendars: str = "") -> Profile:
    """Change what a profile's agents may do without asking; each change makes a new policy version."""
    check_owner(by=by)
    profile = Profile.objects.select_for_update().get(pk=by.profile_id)
    for name, value in policies.items():
        if name not in POLICY_NAMES or value not in POLICY_VALUES:
            raise InvalidField(name, "must be allow or ask")
    if calendars and calendars not in ("sayso", "device"):
        raise InvalidField("calendars", "calendars must be sayso or device")
    for name, value in policies.items():
        if profile.policies.get(name, "") != value:
            profile.policy_versions[name] = profile.policy_versions.get(name, 0) + 1
    profile.policies = {**profile.policies, **policies}
    profile.time_zone = check_zone(time_zone) if time_zone else profile.time_zone
    profile.calendars = calendars or profile.calendars
    profile.save()
    announce("profile.changed", profile=profile.pk)
    return profile


def set_person(*, user: User, time_zone: str = "", language: str = "", week_start: int | None = None) -> User:
    """Change a person's own settings."""
    if time_zone:
        user.time_zone = check_zone(time_zone)
    if language:
        if language not in ("en", "zh-hans"):
            raise InvalidField("language", "language must be en or zh-hans")
        user.language = language
    if week_start is not None:
        if not 0 <= week_start <= 6:
            raise InvalidField("week_start", "week_start must be 0 (Monday) to 6 (Sunday)")
        user.week_start = week_start
    # Only these: a sign-out everywhere or a new password meanwhile must not be undone.
    user.save(update_fields=["time_zone", "language", "week_start"])
    return user


def change_password(*, user: User, password: str) -> None:
    """Give a person another password; the sign-ins that were made with the old one end."""
    user.set_password(password)
    user.save(update_fields=["password"])


def sign_out_everywhere(*, user: User) -> None:
    """End every session of a person."""
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(session_epoch=F("session_epoch") + 1)
        announce("session.ended", keys=(f"user:{user.pk}",), user=user.pk)
    user.refresh_from_db()


def set_active(*, user: User, active: bool) -> User:
    """Let a person in, or keep them out; whoever is disabled loses every open socket and session at once."""
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(is_active=active, session_epoch=F("session_epoch") + 1)
        announce("session.ended", keys=(f"user:{user.pk}",), user=user.pk)
    user.refresh_from_db()
    return user


def announce_logout(*, user_id: int) -> None:
    """Tell open sockets of a person to look whether they are still signed in."""
    with transaction.atomic():
        announce("session.ended", keys=(f"user:{user_id}",), user=user_id)


def check_login_allowed(*, subjects: list[str], now_ms: int) -> None:
    """Raise `LoginThrottled` while one of the subjects (account name, address) is blocked."""
    hashes = [sha256_hex(subject) for subject in subjects]
    for failure in LoginFailure.objects.filter(subject_hash__in=hashes):
        wait_ms = failure.last_ms + login_block_ms(failure.failures) - now_ms
        if wait_ms > 0:
            raise LoginThrottled(retry_after_s=wait_ms // 1000 + 1)


@transaction.atomic
def note_login(*, subjects: list[str], succeeded: bool, now_ms: int) -> None:
    """Count a failed sign-in, or forget the failures after a good one."""
    for subject in subjects:
        key = sha256_hex(subject)
        if succeeded:
            LoginFailure.objects.filter(subject_hash=key).delete()
            continue
        failure, _ = LoginFailure.objects.select_for_update().get_or_create(
            subject_hash=key, defaults={"last_ms": now_ms}
        )
        # An hour without a failure begins anew.
        failure.failures = 1 if now_ms - failure.last_ms > 3_600_000 else failure.failures + 1
        failure.last_ms = now_ms
        failure.save()
