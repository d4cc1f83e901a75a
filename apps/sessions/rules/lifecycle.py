"""Turns, steps, tool calls, titles, commands and subagents: which event may come when.

Each check first refuses, then changes the state, so that a refused event leaves it as it was.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from apps.sessions.rules.event_types import STEP_BOUND, is_replace, message_of
from apps.sessions.rules.ground import Ground, Mark, mark_key
from apps.sessions.rules.plain_json import Event, compact, is_count, is_text, members, same_json
from apps.sessions.rules.refusals import LogRefused
from apps.sessions.rules.state import Call, State

NOT_STARTED_ERROR = {"name": "ToolNotStartedError", "code": "TOOL_NOT_STARTED"}
NOT_STARTED_TEXT = (
    "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed."
)
"""A constant of the format."""


class Case(NamedTuple):
    """One event at its turn to be checked and what the checks look at; `data` has no members if it is no object."""

    event: Event
    data: dict[str, Any]
    state: State
    ground: Ground
    orphans: frozenset[int]

    def refuse(self, reason: str) -> LogRefused:
        """Return the error that names this event."""
        return LogRefused(reason, seq=self.event["seq"])


Check: TypeAlias = Callable[[Case], tuple[Mark, ...]]


def print_of(*, name: Any, arguments: Any) -> str:
    """Return the hash by which a call is compared with its announcement."""
    return hashlib.sha256(compact([name, arguments]).encode("utf-8", "surrogatepass")).hexdigest()


def same_number(value: object, *, than: int | None) -> bool:
    """Tell whether a value is exactly this number, `true` being none."""
    return is_count(value) and value == than


def check_crossing(case: Case) -> None:
    """Refuse a turn's start or end inside a compaction that is not an orphan."""
    compaction = case.state.compaction
    if compaction is not None and compaction.seq not in case.orphans:
        raise case.refuse("compaction.crossed")


def turn_start(case: Case) -> tuple[Mark, ...]:
    """Open the next turn."""
    state, turn = case.state, case.data.get("turn")
    if state.turn is not None or not same_number(turn, than=state.next_turn):
        raise case.refuse("turn.unexpected_start")
    check_crossing(case)
    state.turn, state.next_step = state.next_turn, 1
    state.calls.clear()
    return (Mark("turn", str(turn), case.event["seq"]),)


def turn_end(case: Case) -> tuple[Mark, ...]:
    """Close the open turn."""
    state, turn = case.state, case.data.get("turn")
    if state.turn is None or not same_number(turn, than=state.turn) or state.step is not None:
        raise case.refuse("turn.bad_end")
    if state.calls:
        raise case.refuse("tool.unresolved")
    check_crossing(case)
    state.turn, state.next_turn = None, state.next_turn + 1
    return (Mark("turn-end", str(turn), case.event["seq"]),)


def step_start(case: Case) -> tuple[Mark, ...]:
    """Open the next step of the open turn."""
    state, data = case.state, case.data
    fits = same_number(data.get("turn"), than=state.turn) and same_number(data.get("step"), than=state.next_step)
    if state.turn is None or state.step is not None or not fits:
        raise case.refuse("step.unexpected_start")
    state.step = state.next_step
    return ()


def step_end(case: Case) -> tuple[Mark, ...]:
    """Close the open step."""
    check_step(case)
    if case.state.calls:
        raise case.refuse("tool.unresolved")
    case.state.step, case.state.next_step = None, case.state.next_step + 1
    return ()


def check_step(case: Case) -> None:
    """Refuse what does not lie in the open turn and step."""
    state, data = case.state, case.data
    inside = state.turn is not None and state.step is not None
    fits = same_number(data.get("turn"), than=state.turn) and same_number(data.get("step"), than=state.step)
    if not inside or not fits:
        raise case.refuse("step.not_open")


def check_turn(case: Case) -> None:
    """Refuse what lies in no open turn."""
    if case.state.turn is None:
        raise case.refuse("turn.not_open")


def in_step(case: Case) -> tuple[Mark, ...]:
    """Accept what only has to lie in its step."""
    check_step(case)
    return ()


def in_turn(case: Case) -> tuple[Mark, ...]:
    """Accept what only has to lie in a turn."""
    check_turn(case)
    return ()


def developer_message(case: Case) -> tuple[Mark, ...]:
    """Accept a developer's message; one that adds tools names the request header that it belongs to."""
    check_step(case)
    content = message_of(case.event)["content"]
    adds = any(isinstance(block, dict) and block.get("type") == "tool-addition" for block in content)
    cited = case.data.get("headerSeq")
    named = case.ground.event(cited) if is_count(cited) else None
    if adds != ("headerSeq" in case.data) or (adds and (named is None or named["type"] != "request/header")):
        raise case.refuse("message.header_seq")
    return ()


def assistant_message(case: Case) -> tuple[Mark, ...]:
    """Accept a reply and remember the calls that it announces."""
    check_step(case)
    message, seq, calls = message_of(case.event), case.event["seq"], dict[str, Call]()
    for block in message["content"]:
        if not isinstance(block, dict) or block.get("type") != "tool-call":
            continue
        call = block.get("id")
        if not isinstance(call, str) or not call:
            raise case.refuse("message.content")
        if call in case.state.calls or call in calls:
            raise case.refuse("tool.repeated")
        calls[call] = Call(advertised=seq, print=print_of(name=block.get("name"), arguments=block.get("arguments")))
    case.state.calls.update(calls)
    return (Mark("reply", mark_key(message["id"]), seq),)


def tool_call(case: Case) -> tuple[Mark, ...]:
    """Accept the start of an announced call."""
    check_step(case)
    data, call = case.data, _call_of(case, case.data.get("callId"))
    if call.started is not None or call.print != print_of(name=data.get("name"), arguments=data.get("arguments")):
        raise case.refuse("tool.mismatch")
    call.started = case.event["seq"]
    return ()


def tool_result(case: Case) -> tuple[Mark, ...]:
    """Accept a call's result, or an earlier result written anew."""
    if is_replace(case.event):
        check_turn(case)
        return ()
    check_step(case)
    message = message_of(case.event)
    call = _call_of(case, message["toolCallId"])
    if call.started is None and not _is_repair(case.event, message=message):
        raise case.refuse("tool.not_started")
    del case.state.calls[message["toolCallId"]]
    return ()


def _call_of(case: Case, call: object) -> Call:
    found = case.state.calls.get(call) if isinstance(call, str) else None
    if found is None:
        raise case.refuse("tool.unadvertised")
    return found


def _is_repair(event: Event, *, message: dict[str, Any]) -> bool:
    """Tell whether a result is the one that a repair writes for a call that never started."""
    call, name = re.escape(message["toolCallId"]), message["id"]
    if "sourceEventSeqs" in event or not same_json(event["data"].get("error"), other=NOT_STARTED_ERROR):
        return False
    if name.startswith(f"forked-tool-result-{message['toolCallId']}-"):
        return True
    fixed = same_json(message["content"], other=[{"type": "text", "text": NOT_STARTED_TEXT}])
    return fixed and re.fullmatch(rf"interrupted-tool-result-{call}-[0-9]+", name) is not None


def title(case: Case) -> tuple[Mark, ...]:
    """Accept a title: a person's cites nothing, any other the person's own messages."""
    cited = case.data.get("messageSeqs")
    by_person = members(case.data.get("source")).get("kind") == "user"
    if not isinstance(cited, list) or by_person != (not cited):
        raise case.refuse("title.sources")
    counts = [seq for seq in cited if is_count(seq)]
    if len(set(counts)) != len(cited) or not all(_is_asked(case.ground.event(seq)) for seq in counts):
        raise case.refuse("title.sources")
    return ()


def _is_asked(event: Event | None) -> bool:
    if event is None or event["type"] != "user/message":
        return False
    return members(message_of(event).get("source")).get("kind") == "user"


def command_run(case: Case) -> tuple[Mark, ...]:
    """Accept a command whose id is new."""
    command = case.data.get("commandId")
    if not isinstance(command, str) or case.ground.mark(kind="command", key=mark_key(command)) is not None:
        raise case.refuse("command.repeated")
    return (Mark("command", mark_key(command), case.event["seq"]),)


def command_done(case: Case) -> tuple[Mark, ...]:
    """Accept the end of a known command."""
    command = case.data.get("commandId")
    if not is_text(command) or case.ground.mark(kind="command", key=mark_key(str(command))) is None:
        raise case.refuse("command.unmatched")
    return ()


def catalog(case: Case) -> tuple[Mark, ...]:
    """Accept a subagent that was not listed before among the log's own events."""
    child, inherited = case.data.get("childId"), case.state.inherited
    if case.event["seq"] < inherited:
        return ()
    key = mark_key(f"{inherited}:{child}")
    if not isinstance(child, str) or case.ground.mark(kind="child", key=key) is not None:
        raise case.refuse("catalog.duplicate_child")
    return (Mark("child", key, case.event["seq"]),)


def end_seed(case: Case) -> tuple[Mark, ...]:
    """Pass a lifecycle boundary: an open compaction is dead from here on."""
    if case.data.get("inherited") is True:
        if not case.state.seeded:
            raise case.refuse("seed.unexpected_marker")
        case.state.inherited = max(case.state.inherited, case.event["seq"])
    case.state.compaction = None
    return ()


CHECKS: dict[str, Check] = {
    **dict.fromkeys(STEP_BOUND, in_step),
    "turn/start": turn_start,
    "turn/end": turn_end,
    "step/start": step_start,
    "step/end": step_end,
    "request/header": in_turn,
    "request/context": in_turn,
    "developer/message": developer_message,
    "assistant/message": assistant_message,
    "tool/call": tool_call,
    "tool/result": tool_result,
    "session/title": title,
    "session/end-seed": end_seed,
    "command/run": command_run,
    "command/done": command_done,
    "subagent/catalog": catalog,
}
