"""Who may do what: roles, scopes, policies and the caller."""

from __future__ import annotations

import hashlib
import re
import secrets
import zoneinfo
from dataclasses import dataclass, field
from typing import Literal

from apps.core.errors import Denied, InvalidField, NotFound, SaysoError

Role = Literal["owner", "decider", "viewer"]
ROLES: tuple[Role, ...] = ("owner", "decider", "viewer")
CallerKind = Literal["person", "agent", "person_token", "device"]

SCOPES = (
    "calendar.read",
    "calendar.write",
    "calendar.delete",
    "reminder.read",
    "reminder.write",
    "reminder.delete",
    "schedule.read",
    "schedule.write",
    "schedule.delete",
    "session.read",
    "session.append",
    "session.delete",
    "capture.read",
    "capture.write",
    "capture.purge",
    "page.read",
    "page.write",
    "page.delete",
    "artifact.write",
    "confirmation.read",
    "device",
)
POLICY_NAMES = ("list", "create", "update", "complete")
POLICY_VALUES = ("allow", "ask")
DEFAULT_POLICIES = {"list": "allow", "create": "allow", "update": "allow", "complete": "allow"}
TOKEN_PREFIX = "sayso_"
NAME_LENGTH = 80
LOGIN_FREE_TRIES = 5
LOGIN_BLOCK_MS = 60_000
LOGIN_BLOCK_MAX_MS = 15 * 60_000

_VIEWER_SCOPES = frozenset(scope for scope in SCOPES if scope.endswith(".read"))
_USERNAME = re.compile(r"[\w.@+-]{1,150}")
_PROFILE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who makes a request, and for which profile."""

    kind: CallerKind
    user_id: int
    profile_id: str
    profile_name: str
    role: Role
    token_id: str = ""
    label: str = ""
    scopes: frozenset[str] = field(default_factory=frozenset)
    session: str = ""
    """The session that a token stands for, if it was made for one."""
    device_code: str = ""
    language: str = "en"
    time_zone: str = "UTC"

    @property
    def ref(self) -> str:
        """Return how the ledger and the gate name this caller."""
        if self.kind == "person":
            return f"user:{self.user_id}"
        return f"device:{self.token_id}" if self.kind == "device" else f"token:{self.token_id}"

    @property
    def is_human(self) -> bool:
        """Tell whether a person in a browser makes the request."""
        return self.kind == "person"


class ScopeMissing(Denied):
    """This token has no right to do that."""

    code = "permission_denied"


class ProfileUnavailable(Denied):
    """The profile is not available for this user."""

    code = "profile_unavailable"


class LoginThrottled(SaysoError):
    """Too many failed tries; wait a little and try again."""

    code = "login_throttled"
    status = 429


class TokenNotFound(NotFound):
    """There is no such token."""


class MemberNotFound(NotFound):
    """There is no such member."""

    code = "member_not_found"


class LastOwner(SaysoError):
    """A profile needs at least one owner."""

    code = "last_owner"
    status = 409


def check_scope(*, by: Caller, scope: str) -> None:
    """Raise unless the caller may use what the scope names: viewers only read, tokens need the scope itself."""
    check_role(by=by, scope=scope)
    if by.kind != "person" and scope not in by.scopes:
        raise ScopeMissing(f"This token lacks the scope {scope}.")


def check_role(*, by: Caller, scope: str) -> None:
    """Raise unless the caller's role allows what the scope names: viewers only read."""
    if by.role == "viewer" and scope not in _VIEWER_SCOPES:
        raise Denied("Viewers may only read.")


def check_owner(*, by: Caller) -> None:
    """Raise unless the caller is an owner of the profile in a browser."""
    if by.kind != "person" or by.role != "owner":
        raise Denied("Only an owner may do this.")


def check_decider(*, by: Caller) -> None:
    """Raise unless the caller is a person in a browser who may decide in the profile."""
    if by.kind != "person" or by.role not in ("owner", "decider"):
        raise Denied("Only an owner or decider in a browser may decide.", code="not_a_decider")


def check_scopes(scopes: list[str]) -> list[str]:
    """Return the scopes in the house's order, each once; raise for an unknown one."""
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown:
        raise InvalidField("scopes", f"scopes holds {unknown[0]!r}, which is no scope")
    return [scope for scope in SCOPES if scope in scopes]


def check_username(name: str) -> str:
    """Return the name of a person; raise unless it is 1 to 150 letters, digits and @ . + - _."""
    if not _USERNAME.fullmatch(name):
        raise InvalidField("username", "username must be 1 to 150 letters, digits and @ . + - _")
    return name


def check_profile_name(name: str) -> str:
    """Return the name; raise unless it is 1 to 64 of a-z, 0-9, dot, dash and underscore."""
    if not _PROFILE_NAME.fullmatch(name):
        raise InvalidField("name", "name must be 1 to 64 of a-z, 0-9, dot, dash and underscore")
    return name


def check_zone(name: str) -> str:
    """Return the name of a time zone; raise for one that the machine does not know."""
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise InvalidField("time_zone", "time_zone is not a known time zone") from None
    return name


def new_secret() -> str:
    """Return a fresh token; it is shown once and stored as a hash."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def secret_hash(secret: str) -> str:
    """Return the SHA-256 of a token; 256 random bits need no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def login_block_ms(failures: int) -> int:
    """Return for how long further tries are refused after so many failures in a row."""
    if failures < LOGIN_FREE_TRIES:
        return 0
    return int(min(LOGIN_BLOCK_MS * 2 ** (failures - LOGIN_FREE_TRIES), LOGIN_BLOCK_MAX_MS))
