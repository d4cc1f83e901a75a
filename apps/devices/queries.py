"""Which phones there are, which is a session's target, whether it is there, and what waits for it."""

from __future__ import annotations

import json
from typing import Any

import jwt
from django.conf import settings
from django.db.models import QuerySet

from apps.accounts.queries import caller_of_token, memberships_of, role_of
from apps.accounts.rules import Caller
from apps.confirmations.models import Confirmation
from apps.devices.models import Device
from apps.devices.rules import (
    TOKEN_AUDIENCE,
    TOKEN_TYPE,
    DeviceRefused,
    Identity,
    Presence,
    ProfileNotHere,
    Target,
    ref_of,
)
from apps.sessions.models import Run, Session
from apps.sessions.queries import latest_run, visible_session
from apps.sessions.rules import SessionNotFound

presence = Presence()
"""The phones with an open socket in this process."""


def relay_is_up() -> bool:
    """Tell whether this server passes requests on to phones."""
    return bool(settings.SAYSO_DEVICE_RELAY)


def devices_of(*, user_id: int) -> QuerySet[Device]:
    """Return a person's phones that are not revoked, the latest pairing first."""
    return Device.objects.filter(user_id=user_id, token__revoked_at_ms=None).select_related("token")


def device_by_ref(ref: str) -> Device | None:
    """Return a phone by its reference, or None; of several connections the latest pairing."""
    return Device.objects.filter(device_id=ref.partition(":")[2]).order_by("-paired_at_ms").first()


def token_claims(*, secret: str, now_ms: int) -> dict[str, Any] | None:
    """Return what a device token says, or None for one that is forged, of another kind or too old."""
    try:
        claims: dict[str, Any] = jwt.decode(
            secret,
            settings.SAYSO_KEYS.key("device_jwt"),
            algorithms=["HS256"],
            audience=TOKEN_AUDIENCE,
            # The server's own clock decides, here as everywhere.
            options={"verify_exp": False, "verify_iat": False, "require": ["exp", "jti", "sub"]},
        )
    except (jwt.PyJWTError, ValueError):
        return None
    expiry = claims["exp"]
    if claims.get("type") != TOKEN_TYPE or not isinstance(expiry, int) or expiry * 1000 <= now_ms:
        return None
    return claims


def caller_on_socket(*, secret: str, profile: str, now_ms: int) -> tuple[Caller, Identity | None, int | None]:
    """Return who opens a socket for a profile, which phone it is (None: a person's own app), and when the token ends.

    Raises `DeviceRefused`, `DisabledUser` and `ProfileUnavailable`.
    """
    found = caller_of_token(secret=secret, now_ms=now_ms, profile_name=profile)
    if found is None:
        raise DeviceRefused
    caller = found[0]
    if caller.kind == "person_token":
        return caller, None, None
    if caller.kind != "device" or token_claims(secret=secret, now_ms=now_ms) is None:
        raise DeviceRefused
    device = Device.objects.filter(token_id=caller.token_id).select_related("token").first()
    if device is None:
        raise DeviceRefused
    return caller, device.identity, device.token.expires_at_ms


def target_for(*, session: Session, profile_id: str) -> Target | None:
    """Return the phone that started the session's latest run; None when somebody else did or it is paired no more.

    A phone decides as its person would, so the phone of a person who only looks is no target.
    """
    run = latest_run(session=session)
    if run is None or run.profile_id != profile_id or not run.device:
        return None
    device = _device_of(run)
    if device is None or role_of(user_id=device.user_id, profile_id=profile_id) not in ("owner", "decider"):
        return None
    known = presence.known(device_id=device.device_id, profile_id=profile_id)
    return Target(
        ref=ref_of(device.device_id),
        device_id=device.device_id,
        device_code=device.device_code,
        user_id=device.user_id,
        profile=session.profile.name,
        profile_id=profile_id,
        run_id=run.pk,
        label=device.name,
        online=known is not None,
        actions=known or frozenset(),
    )


def _device_of(run: Run) -> Device | None:
    rows = Device.objects.filter(token_id=run.device.partition(":")[2], token__revoked_at_ms=None)
    return rows.filter(user__is_active=True).first()


def is_online(*, device_id: str, profile_id: str) -> bool:
    """Tell whether a phone has an open socket for the profile."""
    return presence.known(device_id=device_id, profile_id=profile_id) is not None


def session_on_socket(*, by: Caller, ref: str) -> Session:
    """Return a session that a socket may act on; raise with the sentence that the socket is sent."""
    session = visible_session(by=by, ref=ref)
    if session is not None:
        return session
    names = {m.profile_id: m.profile.name for m in memberships_of(user_id=by.user_id)}
    elsewhere = Session.objects.filter(ref=ref, profile_id__in=names, workspace__restricted=False).first()
    if elsewhere is None:
        raise SessionNotFound
    raise ProfileNotHere(f'Profile "{names[elsewhere.profile_id]}" is not available on this connection')


def open_asks_of(*, session: Session) -> list[Confirmation]:
    """Return what a session's calendar and reminder calls wait for, of a phone or of people, the oldest first."""
    rows = Confirmation.objects.filter(
        profile_id=session.profile_id, state="pending", contract__startswith="calendars."
    )
    return [row for row in rows if json.loads(row.ids).get("session") == session.ref]


def requests_of(*, session: Session) -> list[Confirmation]:
    """Return the open requests to a phone in a session, the oldest first."""
    return [row for row in open_asks_of(session=session) if row.target_device]


def request_by_id(*, profile_id: str, confirmation_id: str) -> Confirmation | None:
    """Return a request to a phone, open or ended, or None."""
    rows = Confirmation.objects.filter(pk=confirmation_id, profile_id=profile_id).exclude(target_device="")
    return rows.select_related("profile").first()


def replayed_requests(*, session: Session, device_id: str) -> tuple[bool, list[Confirmation]]:
    """Return whether a run works, and what it asked of this phone that is still open.

    A finished or a new run takes the request off the list; it can still be answered by its id.
    """
    run = latest_run(session=session)
    if run is None or run.state != "running":
        return False, []
    rows = [row for row in requests_of(session=session) if device_id and row.target_device == ref_of(device_id)]
    return True, [row for row in rows if _asked_in(row, run)]


def _asked_in(row: Confirmation, run: Run) -> bool:
    named = json.loads(row.ids).get("run")
    return bool(named == run.pk) if named else row.created_at_ms >= run.started_ms


def open_count(*, owner_id: str) -> int:
    """Return how much of a session waits, by the session's key."""
    session = Session.objects.filter(pk=owner_id).first()
    return 0 if session is None else len(open_asks_of(session=session))
