"""The socket of agent hosts: leases, appends, the inbox, and what the server asks of a host."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import parse_qs

from django.conf import settings

from apps.accounts.rules import Caller, ScopeMissing
from apps.confirmations.consumers import cookie_of
from apps.core.errors import SaysoError, TooMany
from apps.core.frames import call_for
from apps.core.sockets import Socket, header_of, keep
from apps.core.values import Timer, clock, now_ms
from apps.sessions.actions.appending import append_soon
from apps.sessions.actions.leases import end_leases
from apps.sessions.consumers.frames import Reply, Room, inbox_frames
from apps.sessions.queries.hosts import host_on_socket
from apps.sessions.rules.hosts import IDLE_WAIT_MS, LEASE_MS
from apps.sessions.rules.plain_json import parse_json

KIND = "agent"
CLOSE_REFUSED = 4401
CLOSE_FORBIDDEN = 4403
CLOSE_TOO_LATE = 4408
FIRST_FRAME_MS = 5_000
ROOMS_MAX = 10_000


class BadFrame(SaysoError):
    """A frame must be a JSON object of reasonable size, without numbers that JSON does not have."""

    code = "bad_frame"


class UnknownEvent(SaysoError):
    """This event is not known here."""

    code = "unknown_event"


class NoLongerGood(Exception):
    """The connection's right ended."""

    def __init__(self, reason: SaysoError) -> None:
        """Keep why."""
        super().__init__(reason.message)
        self.reason = reason


class AgentConsumer(Socket):
    """One connection of an agent host, for one profile."""

    kind: ClassVar[str] = KIND

    secret = ""
    profile = ""
    caller: Caller | None = None
    first_frame: Timer | None = None
    expiry: Timer | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Begin outside every room."""
        super().__init__(*args, **kwargs)
        self.rooms: dict[str, Room] = {}
        self.working_in = ""
        self.letting_go: set[str] = set()
        self.put_off: list[dict[str, Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the connection; whatever ends it, what it held ends with it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self.leave()

    async def connect(self) -> None:
        """Accept a token in the handshake, or wait a little for one in the first frame; a cookie never counts."""
        authorization = header_of(self.scope, b"authorization")
        if authorization and cookie_of(self.scope, settings.SESSION_COOKIE_NAME):
            await self.close(code=CLOSE_FORBIDDEN)
            return
        query = parse_qs(self.scope["query_string"].decode("latin1"))
        named = query.get("profile", [""])[-1].strip() or header_of(self.scope, b"x-hermes-profile").strip()
        # What no database keeps is no profile's name.
        self.profile = named.replace("\0", "?")
        await self.accept()
        if authorization:
            scheme, _, secret = authorization.partition(" ")
            await self.enter(secret.strip() if scheme.lower() == "bearer" else "")
        else:
            self.first_frame = clock().call_at(now_ms() + FIRST_FRAME_MS, self.too_late)

    def too_late(self) -> None:
        """Close a connection that did not say who it is."""
        if self.caller is None:
            keep(asyncio.ensure_future(self.close(code=CLOSE_TOO_LATE)))

    async def enter(self, secret: str) -> bool:
        """Let the bearer of a token in, or say why not and close."""
        self.secret = secret
        try:
            expires_at_ms = await self.in_lane(self.look_up)
        except SaysoError as error:
            await self.send_error(error, of="auth")
            await self.close(code=CLOSE_FORBIDDEN if isinstance(error, ScopeMissing) else CLOSE_REFUSED)
            return False
        assert self.caller is not None
        if self.first_frame is not None:
            self.first_frame.cancel()
        if expires_at_ms is not None:
            self.expiry = clock().call_at(expires_at_ms, lambda: keep(asyncio.ensure_future(self.check_right())))
        self.register()
        facts = {"profile": self.caller.profile_name, "now_ms": now_ms(), "lease_ms": LEASE_MS}
        await self.send_json({"event": "host.accepted", **facts, "idle_wait_ms": IDLE_WAIT_MS})
        return True

    def look_up(self) -> int | None:
        """Re-read token, user and membership; returns when the token ends."""
        self.caller, expires_at_ms = host_on_socket(secret=self.secret, profile=self.profile, now_ms=now_ms())
        return expires_at_ms

    async def check_right(self) -> bool:
        """Close within the moment when the token, the person or the membership is no longer good."""
        try:
            await self.in_lane(self.look_up)
        except SaysoError as error:
            await self.refuse(error)
            return False
        return True

    async def refuse(self, error: SaysoError) -> None:
        """Close a connection that is no longer good; what it held ends at once."""
        await self.leave()
        await self.close(code=CLOSE_FORBIDDEN if isinstance(error, ScopeMissing) else CLOSE_REFUSED)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Parse one frame without loss, for it may carry events of a log."""
        frame: Any = None
        if text_data is not None and len(text_data) <= settings.SAYSO_MAX_BODY_BYTES:
            try:
                frame = parse_json(text_data)
            except ValueError:
                frame = None
        if not isinstance(frame, dict):
            await self.send_error(BadFrame())
            return
        await self.on_frame(frame)

    async def on_frame(self, frame: dict[str, Any]) -> None:
        """Answer one frame as who the sender is at this moment."""
        event = frame.get("event")
        if self.caller is None:
            token = frame.pop("token", None)
            if not await self.enter(token if isinstance(token, str) else "") or event in (None, "auth"):
                return
        call = call_for(KIND, event) if isinstance(event, str) else None
        if call is None:
            await self.send_error(UnknownEvent(), of=event if isinstance(event, str) else None, number=frame.get("id"))
            return
        await self.take(str(event), call, frame)

    async def take(self, event: str, call: Callable[..., Reply], frame: dict[str, Any]) -> None:
        """Hand an event to the function that owns it, and send what it answers."""
        number, named = frame.get("id"), frame.get("session_id")
        room = next((one for one in self.rooms.values() if one.ref == named), None)
        self.working_in = room.session if room else ""
        if room and event in ("lease.release", "session.unfollow"):
            self.letting_go.add(room.lease_id)
        reply: Reply | None = None
        own: tuple[int, int] | None = None
        try:
            reply = await self.in_lane(self.answer, call, frame)
            if reply.append is not None:
                own = await self.append(reply)
            await self.send_ascii(reply.frame if number is None else {**reply.frame, "id": number})
        except NoLongerGood as error:
            await self.refuse(error.reason)
        except SaysoError as error:
            await self.send_error(error, of=event, number=number, session_id=named)
        self.working_in = ""
        self.letting_go.clear()
        held_back, self.put_off = self.put_off, []
        for message in held_back:
            if (message["from"], message["to"]) != own:
                self.tell_appended(message)
        if reply is not None:
            await self.move(reply)

    async def append(self, reply: Reply) -> tuple[int, int] | None:
        """Append what a frame wants, and complete its answer; returns the first and the last event that was written."""
        assert reply.append is not None
        assert self.caller is not None
        wanted = reply.append
        found = await append_soon(
            by=self.caller,
            session_id=wanted.session,
            expected_seq=wanted.expected_seq,
            events=wanted.events,
            now_ms=now_ms(),
        )
        reply.frame.update(first=found.first, next_seq=found.next_seq, repeated=found.repeated)
        return None if found.repeated else (found.first, found.next_seq - 1)

    def answer(self, call: Callable[..., Reply], frame: dict[str, Any]) -> Reply:
        """Look who the sender is and let them be answered, in one turn of the lane."""
        try:
            self.look_up()
        except SaysoError as error:
            raise NoLongerGood(error) from None
        if len(self.rooms) >= ROOMS_MAX and frame.get("event") in ("lease.take", "session.follow"):
            raise TooMany("One connection follows at most 10,000 sessions; open another one.")
        return call(by=self.caller, payload=frame, rooms=dict(self.rooms), now_ms=now_ms())

    async def move(self, reply: Reply) -> None:
        """Enter and leave rooms as the answer says; a newly entered one is told what its inbox holds."""
        for session in reply.released:
            if session in self.rooms:
                self.rooms[session].lease_id = ""
        for session in reply.left:
            self.rooms.pop(session, None)
        if reply.room is not None:
            self.rooms[reply.room.session] = reply.room
            await self.show_inbox(reply.room.session)

    async def show_inbox(self, session: str) -> None:
        """Send what the inbox of a followed session holds beyond what was sent."""
        room = self.rooms.get(session)
        while room is not None and self.caller is not None:
            frames = await self.in_lane(inbox_frames, by=self.caller, ref=room.ref, session=session, after=room.after)
            if frames is None:
                self.rooms.pop(session, None)
                await self.send_json({"event": "session.gone", "session_id": room.ref})
                return
            # Two looks may overlap: what the other one sent meanwhile is not sent again.
            fresh = [frame for frame in frames if frame["message"]["number"] > room.after]
            for frame in fresh:
                room.after = frame["message"]["number"]
                await self.send_ascii(frame)
            if not fresh:
                return

    def tell_appended(self, message: dict[str, Any]) -> None:
        """Say that a followed log grew; what comes while this socket itself appends waits until its answer is sent."""
        room = self.rooms.get(message["session"])
        if room is None:
            return
        if self.working_in == room.session:
            self.put_off.append(message)
        else:
            self.push({"event": "log.appended", "session_id": room.ref, "from": message["from"], "to": message["to"]})

    async def send_ascii(self, value: dict[str, Any]) -> None:
        """Send one JSON object that may hold texts which are no Unicode."""
        await self.send_json(json.dumps(value))

    async def send_error(self, error: SaysoError, *, of: Any = None, number: Any = None, **facts: Any) -> None:
        """Say why a frame could not be used."""
        named = {name: value for name, value in (("of", of), ("id", number), *facts.items()) if value is not None}
        await self.send_ascii(
            {**named, **error.extra, "event": "error", "code": error.own_code, "error": error.message}
        )

    async def disconnect(self, code: int) -> None:
        """Forget the connection."""
        for timer in (self.first_frame, self.expiry):
            if timer is not None:
                timer.cancel()

    async def leave(self) -> None:
        """Be no longer there, and let go of every session."""
        self.unregister()
        held = [room.lease_id for room in self.rooms.values() if room.lease_id]
        self.rooms = {}
        if held:
            await self.in_lane(end_leases, lease_ids=held)
