"""What hosts are told without asking: new inbox messages, foreign appends, requests to stop, ends of their requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from apps.accounts.rules import Caller
from apps.core.sockets import keep, sockets_of
from apps.sessions.consumers.socket import KIND, AgentConsumer

_INBOX = "inbox:"


def hear(message: dict[str, Any]) -> None:
    """Tell the sockets that an announcement concerns; runs on the serving loop."""
    tell = _TELLERS.get(message["event"])
    if tell is not None:
        tell(message)
    else:
        for key in message["keys"]:
            if key.startswith(_INBOX):
                _look(key.removeprefix(_INBOX))


def followers(session: str) -> Iterator[AgentConsumer]:
    """Give the open sockets that follow a session."""
    return (socket for socket in sockets_of(KIND) if session in socket.rooms)


def _look(session: str) -> None:
    for socket in followers(session):
        keep(asyncio.ensure_future(socket.show_inbox(session)))


def _log_appended(message: dict[str, Any]) -> None:
    for socket in followers(message["session"]):
        socket.tell_appended(message)


def _cancel_asked(message: dict[str, Any]) -> None:
    session, starters = message["session"], message["starters"]
    for socket in sockets_of(KIND):
        concerned = socket.caller is not None and socket.caller.ref in starters
        if session in socket.rooms or concerned:
            socket.push({"event": "agent.cancel", "session_id": message["ref"], "cause": message["cause"]})


def _close_asked(message: dict[str, Any]) -> None:
    for socket in followers(message["session"]):
        room = socket.rooms[message["session"]]
        if room.lease_id:
            socket.push({"event": "session.close", "session_id": room.ref})


def _lease_ended(message: dict[str, Any]) -> None:
    for socket in followers(message["session"]):
        room = socket.rooms[message["session"]]
        if room.lease_id == message["lease"] and room.lease_id not in socket.letting_go:
            room.lease_id = ""
            socket.push({"event": "lease.ended", "session_id": room.ref, "lease_id": message["lease"]})


def _session_gone(message: dict[str, Any]) -> None:
    for socket in followers(message["session"]):
        room = socket.rooms.pop(message["session"])
        socket.push({"event": "session.gone", "session_id": room.ref})


def _confirmation_ended(message: dict[str, Any]) -> None:
    facts = {"confirmation_id": message["confirmation"], "state": message["state"], "receipt_id": message["receipt"]}
    for socket in sockets_of(KIND):
        caller = socket.caller
        here = caller is not None and caller.profile_id == message["profile"]
        if here and f"requester:{caller.ref}" in message["keys"]:
            socket.push({"event": "confirmation.ended", **facts})


def _token_revoked(message: dict[str, Any]) -> None:
    _recheck(lambda caller: caller.token_id == message["token"])


def _person_changed(message: dict[str, Any]) -> None:
    _recheck(lambda caller: caller.user_id == message["user"])


def _recheck(concerned: Callable[[Caller], bool]) -> None:
    """Let the sockets of the callers concerned look whether they are still good."""
    for socket in sockets_of(KIND):
        if socket.caller is not None and concerned(socket.caller):
            keep(asyncio.ensure_future(socket.check_right()))


_TELLERS: dict[str, Callable[[dict[str, Any]], None]] = {
    "log.appended": _log_appended,
    "agent.cancel_asked": _cancel_asked,
    "session.close_asked": _close_asked,
    "session.released": _lease_ended,
    "session.deleted": _session_gone,
    "confirmation.ended": _confirmation_ended,
    "token.revoked": _token_revoked,
    "session.ended": _person_changed,
    "member.removed": _person_changed,
    "member.changed": _person_changed,
}
