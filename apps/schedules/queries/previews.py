"""What the cards about schedules show, and what they rest on."""

from __future__ import annotations

from typing import Any

from apps.core.contracts import Call, Preview
from apps.core.text import storable
from apps.schedules.models import Task
from apps.schedules.queries.deliveries import hidden_count, sent_count
from apps.schedules.queries.tasks import Held, held_task, last_delivery_of, options_of, record_or_none
from apps.schedules.rules.errors import ScheduleNotFound
from apps.schedules.rules.kinds import ACTIVE, After, At
from apps.schedules.rules.options import options_json
from apps.sessions.queries import find_session


class NothingToPurge(ScheduleNotFound):
    """This schedule has no delivery records beyond the window of answers."""

    code = "nothing_to_purge"


def task_of_call(call: Call, *, lock: bool) -> Held:
    """Return the task that a call is about; raises ScheduleNotFound with the reply of the contract."""
    ref, session_ref = call.arguments.get("id"), call.arguments.get("session")
    if isinstance(ref, str) and isinstance(session_ref, str) and storable(ref) and storable(session_ref):
        session = find_session(profile_id=call.profile_id, ref=session_ref)
        if session is not None:
            try:
                return held_task(session=session, ref=ref, lock=lock)
            except ScheduleNotFound:
                pass
    raise ScheduleNotFound(id=ref, deleted=False)


def deletion(*, call: Call, lock: bool) -> Preview:
    """Preview the deletion of a schedule."""
    held = task_of_call(call, lock=lock)
    task = held.task
    return Preview(
        target_kind="schedule",
        target_id=task.ref,
        facts={**_facts(held), "deliveries": sent_count(task_id=task.pk)},
        state=_state(task, session_ref=held.session.ref),
        effect={"removes": "schedule"},
    )


def purge(*, call: Call, lock: bool) -> Preview:
    """Preview the purge of delivery records that answers do not show any more."""
    held = task_of_call(call, lock=lock)
    task = held.task
    hidden = hidden_count(task_id=task.pk)
    if not hidden:
        raise NothingToPurge(id=task.ref)
    return Preview(
        target_kind="schedule",
        target_id=task.ref,
        facts={**_facts(held), "hidden": hidden},
        state={"session": held.session.ref, "hidden": hidden},
        effect={"removes": "deliveries"},
    )


def _facts(held: Held) -> dict[str, Any]:
    task, last = held.task, last_delivery_of(held.task)
    return {
        "title": task.title,
        "prompt": task.prompt,
        "session": held.session.ref,
        "session_title": held.session.title,
        "record": record_or_none(task),
        "next_ms": task.scheduled_ms if task.status == ACTIVE else None,
        "paused": bool(task.paused),
        "last_ms": None if last is None else last.delivered_ms,
    }


def _state(task: Task, *, session_ref: str) -> dict[str, Any]:
    """Return what the digest covers: what the schedule says and when, not how often it has run meanwhile."""
    return {
        "session": session_ref,
        "kind": task.kind,
        "title": task.title,
        "prompt": task.prompt,
        "rule": task.rule,
        "at": task.scheduled_ms if task.kind in (After.kind, At.kind) else None,
        "options": options_json(options_of(task)),
    }


def session_count(*, owner_id: str, **_: Any) -> int:
    """Return how many schedules would go with a session."""
    return Task.objects.filter(session_id=owner_id).count()


def session_digest(*, owner_id: str, **_: Any) -> list[dict[str, Any]]:
    """Return what a session's deletion rests on of its schedules."""
    found = Task.objects.filter(session_id=owner_id)
    return [{"id": task.ref, "title": task.title, "kind": task.kind, "rule": task.rule} for task in found]


def active_of_session(*, owner_id: str, **_: Any) -> list[dict[str, str]]:
    """Return the active schedules of a session, as a refusal to put it away lists them."""
    found = Task.objects.filter(session_id=owner_id, status=ACTIVE).values_list("ref", "title")
    return [{"id": ref, "label": title} for ref, title in found]


def archive_refusal(*, owner_id: str, **_: Any) -> str:
    """Return why a session cannot be put away, an empty text when nothing of this room forbids it."""
    active = active_of_session(owner_id=owner_id)
    return f"Schedules are active in this session: {len(active)}. Delete them, or let them end." if active else ""


def active_count(*, owner_id: str, **_: Any) -> int:
    """Return how many active schedules a session has."""
    return Task.objects.filter(session_id=owner_id, status=ACTIVE).count()
