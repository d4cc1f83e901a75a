"""Schedules in a story's world: made, changed and looked up as their session's owner would."""

from typing import Any

from apps.core.values import now_ms
from apps.schedules.actions.editing import create_schedule, update_schedule
from apps.schedules.models import Task
from apps.schedules.queries.tasks import record_of
from apps.schedules.rules.records import record_json
from apps.schedules.rules.updates import CHANGES
from tests.conformance import world as whole

KINDS = ("schedule", "schedules")
_KIND_OF = {selector: kind for kind, selector in CHANGES.items()}


def make(world: dict[str, Any]) -> None:
    """Make the schedules at this very moment, under the ids that the story gives them."""
    profiles = {session["id"]: session["profile"] for session in world.get("sessions", ())}
    for given in world.get("schedules", ()):
        request = {name: value for name, value in given.items() if name not in ("id", "session")}
        create_schedule(
            by=whole.owner_of(profiles[given["session"]]),
            session_ref=given["session"],
            request=request,
            now_ms=now_ms(),
            ref=given["id"],
        )


def change(kind: str, ref: str, members: dict[str, Any]) -> None:
    """Change the texts or the timing of a schedule."""
    task = Task.objects.select_related("session", "profile").get(ref=ref)
    request = {name: value for name, value in members.items() if name not in _KIND_OF}
    for selector, value in members.items():
        if selector in _KIND_OF:
            request["change"] = {"kind": _KIND_OF[selector], selector: value}
    request["expected"] = record_json(record_of(task))
    _, updated = update_schedule(
        by=whole.owner_of(task.profile.name),
        session_ref=task.session.ref,
        ref=ref,
        request=request,
        read_ms=now_ms,
    )
    assert updated, (ref, members)


def rows(kind: str, wanted: dict[str, Any], world: dict[str, Any]) -> dict[str, Any]:
    """Return which schedules exist."""
    there = set(Task.objects.filter(ref__in=wanted).values_list("ref", flat=True))
    return {ref: "here" if ref in there else "gone" for ref in wanted}
