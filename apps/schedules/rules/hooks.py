"""Webhooks: which addresses may be called, how a call is signed, and when one that failed is tried again."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from apps.core.errors import Conflict, InvalidField, NotFound, SaysoError

URL_LENGTH = 2000
MOST_TRIES = 30
"""With waits of 5 s doubling to 5 min that is about two hours."""
SECRET_PREFIX = "sayso_hook_"
TIMESTAMP, NONCE, SIGNATURE = "Sayso-Timestamp", "Sayso-Nonce", "Sayso-Signature"
PENDING, SENT, FAILED, DROPPED = "pending", "sent", "failed", "dropped"
"""Of a call: still to be made, taken by the host, given up, or needless because the host took the message in."""
CALL_STATES = (PENDING, SENT, FAILED, DROPPED)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class ForbiddenTarget(SaysoError):
    """This address may not be called: it is not on the public internet."""

    code = "forbidden_target"


class NoWebhook(NotFound):
    """This session has no webhook."""

    code = "webhook_not_found"


class WebhookOff(Conflict):
    """The webhook of this session is switched off."""

    code = "webhook_off"


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """Where a webhook goes, taken apart once and checked."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def place(self) -> str:
        """Return host and port, as the list of permitted private places spells them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def target_of(value: object) -> Target:
    """Return an address taken apart; raises InvalidField unless it is plain http(s) without a name and password."""
    if not isinstance(value, str) or len(value) > URL_LENGTH or not value.isascii() or not value.isprintable():
        raise InvalidField("url", f"url must be an address of at most {URL_LENGTH} ASCII characters")
    if " " in value or "\\" in value:
        raise InvalidField("url", "url must not hold blanks or backslashes")
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise InvalidField("url", "url must be an address such as https://agent.example.org/reminders") from None
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in ("https", "http") or not host or parts.username is not None or parts.fragment:
        raise InvalidField("url", "url must be an address such as https://agent.example.org/reminders")
    if port == 0:
        raise InvalidField("url", "url must not name port 0")
    query = f"?{parts.query}" if parts.query else ""
    return Target(
        scheme=parts.scheme,
        host=host,
        port=port or (443 if parts.scheme == "https" else 80),
        path=(parts.path or "/") + query,
    )


def check_address(address: str) -> None:
    """Refuse an address that is not on the public internet; also one that wraps such an address in another form."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        raise ForbiddenTarget from None
    for inner in _unwrapped(found):
        inside = not inner.is_global or inner.is_multicast or inner.is_reserved or inner.is_unspecified
        if inside or getattr(inner, "is_site_local", False):
            raise ForbiddenTarget


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _unwrapped(address: _Address) -> list[_Address]:
    """Return the address to judge, or what is inside one that carries another."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address.sixtofour is not None:
        return [address, address.sixtofour]
    if address.teredo is not None:
        return [address, *address.teredo]
    if address in _NAT64:
        return [ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)]
    # ::/96 once stood for IPv4 addresses.
    if int(address) >> 32 == 0:
        return [address, ipaddress.IPv4Address(int(address))]
    return [address]


def check_target(target: Target, *, addresses: list[str], permitted: frozenset[str]) -> None:
    """Refuse a target one of whose addresses may not be called; `permitted` are private places by name."""
    if target.place in permitted:
        return
    _check_scheme(target)
    for address in addresses:
        check_address(address)


def check_spelling(target: Target, *, permitted: frozenset[str]) -> None:
    """Refuse a target that is forbidden by its very text; what a name stands for is looked at with each call."""
    if target.place in permitted:
        return
    _check_scheme(target)
    try:
        ipaddress.ip_address(target.host)
    except ValueError:
        if target.host == "localhost" or target.host.endswith((".localhost", ".internal", ".local")):
            raise ForbiddenTarget from None
        return
    check_address(target.host)


def _check_scheme(target: Target) -> None:
    if target.scheme != "https":
        raise ForbiddenTarget("A webhook on the public internet needs https")


def hook_secret(*, key: bytes, webhook_id: str, salt: str) -> str:
    """Return the secret that a webhook's calls are signed with; it is derived, never stored."""
    return SECRET_PREFIX + hmac.new(key, f"webhook:{webhook_id}:{salt}".encode(), hashlib.sha256).hexdigest()


def signature(*, secret: str, timestamp: int, nonce: str, body: bytes) -> str:
    """Return `v1=` and the HMAC-SHA256 over timestamp, nonce and body, each followed by a dot but the last."""
    text = f"{timestamp}.{nonce}.".encode() + body
    return "v1=" + hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
