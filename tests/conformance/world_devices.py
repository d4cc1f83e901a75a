"""What a story's server tells of its phones: what it emitted to a phone or a session, also when nobody was there."""

from functools import wraps
from typing import Any

from apps.confirmations.models import Confirmation
from apps.core.dependents import dependents_of
from apps.devices.consumers import socket
from apps.sessions.models import Run, Session
from tests.conformance import world

KINDS: tuple[str, ...] = ()

emitted: list[dict[str, Any]] = []


def make(_: dict[str, Any]) -> None:
    """Begin with an empty list; phones are paired over the real routes."""
    emitted.clear()


def listened(call: Any, kind: str) -> Any:
    @wraps(call)
    def listening(*where: Any, **members: Any) -> None:
        frame = next(value for value in where if isinstance(value, dict))
        emitted.append({"kind": kind, "to": where[0], "profile": where[1] if kind == "device" else "", "frame": frame})
        call(*where, **members)

    return listening


def emissions() -> list[dict[str, Any]]:
    """Return what was emitted since the last look."""
    found = list(emitted)
    emitted.clear()
    return found


def dispose(*, session: str) -> None:
    """Let a session end as its deletion will: what hangs on it goes, no phone is its target any more."""
    for row in Session.objects.filter(ref=session):
        for dependent in dependents_of("session"):
            dependent.remove(owner_id=row.pk, now_ms=world.now_ms())
        Run.objects.filter(session=row).update(device="")


def profile_ids() -> dict[str, str]:
    """Return the names of profiles by their ids."""
    return dict(world.Profile.objects.values_list("pk", "name"))


def pending() -> int:
    """Return how many requests wait."""
    return Confirmation.objects.filter(state="pending").count()


socket.tell_phone = listened(socket.tell_phone, "device")
socket.tell_session = listened(socket.tell_session, "session")
world.COMMANDS.update({call.__name__: call for call in (emissions, dispose, profile_ids, pending)})
