"""Pairing, identity and presence of phones: limits, errors and what a device knows."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from apps.core.errors import Conflict, Denied, InvalidField, NotFound, SaysoError, Unauthorized

ConnectionType = Literal["lan", "cloud"]
CONNECTION_TYPES: tuple[ConnectionType, ...] = ("lan", "cloud")

CODE_BYTES = 24
CODE_LIFETIME_MS = 5 * 60_000
CODE_KEPT_MS = 24 * 3_600_000
"""For how long a code that is over is still told apart from one that never was."""
TOKEN_TYPE = "app_access"
TOKEN_AUDIENCE = "hermes-studio"
TOKEN_LIFETIME_MS = 30 * 24 * 3_600_000
TOKEN_SCOPES = ["device"]
FIRST_FRAME_MS = 5_000
RESUME_ID_LENGTH = 128

DEVICE_CODE_LENGTH = 255
NAME_LENGTH = 80
BRAND_LENGTH = 80
MODEL_LENGTH = 120
SECRET_LENGTH = 512
"""Of an authorization code, a user name or a password."""

CAPABILITIES: Mapping[str, tuple[str, ...]] = {
    "calendar": ("list", "create", "update", "delete"),
    "reminder": ("list", "create", "update", "complete", "delete"),
}
ACTIONS_MOST = 64


class CodeInvalid(Unauthorized):
    """This pairing code is not known here."""

    code = "invalid_authorization_code"


class LoginInvalid(Unauthorized):
    """The user name or the password is wrong."""

    code = "invalid_credentials"


class CodeUsed(Conflict):
    """This pairing code was used already; show a new one."""

    code = "authorization_code_used"


class CodeExpired(SaysoError):
    """This pairing code is older than five minutes; show a new one."""

    code = "authorization_code_expired"
    status = 410


class NoProfile(Denied):
    """This person belongs to no profile of this server."""

    code = "no_profile"


class DeviceNotFound(NotFound):
    """There is no such device."""


class DeviceRefused(Unauthorized):
    """App device authentication failed"""


class WrongDevice(Denied):
    """Response is not from the target device"""

    code = "wrong_device"


class StaleAnswer(Conflict):
    """Calendar or reminder request is no longer pending."""

    code = "stale"


class ProfileNotHere(Denied):
    """The profile is not available on this connection"""

    code = "profile_unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which phone it is: the same person and the same installation, over whatever connection."""

    device_id: str
    user_id: int
    device_code: str
    label: str = ""

    @property
    def ref(self) -> str:
        """Return how a confirmation names the phone as its target and as its decider; pairing again keeps it."""
        return ref_of(self.device_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The phone that started a session's latest run, for one profile."""

    ref: str
    """What `Confirmation.target_device` holds."""
    device_id: str
    """The hash that the agent is told; the raw device code never leaves for it."""
    device_code: str
    user_id: int
    profile: str
    profile_id: str
    run_id: str
    label: str
    online: bool
    actions: frozenset[str]

    def knows(self, *, capability: str, action: str) -> bool:
        """Tell whether the phone said hello with this action, as `delete` or as `calendar.delete`."""
        return not self.actions.isdisjoint({action, f"{capability}.{action}"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """What an app sends to become a device."""

    device_code: str
    device_name: str
    device_brand: str
    device_model: str
    authorization_code: str
    username: str
    password: str


@dataclass(slots=True)
class Presence:
    """Which phones have an open socket in this process, and what they know; safe between threads."""

    sockets: dict[tuple[str, str], dict[str, frozenset[str]]] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, *, device_id: str, profile_id: str, socket: str, actions: frozenset[str]) -> None:
        """Note a socket that said hello."""
        with self.guard:
            self.sockets.setdefault((device_id, profile_id), {})[socket] = actions

    def leave(self, *, device_id: str, profile_id: str, socket: str) -> None:
        """Forget a socket."""
        with self.guard:
            room = self.sockets.get((device_id, profile_id), {})
            room.pop(socket, None)
            if not room:
                self.sockets.pop((device_id, profile_id), None)

    def known(self, *, device_id: str, profile_id: str) -> frozenset[str] | None:
        """Return the actions that a phone knows over all its sockets, or None while it has none."""
        with self.guard:
            room = self.sockets.get((device_id, profile_id))
            return None if room is None else frozenset().union(*room.values())


def device_id_of(*, user_id: int | str, device_code: str) -> str:
    """Return the public id of a phone: 24 hex digits of SHA-256 over the compact JSON list of user and code."""
    text = json.dumps([str(user_id), device_code], separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def ref_of(device_id: str) -> str:
    """Return the reference of a phone by its public id."""
    return f"device:{device_id}"


def new_code() -> str:
    """Return a fresh pairing code: 24 random bytes as base64url."""
    return base64.urlsafe_b64encode(secrets.token_bytes(CODE_BYTES)).decode("ascii")


def code_hash(code: str) -> str:
    """Return what is stored of a pairing code."""
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()


def check_login(body: Mapping[str, Any]) -> Login:
    """Return what an app sent, in either spelling; raise for a missing member. An over-long value counts as empty."""
    login = Login(
        device_code=_member(body, "device_code", DEVICE_CODE_LENGTH),
        device_name=_member(body, "device_name", NAME_LENGTH),
        device_brand=_member(body, "device_brand", BRAND_LENGTH),
        device_model=_member(body, "device_model", MODEL_LENGTH),
        authorization_code=_member(body, "authorization_code", SECRET_LENGTH),
        username=_member(body, "username", SECRET_LENGTH),
        password=_member(body, "password", SECRET_LENGTH, trimmed=False),
    )
    for name in ("device_code", "device_name"):
        if not getattr(login, name):
            raise InvalidField(name, f"{name} is required")
    if not login.authorization_code and not (login.username and login.password):
        raise InvalidField("authorization_code", "authorization_code, or username and password, is required")
    return login


def _member(body: Mapping[str, Any], name: str, length: int, *, trimmed: bool = True) -> str:
    head, *rest = name.split("_")
    camel = head + "".join(part.capitalize() for part in rest)
    for value in (body.get(name), body.get(camel)):
        if isinstance(value, str) and (text := value.strip() if trimmed else value):
            return text if len(text) <= length else ""
    return ""


def check_actions(value: object) -> frozenset[str]:
    """Return the actions of a `hello`; raise unless it is a list of short texts."""
    if not isinstance(value, list) or len(value) > ACTIONS_MOST:
        raise InvalidField("actions", f"actions must be a list of at most {ACTIONS_MOST} texts")
    if not all(isinstance(name, str) and len(name) <= NAME_LENGTH for name in value):
        raise InvalidField("actions", "actions must hold short texts")
    return frozenset(value)


def check_text(payload: Mapping[str, Any], *, name: str, length: int) -> str:
    """Return a text member of a frame; raise unless it is there and not longer than allowed."""
    value = payload.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > length:
        raise InvalidField(name, f"{name} must be a text of 1 to {length} characters")
    return value


def storable_value(value: Any) -> Any:
    """Return a frame with every character that no database keeps (NUL, half a surrogate pair) shown as U+FFFD."""
    if isinstance(value, str):
        clean = value.replace("\x00", "\ufffd")
        return "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in clean) if not clean.isascii() else clean
    if isinstance(value, dict):
        return {storable_value(key): storable_value(member) for key, member in value.items()}
    return [storable_value(member) for member in value] if isinstance(value, list) else value


def id_field(capability: str) -> str:
    """Return the member that names a request of a capability."""
    return f"{capability}_request_id"


def all_actions() -> Iterable[str]:
    """Yield every action that a phone can know, as `capability.action`."""
    for capability, actions in CAPABILITIES.items():
        yield from (f"{capability}.{action}" for action in actions)
