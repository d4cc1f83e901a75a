"""What an agent host says: each function answers one event, in the lane, as who the sender is at this moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.accounts.rules import Caller, check_scope
from apps.core.errors import InvalidField
from apps.core.text import storable
from apps.sessions.actions.hosts import declare_idle
from apps.sessions.actions.inbox import acknowledge
from apps.sessions.actions.leases import release_lease, renew_lease, take_lease
from apps.sessions.actions.runs import end_run, start_run
from apps.sessions.models import Lease
from apps.sessions.queries import open_runs, session_of, visible_session
from apps.sessions.queries.inbox import messages_of
from apps.sessions.rules import ID_LENGTH, SessionNotFound
from apps.sessions.rules.hosts import APPEND_MAX, INBOX_PAGE, LeaseNotHeld, check_count
from apps.sessions.serializers.hosts import lease_body, message_body


@dataclass(slots=True, kw_only=True)
class Room:
    """A session that a socket follows; `lease_id` is empty unless the socket holds it too."""

    session: str
    ref: str
    after: int = 0
    """The last inbox message that was sent to the socket."""
    lease_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """An append of a sender that may append to this session."""

    session: str
    expected_seq: int
    events: list[Any]


Rooms = Mapping[str, Room]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the sender is sent, the room that it enters, the sessions that it leaves."""

    frame: dict[str, Any]
    room: Room | None = None
    left: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    append: Wanted | None = None
    """What is still to be appended before the sender is answered."""


def take(*, by: Caller, payload: Mapping[str, Any], rooms: Rooms, now_ms: int) -> Reply:
    """Take a session's lease, which ends with the connection, and follow the session."""
    check_scope(by=by, scope="session.append")
    session = session_of(by=by, ref=ref_in(payload))
    known = rooms.get(session.pk)
    lease = take_lease(by=by, ref=session.ref, lease_id=known.lease_id if known else "", now_ms=now_ms)
    room = Room(session=session.pk, ref=session.ref, after=_after(payload, known), lease_id=lease.lease_id)
    return Reply(frame={"event": "lease.taken", **lease_body(lease, ref=session.ref)}, room=room)


def renew(*, by: Caller, payload: Mapping[str, Any], rooms: Rooms, now_ms: int) -> Reply:
    """Hold a session for another minute, or every session that this connection holds when none is named."""
    check_scope(by=by, scope="session.append")
    held = [room for room in rooms.values() if room.lease_id]
    if payload.get("session_id") is not None:
        ref = ref_in(payload)
        held = [room for room in held if room.ref == ref]
        if not held:
            raise LeaseNotHeld
    kept: list[Lease] = []
    lost: list[str] = []
    for room in held:
        try:
            kept.append(renew_lease(by=by, ref=room.ref, lease_id=room.lease_id, now_ms=now_ms))
        except (LeaseNotHeld, SessionNotFound):
            lost.append(room.session)
    if payload.get("session_id") is not None and lost:
        raise LeaseNotHeld
    return Reply(
        frame={
            "event": "lease.renewed",
            "session_ids": [rooms[lease.session_id].ref for lease in kept],
            "lost": [rooms[session].ref for session in lost],
            "expires_ms": kept[0].expires_ms if kept else None,
        },
        released=tuple(lost),
    )


def release(*, by: Caller, payload: Mapping[str, Any], rooms: Rooms, now_ms: int) -> Reply:
    """Let a session go; this connection goes on following it."""
    check_scope(by=by, scope="session.append")
    session = session_of(by=by, ref=ref_in(payload))
    room = rooms.get(session.pk)
    lease_id = room.lease_id if room else ""
    released = bool(lease_id) and release_lease(by=by, ref=session.ref, lease_id=lease_id, now_ms=now_ms)
    frame = {"event": "lease.released", "session_id": session.ref, "released": released}
    return Reply(frame=frame, released=(session.pk,))


def follow(*, by: Caller, payload: Mapping[str, Any], rooms: Rooms, now_ms: int) -> Reply:
    """Hear of a session without holding it: its inbox and what is appended to its log."""
    check_scope(by=by, scope="session.read")
    session = session_of(by=by, ref=ref_in(payload))
    known = rooms.get(session.pk)
    room = Room(
        session=session.pk, ref=session.ref, after=_after(payload, known), lease_id=known.lease_id if known else ""
    )
    frame = {"event": "session.followed", "session_id": session.ref, "next_seq": session.next_seq}
    return Reply(frame=frame, room=room)


def unfollow(*, by: Caller, payload: Mapping[str, Any], rooms: Rooms, now_ms: int) -> Reply:
    """Hear no more of a session; one that is held is let go."""
    ref = ref_in(payload)
    left = [room for room in rooms.values() if room.ref == ref]
    for room in left:
        if room.lease_id:
            release_lease(by=by, ref=ref, lease_id=room.lease_id, now_ms=now_ms)
    return Reply(frame={"event": "session.unfollowed", "session_id": ref}, left=tuple(room.session for room in left))


def append(*, by: Caller, payload: Mapping[str, Any], rooms: Rooms, now_ms: int) -> Reply:
    """Check that the sender may append to a log; the append itself shares a commit with others."""
    check_scope(by=by, scope="session.append")
    ref, events = ref_in(payload), payload.get("events")
    expected_seq = check_count(payload.get("expected_seq"), name="expected_seq")
    if not isinstance(events, list) or len(events) > APPEND_MAX:
        raise InvalidField("events", f"events must be a list of at most {APPEND_MAX:,} events")
    session = session_of(by=by, ref=ref)
    wanted = Wanted(session=session.pk, expected_seq=expected_seq, events=events)
    return Reply(frame={"event": "events.appended", "session_id": ref}, append=wanted)


def acknowledged(*, by: Caller, payload: Mapping[str, Any], rooms: Rooms, now_ms: int) -> Reply:
    """Note that an inbox message was taken in."""
    check_scope(by=by, scope="session.append")
    ref, key = ref_in(payload), payload.get("message")
    if isinstance(key, bool) or not isinstance(key, int | str):
        raise InvalidField("message", "message must be the number or the id of a message")
    message = acknowledge(by=by, ref=ref, key=str(key), now_ms=now_ms)
    return Reply(frame={"event": "inbox.acknowledged", "session_id": ref, "message": message_body(message)})


def run_start(*, by: Caller, payload: Mapping[str, Any], rooms: Rooms, now_ms: int) -> Reply:
    """Say that the agent began to work."""
    check_scope(by=by, scope="session.append")
    ref, background = ref_in(payload), payload.get("background", False)
    if not isinstance(background, bool):
        raise InvalidField("background", "background must be true or false")
    run = start_run(by=by, ref=ref, background=background, now_ms=now_ms)
    return Reply(frame={"event": "run.started", "session_id": ref, "run_id": run.pk})


def run_end(*, by: Caller, payload: Mapping[str, Any], rooms: Rooms, now_ms: int) -> Reply:
    """Say that a run ended, or was aborted, which takes back what it asked."""
    check_scope(by=by, scope="session.append")
    ref, run_id, aborted = ref_in(payload), payload.get("run_id"), payload.get("aborted", False)
    if not isinstance(run_id, str) or not storable(run_id):
        raise InvalidField("run_id", "run_id must be the id of a run")
    if not isinstance(aborted, bool):
        raise InvalidField("aborted", "aborted must be true or false")
    run = end_run(by=by, ref=ref, run_id=run_id, state="aborted" if aborted else "ended", now_ms=now_ms)
    return Reply(frame={"event": f"run.{run.state}", "session_id": ref, "run_id": run.pk})


def idle(*, by: Caller, payload: Mapping[str, Any], rooms: Rooms, now_ms: int) -> Reply:
    """Say that nothing works in a session any more, as the answer to `agent.cancel` or by itself."""
    check_scope(by=by, scope="session.append")
    ref = ref_in(payload)
    ended = declare_idle(by=by, ref=ref, now_ms=now_ms)
    open_ones = open_runs(session=session_of(by=by, ref=ref)).count()
    return Reply(frame={"event": "agent.rested", "session_id": ref, "ended": len(ended), "running": open_ones})


def ref_in(payload: Mapping[str, Any]) -> str:
    """Return the session that a frame names; what no session can be called is not there."""
    ref = payload.get("session_id")
    if not isinstance(ref, str) or not ref:
        raise InvalidField("session_id", "session_id must be the id of a session")
    if len(ref) > ID_LENGTH or not storable(ref):
        raise SessionNotFound
    return ref


def _after(payload: Mapping[str, Any], known: Room | None) -> int:
    if payload.get("after") is not None:
        return check_count(payload["after"], name="after")
    return known.after if known else 0


def inbox_frames(*, by: Caller, ref: str, session: str, after: int) -> list[dict[str, Any]] | None:
    """Return the frames of a session's open inbox messages after a number, None when the session is not there."""
    found = visible_session(by=by, ref=ref)
    if found is None or found.pk != session:
        return None
    rows = messages_of(session_id=session, after=after, limit=INBOX_PAGE)
    return [{"event": "inbox.message", "session_id": ref, "message": message_body(row)} for row in rows]


EVENTS = {
    "lease.take": take,
    "lease.renew": renew,
    "lease.release": release,
    "session.follow": follow,
    "session.unfollow": unfollow,
    "events.append": append,
    "inbox.acknowledge": acknowledged,
    "run.start": run_start,
    "run.end": run_end,
    "agent.idle": idle,
}
