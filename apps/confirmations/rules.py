"""The gate's rules: states, the one transition table, what a decision must carry, and the errors."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from typing import Any, Literal

from apps.core.errors import Conflict, Denied, InvalidField, NotFound, SaysoError, TooMany

State = Literal["pending", "executing", "executed", "denied", "expired", "withdrawn", "changed", "failed", "uncertain"]
STATES: tuple[State, ...] = (
    "pending",
    "executing",
    "executed",
    "denied",
    "expired",
    "withdrawn",
    "changed",
    "failed",
    "uncertain",
)
TRANSITIONS: dict[State, tuple[State, ...]] = {
    "pending": ("executing", "executed", "denied", "expired", "withdrawn", "changed", "failed", "uncertain"),
    "executing": ("executed", "failed", "uncertain"),
}
OPEN_STATES: tuple[State, ...] = ("pending", "executing")

EXPIRES_MIN_S = 3
EXPIRES_MAX_S = 604_800
EXPIRES_WAITING_S = 300
EXPIRES_ASYNC_S = 86_400
WAIT_MAX_S = 300
LABEL_LENGTH = 120
PURPOSE_LENGTH = 240
REASON_LENGTH = 500


class ConfirmationNotFound(NotFound):
    """There is no such confirmation."""


class NotADecider(Denied):
    """Only an owner or decider of the profile, signed in in a browser, may decide."""

    code = "not_a_decider"


class NotAcknowledged(SaysoError):
    """Tick the box first: a decision to go ahead needs it."""

    code = "not_acknowledged"


class DigestMismatch(Conflict):
    """This decision was made about something else than what the card shows now."""

    code = "digest_mismatch"


class NonceUsed(Conflict):
    """This decision was sent before; look at the card again."""

    code = "nonce_used"


class AlreadyEnded(Conflict):
    """This was decided already."""

    code = "already_ended"


class TooManyPending(TooMany):
    """Too many requests of yours wait for a person; let some of them end first."""

    code = "too_many_pending"


class DeniedRecently(Denied):
    """A person said no to this a moment ago; it is not asked again for now."""

    code = "denied_recently"


class ChangedMeanwhile(Conflict):
    """What was shown changed while the agent was being stopped. Nothing was deleted; look again and ask again."""

    code = "changed"


class InvalidTransition(Conflict):
    """A confirmation cannot go from its state to that one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """How long a caller holds the line, and when the request itself ends."""

    hold_ms: int
    expires_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Where a confirmation stands, for its requester."""

    confirmation_id: str
    state: State
    code: str = ""
    """The contract's or the gate's code of a failure."""
    message: str = ""
    reason: str = ""
    """A person's own words."""
    parts: dict[str, Any] = field(default_factory=dict)
    receipt_id: str = ""
    deadline_ms: int = 0
    device: str = ""
    """The reference of the phone that was asked, if one was."""
    joined: bool = False

    @property
    def pending(self) -> bool:
        """Tell whether the person has not decided, or the effect is under way."""
        return self.state in OPEN_STATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Decider:
    """A person at a page: who, by which sign-in, over which connection (None: a plain POST)."""

    user_id: int
    label: str
    session: str
    connection: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What the page sent; every member as it came."""

    decision: Any
    acknowledged: Any
    digest: Any
    nonce: Any
    reason: Any = None


def check_transition(old: State, *, to: State) -> None:
    """Raise unless the table allows the step; ended states never change."""
    if to not in TRANSITIONS.get(old, ()):
        raise InvalidTransition(f"A confirmation cannot go from {old} to {to}.")


def wait_of(*, prefer: str, default_hold_s: int, expires_in_s: Any) -> Wait:
    """Return how long to hold and to live, from a `Prefer` header (RFC 7240) and a stated lifetime in seconds."""
    hold_s, asynchronous = default_hold_s, False
    for part in prefer.lower().split(","):
        name, _, value = part.split(";")[0].strip().partition("=")
        value = value.strip().strip('"')
        if name.strip() == "respond-async":
            hold_s, asynchronous = 0, True
        elif name.strip() == "wait" and value.isdecimal() and value.isascii() and not asynchronous:
            hold_s = min(int(value[:9]), WAIT_MAX_S)
    lifetime_s = EXPIRES_WAITING_S if hold_s > 0 else EXPIRES_ASYNC_S
    if expires_in_s is not None:
        lifetime_s = check_expires(expires_in_s)
    return Wait(hold_ms=hold_s * 1000, expires_ms=lifetime_s * 1000)


def check_expires(value: Any) -> int:
    """Return a lifetime in whole seconds, 3 to 604,800; digits as text are accepted as from a query."""
    if isinstance(value, str) and value.strip().isdecimal() and value.isascii():
        value = int(value.strip()[:12])
    if isinstance(value, bool) or not isinstance(value, int) or not EXPIRES_MIN_S <= value <= EXPIRES_MAX_S:
        raise InvalidField(
            "expires_in_s", f"expires_in_s must be a whole number from {EXPIRES_MIN_S} to {EXPIRES_MAX_S}"
        )
    return value


def check_wait_s(value: str | None) -> int:
    """Return the `wait` query parameter of a poll in seconds, 0 when absent, at most 300."""
    if value is None or value == "":
        return 0
    if not (value.isascii() and value.isdecimal()):
        raise InvalidField("wait", f"wait must be a whole number from 0 to {WAIT_MAX_S}")
    number = int(value[:9])
    if number > WAIT_MAX_S:
        raise InvalidField("wait", f"wait must be a whole number from 0 to {WAIT_MAX_S}")
    return number


def check_before(value: str) -> tuple[int, int] | None:
    """Return where a list of ended cards goes on, from `MS` or `MS.NUMBER`; None for anything else."""
    at_ms, _, number = value.partition(".")
    if not all(part.isascii() and part.isdecimal() and len(part) <= 18 for part in (at_ms, number or "0")):
        return None
    return int(at_ms), int(number or 0)


def new_nonce(*, key: bytes, card: str, user_id: int, session: str, connection: str) -> str:
    """Return a nonce that is good once, for this card, person, sign-in and connection."""
    salt = secrets.token_hex(8)
    return f"{connection}.{salt}.{_nonce_mac(key, card, user_id, session, connection, salt)}"


def nonce_fits(nonce: str, *, key: bytes, card: str, user_id: int, session: str, connection: str | None) -> bool:
    """Tell whether a nonce was made for this card, person and sign-in, and for this connection if one is named."""
    parts = nonce.split(".")
    if len(parts) != 3 or not nonce.isascii() or (connection is not None and parts[0] != connection):
        return False
    return hmac.compare_digest(_nonce_mac(key, card, user_id, session, parts[0], parts[1]), parts[2])


def _nonce_mac(key: bytes, *parts: object) -> str:
    text = "|".join(str(part) for part in parts)
    return hmac.digest(key, text.encode(), "sha256").hex()[:32]
