"""Sessions of a story: made with their turns, changed by their host, looked up as the model and people see them."""

from typing import Any

from apps.accounts.actions import ensure_workspace
from apps.core.values import now_ms
from apps.sessions.actions.appending import append_events
from apps.sessions.actions.leases import take_lease
from apps.sessions.actions.shelving import list_in_workspace
from apps.sessions.actions.storing import store_log
from apps.sessions.models import Session, SessionEvent, SurfaceNode
from apps.sessions.queries.exporting import removed_turns
from apps.sessions.queries.log import all_events, header_of
from apps.sessions.rules.log_facts import new_header
from tests.conformance import world as whole
from tests.sessions.logs import reply, system, text, turn_end, turn_start, user

KINDS = ("session", "sessions", "turns")


def create(given: dict[str, Any]) -> Session:
    """Store a session as the story describes it."""
    parent = given.get("parent") or given.get("fork_of")
    header = new_header(ref=given["id"], now_ms=now_ms(), parentSession=parent, origin=given.get("origin"))
    if given.get("origin") == "subagent":
        header["delegationDepth"] = 1
    events = turns(given.get("turns", 0), open_turn=given.get("open_turn", False)) + given.get("events", [])
    if "fork_of" in given:
        source = Session.objects.get(ref=given["fork_of"])
        header |= {"isSeeded": True, "cwd": (header_of(source) or {}).get("cwd")}
        header = {name: value for name, value in header.items() if value is not None}
        events = [*all_events(source), {"type": "session/end-seed", "data": {"inherited": True}}]
    by = whole.owner_of(given["profile"])
    session = store_log(
        by=by,
        workspace=ensure_workspace(profile_id=by.profile_id, slug="default"),
        header=header,
        events=numbered(events),
        source=given.get("source", "cli"),
        now_ms=now_ms(),
    )
    list_in_workspace(session=session, now_ms=now_ms())
    if given.get("lease"):
        take_lease(by=by, ref=session.ref, now_ms=now_ms())
    return session


def numbered(events: list[dict[str, Any]], *, first: int = 0) -> list[dict[str, Any]]:
    """Give events the numbers and times that a story leaves out."""
    return [{"seq": first + offset, "time": 0, **event} for offset, event in enumerate(events)]


def turns(count: int, *, open_turn: bool = False) -> list[dict[str, Any]]:
    """Return the events of turns, each with a question and a reply; the last may still be open."""
    events: list[dict[str, Any]] = []
    for turn in range(1, count + 1 + open_turn):
        step = {"turn": turn, "step": 1}
        events += [turn_start(turn), {"type": "step/start", "data": step}]
        if turn == 1:
            events.append(system(1, 1, "sys1", text("be helpful")))
        events += [user(f"u{turn}", f"ask {turn}"), reply(turn, 1, f"a{turn}", text(f"reply {turn}"))]
        if turn <= count:
            events += [{"type": "step/end", "data": step}, turn_end(turn)]
    return events


def change(kind: str, ref: str, members: dict[str, Any]) -> None:
    """Let a session get a subagent, be held, or go on, as its host does."""
    session = Session.objects.select_related("profile").get(ref=ref)
    by = whole.owner_of(session.profile.name)
    if "subagent" in members:
        create({"id": members["subagent"], "profile": session.profile.name, "parent": ref, "origin": "subagent"})
    if members.get("lease"):
        take_lease(by=by, ref=ref, now_ms=now_ms())
    if "append" in members:
        events = numbered(members["append"], first=session.next_seq)
        append_events(by=by, session=session, expected_seq=session.next_seq, events=events, now_ms=now_ms())


def rows(kind: str, wanted: dict[str, Any], world: dict[str, Any]) -> dict[str, Any]:
    """Return which sessions exist, or which turns the model sees and which a person removed."""
    if kind == "turns":
        return {ref: turns_of(Session.objects.get(ref=ref)) for ref in wanted}
    there = set(Session.objects.filter(ref__in=wanted).values_list("ref", flat=True))
    return {ref: "here" if ref in there else "gone" for ref in wanted}


def turns_of(session: Session) -> dict[str, list[int]]:
    """Return the turns whose own messages the model sees, and those that a person removed."""
    seqs = SurfaceNode.objects.filter(session=session).values("seq")
    seen = SessionEvent.objects.filter(session=session, seq__in=seqs, type__in=("user/message", "assistant/message"))
    shown = {event.turn for event in seen if '"append"' in event.body and event.turn is not None}
    return {"shown": sorted(shown), "removed": removed_turns(session)}
