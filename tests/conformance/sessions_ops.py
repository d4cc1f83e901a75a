"""The session vectors that need neither a server nor a database: what is given to the rules, what they answer.

`delete_session` and `http` need both and are not here. `delete_turn` runs the rules on a log in memory; its store keeps
all four events or none, as the database does.
"""

import copy

from apps.core.errors import SaysoError
from apps.sessions.rules import ids, log_names, log_rows
from apps.sessions.rules.family import Account, Stored, session_rows
from apps.sessions.rules.loose import end_of_turn, loose_ground, open_compaction, open_turn, spoken_in
from apps.sessions.rules.price import rough_tokens, shadowed_price
from apps.sessions.rules.recognition import removals
from apps.sessions.rules.refusals import AgentBusy, DeleteFailed, LogRefused
from apps.sessions.rules.removal import removal_events
from apps.sessions.rules.removal_plan import plan_removal, target_by_reply
from apps.sessions.rules.surface import fold_surface, speaks
from apps.sessions.rules.validator import Validator, load

HEADER = {"version": 4, "id": "s1", "createdAt": 0, "isSeeded": False, "delegationDepth": 0}


def filled(events):
    """Give the events the numbers and times that the vectors leave out."""
    return [{"seq": seq, "time": 0, **event} for seq, event in enumerate(copy.deepcopy(events))]


def load_check(given):
    try:
        load(filled(given["events"]), header=given.get("header", HEADER))
    except LogRefused as refused:
        return {"ok": False, "reason": refused.reason}
    return {"ok": True}


def surface(given):
    events = filled(given["events"])
    try:
        nodes = fold_surface(events)
    except LogRefused as refused:
        return {"ok": False, "reason": refused.reason}
    return {"ok": True, "nodes": nodes, "projected": [seq for seq in nodes if speaks(events[seq])]}


def planned(events, *, message_id, nodes=None):
    ground = loose_ground(events, nodes=nodes)
    target = target_by_reply(message_id=message_id, ground=ground)
    return plan_removal(
        target=target,
        ground=ground,
        open_turn=open_turn(events),
        open_compaction=open_compaction(events),
        end=end_of_turn(events, turn=target.turn),
        strays=spoken_in(events, turn=target.turn),
    )


def refusal(error):
    why = {"why": error.extra["why"]} if "why" in error.extra else {}
    return {"ok": False, "code": error.own_code, **why}


def plan_turn_removal(given):
    try:
        plan = planned(filled(given["events"]), message_id=given["message_id"], nodes=given.get("nodes"))
    except SaysoError as error:
        return refusal(error)
    return {
        "ok": True,
        "turn": plan.turn,
        "startSeq": plan.start_seq,
        "endSeq": plan.end_seq,
        "sourceSeqs": list(plan.source_seqs),
    }


def deleted_turns(given):
    events = filled(given["events"])
    return {"turns": [removal.turn for removal in removals(events, ground=loose_ground(events))]}


def store(events, rows, *, inject):
    """Keep all rows or none; the checks are those of every append."""
    for row in rows:
        if row["type"] == inject.get("reject"):
            raise DeleteFailed(stage=row["type"])
    state, ground = load(events, header=HEADER)
    validator = Validator(state=state, ground=ground)
    for row in rows:
        validator.accept(row)
    if "flush" in inject:
        raise DeleteFailed(persisted=False)
    return ground.nodes()


def delete_turn(given):
    events, inject = filled(given["events"]), given.get("inject", {})
    ground = loose_ground(events)
    unchanged = {"appended": [], "nodes": ground.nodes()}
    turn = None
    try:
        turn = target_by_reply(message_id=given["message_id"], ground=ground).turn
        if turn in {removal.turn for removal in removals(events, ground=ground)}:
            return {"ok": True, "turn": turn, "alreadyDeleted": True, "appended": [], "flushed": True}
        plan = planned(events, message_id=given["message_id"])
        if inject.get("lease") == "refused":
            raise AgentBusy(why="lease")
        price = shadowed_price((events[seq] for seq in plan.source_seqs), estimate=inject.get("estimate"))
        rows = removal_events(
            plan=plan, price=price, compaction_id="c-1", message_id="m-1", next_seq=len(events), time_ms=0
        )
        nodes = store(events, rows, inject=inject)
    except DeleteFailed as failed:
        return {"ok": False, "code": failed.own_code, "turn": turn, **failed.extra, **unchanged}
    except SaysoError as error:
        return {**refusal(error), **unchanged}
    summary = rows[1]["data"]
    return {
        "ok": True,
        "turn": turn,
        "alreadyDeleted": False,
        "appended": [row["type"] for row in rows],
        "seqs": [row["seq"] for row in rows],
        "shadowedSeqs": summary["shadowedSeqs"],
        "shadowedRange": summary["shadowedRange"],
        "shadowedTokenCount": summary["shadowedTokenCount"],
        "surfaceOp": rows[2]["surfaceOp"],
        "sourceEventSeqs": rows[2]["sourceEventSeqs"],
        "nodes": nodes,
    }


def list_sessions(given):
    world = given["world"]
    rows = session_rows(
        accounts=[
            Account(title=one.get("title"), path=one.get("path"), names=tuple(one["sessionIds"]))
            for one in world.get("workspaces", [])
        ],
        stored=[Stored(slug=one["slug"], name=one["dir"], header=one["header"]) for one in world["sessions"]],
        live=world.get("live", []),
        running=[name for name, what in world.get("agents", {}).items() if what != "idle"],
    )
    return {
        "rows": [
            {"sessionId": row.name, "workspaceTitle": row.title, "cwd": row.cwd, "live": row.live, "orphan": row.orphan}
            for row in rows
        ]
    }


FUNCTIONS = {
    "spellings": lambda given: ids.spellings(given["value"]),
    "segment": lambda given: ids.segment(given["value"]),
    "slug": lambda given: ids.slug(given["value"]),
    "slug_length": lambda given: len(ids.slug(given["value"])),
    "encode_ranges": lambda given: log_rows.encode_ranges(given["value"]),
    "decode_ranges": lambda given: log_rows.decode_ranges(given["value"], seq=given["seq"]),
    "log_name": lambda given: log_names.log_name(version=given["version"], compressed=given["compressed"]),
    "pick_log": lambda given: log_names.pick_log(given["names"]),
    "rough_tokens": lambda given: rough_tokens(given["data"]),
}


def codec(given):
    try:
        return {"value": FUNCTIONS[given["fn"]](given)}
    except (log_rows.Undecodable, SaysoError):
        return {"error": True}


ANSWERS = {
    "load_check": load_check,
    "surface": surface,
    "plan_turn_removal": plan_turn_removal,
    "deleted_turns": deleted_turns,
    "delete_turn": delete_turn,
    "list_sessions": list_sessions,
    "codec": codec,
}
THE_ORIGINS_OWN = {"origin_turns"}
"""Where a vector also says how the origin answers; ours is another answer on purpose."""


def checked(answer):
    """Return the op that compares an answer with all that a vector expects of it."""

    def op(given, expect):
        got = answer(given)
        wanted = {name: value for name, value in expect.items() if name not in THE_ORIGINS_OWN}
        assert {name: got.get(name, "absent") for name in wanted} == wanted

    return op


OPS = {op: checked(answer) for op, answer in ANSWERS.items()}
