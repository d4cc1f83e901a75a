"""What a phone says of sessions and runs: each function answers one event, in the lane.

A function returns the frame that the sender is sent (or None) and the key of the session that the socket follows from
here on (or an empty text).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from apps.accounts.queries import places_of
from apps.accounts.rules import Caller, Role, check_role, check_scope
from apps.core.errors import InvalidField
from apps.devices import actions, queries
from apps.devices.rules import RESUME_ID_LENGTH, Identity, ProfileNotHere, check_text
from apps.devices.serializers import requested_frame
from apps.sessions.actions import start_run
from apps.sessions.rules import ID_LENGTH, SOURCE_LENGTH

Answer = tuple[dict[str, Any] | None, str]


def run_started(*, by: Caller, identity: Identity | None, payload: Mapping[str, Any], now_ms: int) -> Answer:
    """Start a run; this phone becomes the session's target, unless the run is for another profile or not a chat."""
    check_right(by, "session.append")
    ref = check_text(payload, name="session_id", length=ID_LENGTH)
    background = payload.get("background", False)
    if not isinstance(background, bool):
        raise InvalidField("background", "background must be true or false")
    source = check_text(payload, name="source", length=SOURCE_LENGTH) if payload.get("source") else ""
    there = caller_there(by, payload.get("profile"))
    check_right(there, "session.append")
    run = start_run(
        by=there, ref=ref, background=background, source=source, from_elsewhere=there is not by, now_ms=now_ms
    )
    return {"event": "run.accepted", "session_id": ref, "run_id": run.pk}, run.session_id


def caller_there(by: Caller, profile: Any) -> Caller:
    """Return the caller in the profile that a run names; the connection's own when it names none."""
    if not isinstance(profile, str) or profile.strip() in ("", by.profile_name):
        return by
    for place in places_of(user_id=by.user_id):
        if place.profile_name == profile.strip():
            role = cast("Role", place.role)
            return replace(by, profile_id=place.profile_id, profile_name=place.profile_name, role=role)
    raise ProfileNotHere(f'Profile "{profile.strip()}" is not available for this user')


def run_ended(*, by: Caller, identity: Identity | None, payload: Mapping[str, Any], now_ms: int) -> Answer:
    """End a run, or every open run of the session."""
    check_right(by, "session.append")
    ref = check_text(payload, name="session_id", length=ID_LENGTH)
    run_id = check_text(payload, name="run_id", length=ID_LENGTH) if payload.get("run_id") else ""
    actions.end_runs(by=by, ref=ref, run_id=run_id, now_ms=now_ms)
    return None, ""


def abort(*, by: Caller, identity: Identity | None, payload: Mapping[str, Any], now_ms: int) -> Answer:
    """Abort the session's runs and take back what they ask."""
    check_right(by, "session.append")
    actions.abort_session(by=by, ref=check_text(payload, name="session_id", length=ID_LENGTH), now_ms=now_ms)
    return None, ""


def resume(*, by: Caller, identity: Identity | None, payload: Mapping[str, Any], now_ms: int) -> Answer:
    """Tell whether the session works, and show this phone again what it was asked and has not answered."""
    found, session = working(by, identity, payload)
    return {"event": "resumed", **found}, session


def app_resume(*, by: Caller, identity: Identity | None, payload: Mapping[str, Any], now_ms: int) -> Answer:
    """Do the same for an app that numbers its questions."""
    number = check_text(payload, name="id", length=RESUME_ID_LENGTH)
    found, session = working(by, identity, payload)
    return {"event": "app.resumed", "id": number, **found}, session


def working(by: Caller, identity: Identity | None, payload: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the members of a `resumed` answer and the session's key."""
    check_right(by, "session.read")
    ref = check_text(payload, name="session_id", length=ID_LENGTH)
    session = queries.session_on_socket(by=by, ref=ref)
    device_id = identity.device_id if identity else ""
    is_working, rows = queries.replayed_requests(session=session, device_id=device_id)
    frames = [
        requested_frame(row, device_code=identity.device_code, user_id=identity.user_id) for row in rows if identity
    ]
    events = [{"event": frame["event"], "data": frame} for frame in frames]
    return {"session_id": ref, "isWorking": is_working, "events": events}, session.pk


def check_right(by: Caller, scope: str) -> None:
    """Raise unless the person's role allows it and their own token has the scope; a phone needs no scope for this."""
    if by.kind == "device":
        check_role(by=by, scope=scope)
    else:
        check_scope(by=by, scope=scope)


EVENTS = {
    "run.started": run_started,
    "run.ended": run_ended,
    "abort": abort,
    "resume": resume,
    "app.resume": app_resume,
}
