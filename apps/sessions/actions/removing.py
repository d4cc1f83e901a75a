"""Removing one turn from the model's view: reached through the gate only."""

from __future__ import annotations

import logging
import uuid
from typing import Any

from django.db import DatabaseError

from apps.core.announce import announce
from apps.core.contracts import Call, Preview
from apps.core.errors import SaysoError
from apps.core.failpoints import reach
from apps.core.values import new_id
from apps.sessions.actions.writer import Append, write_appends
from apps.sessions.models import Session
from apps.sessions.queries.ground import StoredGround
from apps.sessions.queries.removals import Found
from apps.sessions.rules.plain_json import Event, same_json
from apps.sessions.rules.refusals import DeleteFailed, LogRefused
from apps.sessions.rules.removal import removal_events

log = logging.getLogger("sayso.sessions")


def remove_turn(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Write the four events of a removal, all or none, and make sure that they are stored."""
    found: Found = preview.source
    events = removal_events(
        plan=found.plan,
        price=found.price,
        compaction_id=str(uuid.uuid4()),
        message_id=f"removal-{new_id()}",
        next_seq=found.session.next_seq,
        time_ms=call.now_ms,
    )
    _append(events, session=found.session, turn=found.plan.turn, call=call)
    _check_stored(events, session=found.session, turn=found.plan.turn)
    reach("remove_turn.appended")
    announce("turns.changed", profile=call.profile_id, session=found.session.pk, turn=found.plan.turn)
    return {
        "sessionId": call.arguments["session"],
        "turn": found.plan.turn,
        "alreadyDeleted": False,
        "compactionId": events[0]["data"]["compactionId"],
        "replacementSeq": events[2]["seq"],
        "shadowedTokenCount": found.price,
    }


def _append(events: list[Event], *, session: Session, turn: int, call: Call) -> None:
    first = events[0]["seq"]
    wanted = Append(by=call.by, session_id=session.pk, expected_seq=first, events=events, now_ms=call.now_ms)
    try:
        [answer] = write_appends([wanted])
    except DatabaseError as error:
        raise DeleteFailed(_words(error), persisted=False, turn=turn) from error
    if isinstance(answer, LogRefused) and answer.seq is not None:
        raise DeleteFailed(_words(answer.message), turn=turn, stage=events[answer.seq - first]["type"]) from answer
    if isinstance(answer, SaysoError):
        raise DeleteFailed(_words(answer.message), turn=turn, stage="store") from answer


def _check_stored(events: list[Event], *, session: Session, turn: int) -> None:
    """Raise unless the store gives back what it took: success is told of nothing less."""
    ground = StoredGround(session.pk)
    kept = list(ground.events(first=events[0]["seq"], last=events[-1]["seq"]))
    same = len(kept) == len(events) and all(
        same_json(one, other=other) for one, other in zip(kept, events, strict=True)
    )
    if not same or ground.mark(kind="removed", key=str(turn)) is None:
        log.error("a removal was written but is not stored")
        raise DeleteFailed(_words("the store did not keep what it took"), persisted=False, turn=turn)


def _same(one: Event, other: Event) -> bool:
    return same_json(one, other=other)


def _words(why: object) -> str:
    return f"The turn could not be removed; nothing was changed. ({why})"
