"""Calling a webhook: resolved once, checked, connected to that very address; no redirects, no long answers."""

from __future__ import annotations

import http.client
import socket
import ssl
from dataclasses import dataclass

from django.conf import settings

from apps.schedules.rules.hooks import NONCE, SIGNATURE, TIMESTAMP, Target, check_target, signature, target_of

PATIENCE_S = 10
ANSWER_BYTES = 4_096


@dataclass(frozen=True, kw_only=True, slots=True)
class Signed:
    """A body with what proves who sent it and when."""

    body: bytes
    timestamp: int
    nonce: str
    secret: str

    def headers(self) -> dict[str, str]:
        """Return the headers of the call."""
        proof = signature(secret=self.secret, timestamp=self.timestamp, nonce=self.nonce, body=self.body)
        return {
            "Content-Type": "application/json",
            "User-Agent": "Sayso",
            TIMESTAMP: str(self.timestamp),
            NONCE: self.nonce,
            SIGNATURE: proof,
        }


class _Pinned(http.client.HTTPConnection):
    """A connection to one address that was looked at before; the name serves for the certificate only."""

    def __init__(self, target: Target, *, address: str) -> None:
        super().__init__(target.host, target.port, timeout=PATIENCE_S)
        self.address, self.scheme = address, target.scheme

    def connect(self) -> None:
        """Connect to the address; `https` proves the name."""
        plain = socket.create_connection((self.address, self.port), timeout=PATIENCE_S)
        if self.scheme == "https":
            try:
                self.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=self.host)
            except BaseException:
                plain.close()
                raise
        else:
            self.sock = plain


def permitted_places() -> frozenset[str]:
    """Return the private places that this installation lets webhooks call, as `host:port`."""
    return frozenset(settings.SAYSO_WEBHOOK_PLACES)


def addresses_of(target: Target) -> list[str]:
    """Return every address that a name stands for at this moment."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def post(url: str, *, signed: Signed) -> int:
    """Send a signed body and return the status of the answer; raises OSError, HTTPException or ForbiddenTarget.

    All addresses of the name are checked and the first of them is used, so that a name cannot stand for another place
    between the check and the call.
    """
    target = target_of(url)
    addresses = addresses_of(target)
    check_target(target, addresses=addresses, permitted=permitted_places())
    if not addresses:
        raise OSError("the host of the webhook has no address")
    connection = _Pinned(target, address=addresses[0])
    try:
        connection.request("POST", target.path, body=signed.body, headers=signed.headers())
        response = connection.getresponse()
        response.read(ANSWER_BYTES)
        return response.status
    finally:
        connection.close()
