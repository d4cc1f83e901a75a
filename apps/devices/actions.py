"""Pairing phones, revoking them, and taking back what was asked of them."""

from __future__ import annotations

from typing import Any

import jwt
from django.conf import settings
from django.db import transaction

from apps.accounts.actions import check_login_allowed, end_token, note_login
from apps.accounts.models import AccessToken, Profile, User
from apps.accounts.queries import DisabledUser, memberships_of
from apps.accounts.rules import Caller, secret_hash
from apps.confirmations.actions import hang_up
from apps.core.announce import announce
from apps.core.values import new_id
from apps.devices.models import Device, PairingCode
from apps.devices.queries import open_asks_of, session_on_socket
from apps.devices.rules import (
    CODE_KEPT_MS,
    CODE_LIFETIME_MS,
    TOKEN_AUDIENCE,
    TOKEN_LIFETIME_MS,
    TOKEN_SCOPES,
    TOKEN_TYPE,
    CodeExpired,
    CodeInvalid,
    CodeUsed,
    DeviceNotFound,
    Login,
    LoginInvalid,
    NoProfile,
    code_hash,
    device_id_of,
    new_code,
)
from apps.sessions.actions import end_run
from apps.sessions.models import Session
from apps.sessions.queries import open_runs


@transaction.atomic
def create_pairing_code(*, by: Caller, now_ms: int) -> tuple[PairingCode, str]:
    """Make a code that pairs one phone with the person, and return it with its text, which is not stored."""
    PairingCode.objects.filter(user_id=by.user_id, expires_at_ms__lt=now_ms - CODE_KEPT_MS).delete()
    code = new_code()
    row = PairingCode.objects.create(
        code_hash=code_hash(code),
        user_id=by.user_id,
        profile_id=by.profile_id,
        created_at_ms=now_ms,
        expires_at_ms=now_ms + CODE_LIFETIME_MS,
    )
    return row, code


def log_in_app(*, login: Login, address: str, now_ms: int) -> tuple[Device, str]:
    """Let an app in by its code or its person's password, and return its device with the token, which is not stored."""
    if login.authorization_code:
        return pair_by_code(login=login, now_ms=now_ms)
    user = _person(login, address=address, now_ms=now_ms)
    member = memberships_of(user_id=user.pk).first()
    if member is None:
        raise NoProfile
    return pair_device(user=user, profile=member.profile, login=login, connection_type="lan", now_ms=now_ms)


@transaction.atomic
def pair_by_code(*, login: Login, now_ms: int) -> tuple[Device, str]:
    """Use a pairing code up, once and within its five minutes; of two apps that send it one is let in."""
    rows = PairingCode.objects.select_for_update(of=("self",)).select_related("user", "profile")
    row = rows.filter(pk=code_hash(login.authorization_code)).first()
    if row is None:
        raise CodeInvalid
    if row.used_at_ms is not None:
        raise CodeUsed
    if row.expires_at_ms <= now_ms:
        raise CodeExpired
    if not row.user.is_active:
        raise DisabledUser
    row.used_at_ms = now_ms
    row.save(update_fields=["used_at_ms"])
    return pair_device(
        user=row.user, profile=row.profile, login=login, connection_type=row.connection_type, now_ms=now_ms
    )


def _person(login: Login, *, address: str, now_ms: int) -> User:
    account, place = f"account:{login.username.lower()}", f"address:{address}"
    check_login_allowed(subjects=[account, place], now_ms=now_ms)
    user = User.objects.filter(username=login.username).first()
    if user is None:
        # The same work for a name that nobody has, so that the time tells nothing.
        User().set_password(login.password)
    right = user is not None and user.check_password(login.password)
    note_login(subjects=[account] if right else [account, place], succeeded=right, now_ms=now_ms)
    if user is None or not right:
        raise LoginInvalid
    if not user.is_active:
        raise DisabledUser
    return user


@transaction.atomic
def pair_device(*, user: User, profile: Profile, login: Login, connection_type: str, now_ms: int) -> tuple[Device, str]:
    """Make or renew the device of a phone; its old token dies with the new hash, its reference stays."""
    if not memberships_of(user_id=user.pk).filter(profile=profile).exists():
        raise NoProfile
    rows = Device.objects.select_for_update(of=("self",)).select_related("token")
    device = rows.filter(user=user, device_code=login.device_code, connection_type=connection_type).first()
    if device is None:
        device = Device(user=user, device_code=login.device_code, connection_type=connection_type, created_at_ms=now_ms)
        device.device_id = device_id_of(user_id=user.pk, device_code=login.device_code)
    device.name, device.brand, device.model = login.device_name, login.device_brand, login.device_model
    device.paired_at_ms = now_ms
    secret, expires_at_ms = _new_token(device, now_ms=now_ms)
    device.token = _stored_token(device, profile=profile, secret=secret, expires_at_ms=expires_at_ms, now_ms=now_ms)
    device.save()
    announce("device.paired", user=user.pk, token=device.token_id)
    return device, secret


def _new_token(device: Device, *, now_ms: int) -> tuple[str, int]:
    expiry_s = (now_ms + TOKEN_LIFETIME_MS) // 1000
    claims: dict[str, Any] = {
        "type": TOKEN_TYPE,
        "aud": TOKEN_AUDIENCE,
        "sub": str(device.user_id),
        "device_code": device.device_code,
        "connection_type": device.connection_type,
        "jti": new_id(),
        "iat": now_ms // 1000,
        "exp": expiry_s,
    }
    return jwt.encode(claims, settings.SAYSO_KEYS.key("device_jwt"), algorithm="HS256"), expiry_s * 1000


def _stored_token(device: Device, *, profile: Profile, secret: str, expires_at_ms: int, now_ms: int) -> AccessToken:
    token = device.token if device.token_id else None
    if token is None or token.revoked_at_ms is not None:
        token = AccessToken(kind="device", user=device.user, profile=profile, created_at_ms=now_ms)
    token.profile, token.label, token.scopes = profile, device.name, list(TOKEN_SCOPES)
    token.secret_hash, token.expires_at_ms, token.last_used_ms = secret_hash(secret), expires_at_ms, None
    token.save()
    return token


@transaction.atomic
def revoke_device(*, by: Caller, device_id: str, now_ms: int) -> Device:
    """End a phone of the person at once; its open sockets close, and it can be paired anew."""
    rows = Device.objects.select_for_update(of=("self",)).select_related("token")
    device = rows.filter(pk=device_id, user_id=by.user_id).first()
    if device is None or device.token.revoked_at_ms is not None:
        raise DeviceNotFound
    end_token(device.token, now_ms=now_ms)
    return device


@transaction.atomic
def abort_session(*, by: Caller, ref: str, now_ms: int) -> None:
    """Abort what runs in a session at its person's word, which takes back what it asks.

    The phone stays the session's target: only the server's own abort takes that away.
    """
    session = session_on_socket(by=by, ref=ref)
    withdraw_asks(owner_id=session.pk, now_ms=now_ms)
    for run in open_runs(session=session):
        end_run(by=by, ref=ref, run_id=run.pk, now_ms=now_ms, state="aborted", keeps_target=True)


@transaction.atomic
def end_runs(*, by: Caller, ref: str, run_id: str, now_ms: int) -> None:
    """End a run of a session, or all of its open ones when none is named."""
    session = session_on_socket(by=by, ref=ref)
    ids = [run_id] if run_id else list(open_runs(session=session).values_list("pk", flat=True))
    for each in ids:
        end_run(by=by, ref=ref, run_id=each, now_ms=now_ms)


@transaction.atomic
def withdraw_asks(*, owner_id: str, now_ms: int, **_: Any) -> int:
    """Take back what waits in a session, by the session's key; part of aborting its run and of deleting it."""
    session = Session.objects.filter(pk=owner_id).first()
    ids = [] if session is None else [row.pk for row in open_asks_of(session=session)]
    hang_up(confirmation_ids=ids, now_ms=now_ms)
    return len(ids)
