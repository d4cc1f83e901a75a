"""Loading every stored session from its first event, and comparing what is kept beside the log with what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from apps.accounts.queries import profile_named
from apps.core.errors import NotFound, SaysoError
from apps.sessions.models import Session, SessionMark
from apps.sessions.queries.log import all_events, header_of, surface_nodes
from apps.sessions.rules.check import BesideTheLog, Check
from apps.sessions.rules.ground import MemoryGround
from apps.sessions.rules.refusals import LogCorrupt
from apps.sessions.rules.simulation import Simulation, simulate_removals
from apps.sessions.rules.state import State
from apps.sessions.rules.validator import load

_KINDS = ("turn", "turn-end", "reply", "command", "child", "removed")


def check_stored(*, profile_name: str = "", simulate: bool = False) -> dict[str, Any]:
    """Check every stored session, or those of one profile; one session is held in memory at a time."""
    found = Session.objects.select_related("profile", "workspace").order_by("profile_id", "id")
    if profile_name:
        profile = profile_named(name=profile_name)
        if profile is None:
            raise NotFound(f"There is no profile {profile_name}.")
        found = found.filter(profile=profile)
    check = Check(removals=Simulation() if simulate else None)
    for session in found.iterator(chunk_size=100):
        check.sessions += 1
        check.events += session.next_seq
        check.faults += [_fault(session, error=error) for error in _faults(session, removals=check.removals)]
    return check.body()


def _fault(session: Session, *, error: SaysoError) -> dict[str, Any]:
    return {
        "profile": session.profile.name,
        "workspace": session.workspace.slug,
        "session": session.ref,
        "code": error.own_code,
        "sentence": error.message,
    }


def _faults(session: Session, *, removals: Simulation | None) -> Iterator[SaysoError]:
    header = header_of(session)
    if header is None:
        yield LogCorrupt("The header of this session could not be read when it was taken in.")
        return
    try:
        state, ground = load(list(all_events(session)), header=header)
    except SaysoError as error:
        yield error
        return
    for what in _differences(session, state=state, ground=ground):
        yield BesideTheLog(f"What is kept beside the log is not what the log says: {what}.")
    if removals is not None:
        count = simulate_removals(state=state, ground=ground)
        removals.add(count)
        for fault in count.faults:
            yield BesideTheLog(f"A removal that was planned would not be accepted: {fault}.", code="bad_plan")


def _differences(session: Session, *, state: State, ground: MemoryGround) -> Iterator[str]:
    if session.next_seq != state.next_seq:
        yield "the number of events"
    if session.state and json.loads(session.state) != json.loads(json.dumps(state.dump())):
        yield "the state"
    if surface_nodes(session) != ground.nodes():
        yield "the surface"
    marks = {(mark.kind, mark.key, mark.seq) for kind in _KINDS for mark in ground.marks(kind=kind)}
    if set(SessionMark.objects.filter(session=session).values_list("kind", "key", "seq")) != marks:
        yield "the marks"
