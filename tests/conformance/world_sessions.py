"""What a story's server does for sessions beyond its routes: messages of schedules, wishes of the gate."""

import asyncio
from typing import Any

from django.db import connection, transaction

from apps.accounts.models import User, Workspace
from apps.core.announce import serving_loop
from apps.core.sockets import keep
from apps.sessions.actions.hosts import ask_cancel, stop_agent
from apps.sessions.actions.inbox import put_message
from apps.sessions.models import Session
from tests.conformance import world, world_session_stories, world_session_vectors

KINDS = world_session_stories.KINDS
create, change, rows = world_session_stories.create, world_session_stories.change, world_session_stories.rows

stops: dict[str, str] = {}


def make(_: dict[str, Any]) -> None:
    """Begin with nobody asked to stop; sessions are made with the world."""
    stops.clear()


def put(*, session: str, payload: dict[str, Any], count: int = 1) -> list[str]:
    """Put messages into an inbox in one transaction, as a dispatcher does."""
    with transaction.atomic():
        row = Session.objects.get(ref=session)
        return [
            put_message(session=row, source="schedule", payload=payload, now_ms=world.now_ms()).pk for _ in range(count)
        ]


def cancel(*, session: str) -> None:
    """Ask the session's host to stop."""
    ask_cancel(session_id=Session.objects.get(ref=session).pk)


def stop(*, session: str) -> None:
    """Stop the session's agent as a claimed deletion does: in a thread beside the lane, which waits."""
    session_id = Session.objects.get(ref=session).pk

    def wait() -> None:
        try:
            stops[session] = stop_agent(session_id=session_id)
        finally:
            connection.close()

    def begin() -> None:
        keep(asyncio.ensure_future(asyncio.to_thread(wait)))

    loop = serving_loop()
    assert loop is not None
    loop.call_soon_threadsafe(begin)


def stopped(*, session: str) -> str | None:
    """Return how stopping ended, None while it is waited for."""
    return stops.get(session)


def restrict(*, members: list[str]) -> None:
    """Let only these people see the sessions that there are."""
    for workspace in Workspace.objects.all():
        workspace.restricted = True
        workspace.save()
        workspace.members.set(User.objects.filter(username__in=members))


world.COMMANDS.update({call.__name__: call for call in (put, cancel, stop, stopped, restrict)})
world.COMMANDS.update(world_session_vectors.COMMANDS)
