"""What removing one turn takes from the model's view, and what of the turn stays in force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from apps.accounts.models import Workspace
from apps.accounts.rules import Caller
from apps.core.contracts import Call, Preview
from apps.core.dependents import dependents_of
from apps.core.errors import Conflict
from apps.sessions.models import Session
from apps.sessions.queries.ground import StoredGround
from apps.sessions.queries.log import load_state
from apps.sessions.rules.event_types import message_of
from apps.sessions.rules.ids import id_hash, spellings
from apps.sessions.rules.plain_json import Event, members
from apps.sessions.rules.price import shadowed_price
from apps.sessions.rules.refusals import AgentBusy, TargetNotFound
from apps.sessions.rules.removal import Removed, removed_before
from apps.sessions.rules.removal_plan import Plan, Target, plan_removal, target_by_reply, target_by_turn

EXCERPT_LENGTH = 300
STAYS = {
    "todo/write": "todos",
    "plan/mode": "plans",
    "goal/change": "goals",
    "subagent/catalog": "subagents",
    "session/title": "titles",
}
"""Log-only facts that stay in force when their turn is removed; reminders are looked at one by one."""
ATTACHED = frozenset({"image", "file"})


class TurnRemoved(Conflict):
    """This turn was removed before."""

    code = "ALREADY_DELETED"

    def __init__(self, removed: Removed) -> None:
        """Say where the removal is written."""
        super().__init__(turn=removed.turn)
        self.removed = removed


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A turn in one stored copy, and what its removal takes."""

    session: Session
    target: Target
    plan: Plan
    price: int


def turn_removal(*, call: Call, lock: bool = False) -> Preview:
    """Return what removing a turn does; the digest covers the plan, so later turns do not change it.

    While it is asked (`lock` is false) everything is checked in the order of the contract; at the tick what the agent
    does meanwhile is left to `check_at_rest`, for it does not change what was shown.
    """
    session, target = _located(call, lock=lock)
    ground = StoredGround(session.pk)
    removed = removed_before(turn=target.turn, ground=ground)
    if removed is not None:
        raise TurnRemoved(removed)
    state = load_state(session)
    busy = not lock
    plan = plan_removal(
        target=target,
        ground=ground,
        open_turn=busy and state.turn is not None,
        open_compaction=busy and state.compaction is not None,
    )
    gone = [event for seq in plan.source_seqs if (event := ground.event(seq)) is not None]
    found = Found(session=session, target=target, plan=plan, price=shadowed_price(gone))
    return Preview(
        target_kind="turn",
        target_id=f"{id_hash(profile_id=call.profile_id, ref=session.ref)}:{plan.turn}",
        facts=_facts(found, gone=gone, ground=ground),
        state=[session.pk, plan.turn, plan.start_seq, plan.end_seq, list(plan.source_seqs)],
        effect="remove",
        source=found,
    )


def _located(call: Call, *, lock: bool) -> tuple[Session, Target]:
    """Return the stored copy that has the turn, under either spelling, and the turn."""
    known = spellings(call.arguments["session"])
    rows = Session.objects.filter(profile_id=call.profile_id, ref__in=known)
    held = list(rows.select_for_update().order_by("pk") if lock else rows)
    for row in sorted(held, key=lambda row: (known.index(row.ref), row.pk)):
        ground = StoredGround(row.pk)
        try:
            if call.arguments.get("message") is not None:
                return row, target_by_reply(message_id=call.arguments["message"], ground=ground)
            return row, target_by_turn(turn=call.arguments["turn"], ground=ground)
        except TargetNotFound:
            continue
    raise TargetNotFound


def check_at_rest(*, call: Call, preview: Preview) -> None:
    """Raise while a turn or a compaction is open: the maintenance lease is not to be had."""
    state = load_state(preview.source.session)
    if state.turn is not None:
        raise AgentBusy(why="open_turn")
    if state.compaction is not None:
        raise AgentBusy(why="open_compaction")


def check_log_visible(*, by: Caller, ref: str) -> None:
    """Raise, as if it were not there, for a session of which no copy lies where the caller may look."""
    places = Session.objects.filter(profile_id=by.profile_id, ref__in=spellings(ref)).values_list("workspace_id")
    closed = Workspace.objects.filter(restricted=True).exclude(members=by.user_id)
    if not Workspace.objects.filter(pk__in=places).exclude(pk__in=closed.values("pk")).exists():
        raise TargetNotFound


def _facts(found: Found, *, gone: list[Event], ground: StoredGround) -> dict[str, Any]:
    session, plan = found.session, found.plan
    start, end = (ground.mark(kind=kind, key=str(plan.turn)) or 0 for kind in ("turn", "turn-end"))
    reply = ground.event(found.target.reply) if found.target.reply is not None else None
    stays = _staying(ground.events(first=start, last=end))
    for one in dependents_of("turn"):
        if count := one.count(owner_id=f"{session.pk}:{plan.turn}"):
            stays[one.name] = count
    return {
        "session": session.ref,
        "title": session.title,
        "turn": plan.turn,
        "message": str(message_of(reply).get("id", "")) if reply else "",
        "question": _excerpt(event for event in gone if event["type"] == "user/message"),
        "reply": _excerpt([reply] if reply else ()),
        "goes": len(gone),
        "tokens": found.price,
        "stays": stays,
    }


def _staying(events: Iterable[Event]) -> dict[str, int]:
    """Count what a turn leaves in force, and what was attached to it."""
    counts: dict[str, int] = {}
    reminders: set[Any] = set()
    for event in events:
        data = members(event["data"])
        if event["type"] == "schedule/change":
            _follow(reminders, data)
        elif name := STAYS.get(event["type"]):
            counts[name] = counts.get(name, 0) + 1
        for block in _blocks(event):
            if block.get("type") in ATTACHED:
                counts["attachments"] = counts.get("attachments", 0) + 1
    return counts | ({"reminders": len(reminders)} if reminders else {})


def _follow(reminders: set[Any], data: dict[str, Any]) -> None:
    operation = data.get("operation")
    if operation == "create":
        reminders.add(str(members(data.get("schedule")).get("id")))
    elif operation == "delete":
        reminders.discard(str(data.get("id")))


def _blocks(event: Event) -> Iterator[dict[str, Any]]:
    content = message_of(event).get("content") if event["type"].endswith(("/message", "/result")) else None
    yield from (members(block) for block in content) if isinstance(content, list) else ()


def _excerpt(events: Iterable[Event]) -> str:
    """Return the beginning of what messages say."""
    texts = (block.get("text") for event in events for block in _blocks(event) if block.get("type") == "text")
    whole = "\n".join(text for text in texts if isinstance(text, str)).strip()
    whole = whole.replace("\0", "").encode("utf-8", "ignore").decode()
    return whole if len(whole) <= EXCERPT_LENGTH else f"{whole[: EXCERPT_LENGTH - 1]}…"
