"""The one base error and the kinds that every room shares."""

from __future__ import annotations

from typing import Any, ClassVar


class SaysoError(Exception):
    """Something went wrong; nothing was changed."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 400

    def __init__(self, message: str = "", *, code: str = "", status: int = 0, **extra: Any) -> None:
        """Keep the sentence; `extra` members travel in the answer beside it."""
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        self.own_code = code or type(self).code
        self.own_status = status or type(self).status
        self.extra = extra
        super().__init__(self.message)


class InvalidField(SaysoError):
    """A field has a value that cannot be used."""

    code = "invalid_field"

    def __init__(self, field: str, message: str = "") -> None:
        """Name the field in the sentence, so that the caller can mend it."""
        sentence = message or "has a value that cannot be used"
        super().__init__(sentence if field in sentence else f"{field} {sentence}", field=field)
        self.field = field


class Unauthorized(SaysoError):
    """Sign in or send a valid token."""

    code = "unauthorized"
    status = 401


class Denied(SaysoError):
    """You may not do this here."""

    code = "permission_denied"
    status = 403


class NotFound(SaysoError):
    """There is nothing here by that name."""

    code = "not_found"
    status = 404


class Conflict(SaysoError):
    """The state changed meanwhile; look again."""

    code = "conflict"
    status = 409


class TooMany(SaysoError):
    """Too many at once; try again a little later."""

    code = "too_many"
    status = 429


class ServerFault(SaysoError):
    """Something went wrong on the server, and nothing was changed."""

    code = "server_error"
    status = 500
