"""The phone's socket: requests to it, its answers back, the runs that it starts."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import parse_qs

from django.conf import settings

from apps.accounts.rules import Caller, ProfileUnavailable
from apps.confirmations.consumers import cookie_of
from apps.core.announce import listen
from apps.core.errors import SaysoError
from apps.core.frames import call_for
from apps.core.sockets import Socket, header_of, keep, sockets_of
from apps.core.threads import lane
from apps.core.values import Timer, clock, now_ms
from apps.devices import queries
from apps.devices.rules import (
    FIRST_FRAME_MS,
    DeviceRefused,
    Identity,
    StaleAnswer,
    all_actions,
    check_actions,
    storable_value,
)
from apps.devices.serializers import refused_frame, requested_frame, resolved_frame

KIND = "device"
CLOSE_REFUSED = 4401
CLOSE_FORBIDDEN = 4403
CLOSE_TOO_LATE = 4408
ACCESS_DENIED = "Profile access denied"


class DeviceConsumer(Socket):
    """One connection of a phone, or of a person's own app, for one profile."""

    kind: ClassVar[str] = KIND

    secret = ""
    profile = "default"
    caller: Caller | None = None
    identity: Identity | None = None
    first_frame: Timer | None = None
    expiry: Timer | None = None

    async def connect(self) -> None:
        """Accept a token in the handshake, or wait a little for one in the first frame; a cookie never counts."""
        authorization = header_of(self.scope, b"authorization")
        if authorization and cookie_of(self.scope, settings.SESSION_COOKIE_NAME):
            await self.close(code=CLOSE_FORBIDDEN)
            return
        self.name = secrets.token_hex(8)
        self.rooms: set[str] = set()
        query = parse_qs(self.scope["query_string"].decode("latin1"))
        named = query.get("profile", [""])[-1].strip() or header_of(self.scope, b"x-hermes-profile").strip()
        self.profile = named or "default"
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
            sentence = ACCESS_DENIED if isinstance(error, ProfileUnavailable) else str(DeviceRefused())
            await self.send_json({"event": "connect_error", "code": error.own_code, "error": sentence})
            await self.close(code=CLOSE_REFUSED)
            return False
        if self.first_frame is not None:
            self.first_frame.cancel()
        if expires_at_ms is not None:
            self.expiry = clock().call_at(expires_at_ms, lambda: keep(asyncio.ensure_future(self.check_right())))
        self.register()
        # Until it says hello a phone is taken to know everything, as those did that know no hello.
        self.arrive(frozenset(all_actions()))
        return True

    def arrive(self, actions: frozenset[str]) -> None:
        """Be there for this profile, knowing these actions."""
        if self.identity is not None and self.caller is not None:
            queries.presence.enter(
                device_id=self.identity.device_id, profile_id=self.caller.profile_id, socket=self.name, actions=actions
            )

    def look_up(self) -> int | None:
        """Re-read token, user, device and membership; returns when the token ends."""
        self.caller, self.identity, expires_at_ms = queries.caller_on_socket(
            secret=self.secret, profile=self.profile, now_ms=now_ms()
        )
        return expires_at_ms

    async def check_right(self) -> bool:
        """Close within the moment when the token, the person or the membership is no longer good."""
        try:
            await self.in_lane(self.look_up)
        except SaysoError:
            self.leave()
            await self.close(code=CLOSE_REFUSED)
            return False
        return True

    async def on_frame(self, frame: dict[str, Any]) -> None:
        """Answer one frame as who the sender is at this moment."""
        try:
            frame = storable_value(frame)
        except RecursionError:
            await self.send_error("bad_frame", "A frame must not be nested deeply.")
            return
        event = frame.get("event")
        if self.caller is None:
            token = frame.pop("token", None)
            if not await self.enter(token if isinstance(token, str) else "") or event in (None, "auth"):
                return
        elif not await self.check_right():
            return
        if event == "hello":
            await self.hello(frame)
            return
        call = call_for(KIND, event) if isinstance(event, str) else None
        if call is None or not isinstance(event, str):
            await self.send_error("unknown_event", "This event is not known here.", of=event)
        elif event.endswith(".respond"):
            await self.respond(event.removesuffix(".respond"), call, frame)
        else:
            await self.take(event, call, frame)

    async def take(self, event: str, call: Callable[..., Any], frame: dict[str, Any]) -> None:
        """Hand an event to the function that owns it, send what it answers and follow the session that it is about."""
        try:
            answer, session = await self.in_lane(
                call, by=self.caller, identity=self.identity, payload=frame, now_ms=now_ms()
            )
        except SaysoError as error:
            await self.send_error(error.own_code, error.message, of=event, session_id=frame.get("session_id"))
            return
        if session:
            self.rooms.add(session)
        if answer:
            await self.send_json(answer)

    async def hello(self, frame: dict[str, Any]) -> None:
        """Note what the phone knows; anything else is not even asked of it."""
        try:
            actions = check_actions(frame.get("actions"))
        except SaysoError as error:
            await self.send_error(error.own_code, error.message, of="hello")
            return
        assert self.caller is not None
        self.arrive(actions)
        ready = {"event": "hello.accepted", "now_ms": now_ms(), "profile": self.caller.profile_name}
        await self.send_json({**ready, "device_id": self.identity.device_id if self.identity else None})

    async def respond(self, capability: str, call: Callable[..., Any], frame: dict[str, Any]) -> None:
        """Settle a request by this phone's answer; whoever is concerned hears of it."""
        try:
            await self.in_lane(
                call, by=self.caller, identity=self.identity, capability=capability, payload=frame, now_ms=now_ms()
            )
        except StaleAnswer as error:
            stale = refused_frame(frame, capability=capability, error=error.message, stale=True)
            tell_session(str(error.extra.get("session", "")), stale, sender=self)
        except SaysoError as error:
            await self.send_json(refused_frame(frame, capability=capability, error=error.message))

    async def send_error(self, code: str, sentence: str, **facts: Any) -> None:
        """Say that a frame could not be used."""
        await self.send_json({**facts, "event": "error", "code": code, "error": sentence})

    async def disconnect(self, code: int) -> None:
        """Forget the connection."""
        for timer in (self.first_frame, self.expiry):
            if timer is not None:
                timer.cancel()
        self.leave()

    def leave(self) -> None:
        """Be no longer there."""
        self.unregister()
        if self.identity is not None and self.caller is not None:
            queries.presence.leave(
                device_id=self.identity.device_id, profile_id=self.caller.profile_id, socket=self.name
            )


def room_of(device: str, profile_id: str) -> list[DeviceConsumer]:
    """Return the open sockets of a phone for a profile."""
    return [
        socket
        for socket in sockets_of(KIND)
        if socket.identity is not None and socket.caller.profile_id == profile_id and socket.identity.ref == device
    ]


def tell_phone(device: str, profile_id: str, frame: dict[str, Any]) -> None:
    """Send to every open socket of a phone for a profile."""
    for socket in room_of(device, profile_id):
        socket.push(frame)


def tell_session(session: str, frame: dict[str, Any], *, sender: DeviceConsumer) -> None:
    """Send to everybody who follows a session; to the sender when nobody does."""
    room = [socket for socket in sockets_of(KIND) if session and session in socket.rooms]
    for socket in room or [sender]:
        socket.push(frame)


async def relay(message: dict[str, Any], *, ended: bool) -> None:
    """Send a request, or how it ended, to the phone that it is for."""
    frame = await lane.run(lambda: frame_for(message, ended=ended))
    if frame is not None:
        tell_phone(message["device"], message["profile"], frame)


def frame_for(message: dict[str, Any], *, ended: bool) -> dict[str, Any] | None:
    """Read a request and return what its phone is sent; a request that ended already is not shown any more."""
    row = queries.request_by_id(profile_id=message["profile"], confirmation_id=message["confirmation"])
    if row is None or (row.state == "pending") == ended:
        return None
    device = queries.device_by_ref(row.target_device)
    if device is None:
        return None
    shape = resolved_frame if ended else requested_frame
    return shape(row, device_code=device.device_code, user_id=device.user_id)


def hear(message: dict[str, Any]) -> None:
    """Relay or close, as announced; runs on the serving loop."""
    event = message["event"]
    if event in ("confirmation.asked", "confirmation.ended"):
        if message["device"]:
            keep(asyncio.ensure_future(relay(message, ended=event == "confirmation.ended")))
    elif event in ("token.revoked", "device.paired"):
        recheck(lambda caller: caller.token_id == message["token"])
    elif event in ("session.ended", "member.removed", "member.changed"):
        recheck(lambda caller: caller.user_id == message["user"])


def recheck(concerned: Callable[[Caller], bool]) -> None:
    """Let the sockets of the callers concerned look whether they are still good."""
    for socket in sockets_of(KIND):
        if socket.caller is not None and concerned(socket.caller):
            keep(asyncio.ensure_future(socket.check_right()))


listen(hear)
