"""Who opens the socket of agent hosts."""

from __future__ import annotations

from apps.accounts.models import AccessToken
from apps.accounts.queries import caller_of_token
from apps.accounts.rules import Caller, ScopeMissing
from apps.core.errors import Unauthorized


def host_on_socket(*, secret: str, profile: str, now_ms: int) -> tuple[Caller, int | None]:
    """Return the host behind a token and when the token ends; phones and tokens without rights on sessions are none.

    Raises `Unauthorized`, `DisabledUser`, `ProfileUnavailable` and `ScopeMissing`.
    """
    found = caller_of_token(secret=secret, now_ms=now_ms, profile_name=profile)
    if found is None:
        raise Unauthorized
    caller = found[0]
    if caller.kind == "device" or not any(scope.startswith("session.") for scope in caller.scopes):
        raise ScopeMissing("This socket is for agent hosts whose token has a scope for sessions.")
    expires_at_ms = AccessToken.objects.filter(pk=caller.token_id).values_list("expires_at_ms", flat=True).first()
    return caller, expires_at_ms
