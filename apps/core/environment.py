"""What the operator set in the environment: read by the settings, refused with one sentence if it cannot be used."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

EVERYWHERE = ("0.0.0.0", "::", "[::]")  # noqa: S104 (compared with, not listened on)
"""Addresses to listen on that nobody can open."""
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
USUAL_PORTS = {"http": 80, "https": 443}


class BadSetting(SystemExit):
    """A setting has a value that cannot be used: the process ends with a sentence on stderr and exit code 1."""


def number(env: Mapping[str, str], name: str, *, default: int, least: int = 0, most: int = 2**53) -> int:
    """Return a whole number; an empty text is the default."""
    text = env.get(name, "").strip() or str(default)
    if not (text.isascii() and text.isdigit() and least <= int(text[:20]) <= most):
        raise BadSetting(f"{name} must be a whole number from {least} to {most}, not {text!r}.")
    return int(text)


def origin(env: Mapping[str, str], name: str) -> str:
    """Return the public origin as browsers write it, without a path and a usual port; empty when none is set."""
    text = env.get(name, "").strip().rstrip("/").lower()
    if not text:
        return ""
    wrong = BadSetting(f"{name} must be an address such as https://sayso.example.org, not {text!r}.")
    parts = _split(text, wrong)
    if parts.scheme not in USUAL_PORTS or not parts.hostname or f"{parts.scheme}://{parts.netloc}" != text:
        raise wrong
    if "@" in parts.netloc or any(sign.isspace() for sign in text):
        raise wrong
    usual = parts.port == USUAL_PORTS[parts.scheme]
    return text.rpartition(":")[0] if usual else text.removesuffix(":")


def database(env: Mapping[str, str], name: str) -> SplitResult | None:
    """Return the parts of the database's address; none when SQLite is to be used."""
    text = env.get(name, "").strip()
    if not text:
        return None
    # Not shown: it may hold a password.
    wrong = BadSetting(f"{name} must be an address such as postgres://user:password@host:5432/name.")
    parts = _split(text, wrong)
    if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
        raise wrong
    return parts


def log_level(env: Mapping[str, str], name: str) -> str:
    """Return the name of a level of the standard library's logging."""
    text = env.get(name, "").strip().upper() or "WARNING"
    if text not in LOG_LEVELS:
        raise BadSetting(f"{name} must be one of {', '.join(LOG_LEVELS)}, not {text!r}.")
    return text


def address(*, host: str, port: int, origin: str = "") -> str:
    """Return where a person on this machine opens the server: the public origin if there is one."""
    if origin:
        return origin
    if host in EVERYWHERE or host in {"::1", "[::1]"}:
        # The names that decisions are accepted from; nobody can open "every address".
        host = "localhost" if ":" in host else "127.0.0.1"
    return f"http://[{host.strip('[]')}]:{port}" if ":" in host else f"http://{host}:{port}"


def _split(text: str, wrong: BadSetting) -> SplitResult:
    """Split an address whose port is a number, too."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise wrong from None
    return parts
