"""Events to build logs from; `numbered` gives them their numbers."""

import json

from apps.sessions.rules.log_rows import encode_row
from apps.sessions.rules.validator import load

HEADER = {"version": 4, "id": "session-1", "createdAt": 0, "isSeeded": False, "delegationDepth": 0}


def numbered(rows, *, first=0, time_ms=0):
    return [{"seq": first + offset, "time": time_ms, **row} for offset, row in enumerate(rows)]


def text(words):
    return {"type": "text", "text": words}


def replace(start, end):
    return {"op": "replace", "startSeq": start, "endSeq": end}


def user(name, words, *, source=None, **more):
    message = {"id": name, "role": "user", "content": [text(words)], "source": source or {"kind": "user"}}
    return {"type": "user/message", "data": message, "surfaceOp": "append", **more}


def reply(turn, step, name, *blocks):
    source = {"kind": "model", "provider": "p", "model": "m"}
    message = {"id": name, "role": "assistant", "content": list(blocks), "source": source}
    return {
        "type": "assistant/message",
        "data": {"turn": turn, "step": step, "message": message},
        "surfaceOp": "append",
    }


def system(turn, step, name, *blocks, **more):
    message = {"id": name, "role": "system", "content": list(blocks), "source": {"kind": "system-prompt"}}
    data = {"turn": turn, "step": step, "message": message}
    return {"type": "system/message", "data": data, "surfaceOp": "append", **more}


def developer(turn, step, name, *blocks, **more):
    message = {"id": name, "role": "developer", "content": list(blocks), "source": {"kind": "plugin:notes"}}
    return {
        "type": "developer/message",
        "data": {"turn": turn, "step": step, "message": message, **more},
        "surfaceOp": "append",
    }


def call_block(call, name="read", arguments="{}"):
    return {"type": "tool-call", "id": call, "name": name, "arguments": arguments}


def call(turn, step, call_id, name="read", arguments="{}"):
    return {
        "type": "tool/call",
        "data": {"turn": turn, "step": step, "callId": call_id, "name": name, "arguments": arguments},
    }


def result(turn, step, call_id, words, **more):
    message = {
        "id": f"r-{call_id}",
        "role": "tool",
        "toolCallId": call_id,
        "content": [text(words)],
        "source": {"kind": "tool", "callId": call_id},
    }
    data = {"turn": turn, "step": step, "message": message}
    return {"type": "tool/result", "data": data, "surfaceOp": "append", **more}


def turn_start(turn):
    return {"type": "turn/start", "data": {"turn": turn}}


def turn_end(turn, kind="completed"):
    return {"type": "turn/end", "data": {"turn": turn, "reason": {"kind": kind}}}


def step_start(turn, step):
    return {"type": "step/start", "data": {"turn": turn, "step": step}}


def step_end(turn, step):
    return {"type": "step/end", "data": {"turn": turn, "step": step}}


def a_turn(turn, *, words="ask"):
    """Give one question and its answer."""
    return [
        turn_start(turn),
        step_start(turn, 1),
        user(f"u{turn}", f"{words} {turn}"),
        reply(turn, 1, f"a{turn}", text(f"reply {turn}")),
        step_end(turn, 1),
        turn_end(turn),
    ]


def a_compaction(name, *, seq, shadowed, turn=None, producer=("acme", "sum-1")):
    """Give the four rows of a compaction that starts at `seq` and takes a run of nodes."""
    first, last = shadowed[0], shadowed[-1]
    summary = {
        "compactionId": name,
        "summary": [text("summary")],
        "shadowedRange": {"start": first, "end": last},
        "shadowedSeqs": list(shadowed),
        "shadowedTokenCount": 4,
        "provider": producer[0],
        "model": producer[1],
    }
    source = {"kind": "compact-checkpoint", "compactionId": name}
    return [
        {"type": "compaction/start", "data": {"compactionId": name, "turn": turn}},
        {"type": "compaction/summary", "data": summary},
        {
            **user(f"k-{name}", "summary", source=source),
            "surfaceOp": replace(first, last),
            "sourceEventSeqs": [seq, seq + 1, *shadowed],
        },
        {"type": "compaction/end", "data": {"compactionId": name, "turn": turn}},
    ]


def lines(events, *, header=HEADER):
    """Give a log as an uncompressed file."""
    return (json.dumps({"type": "session", **header}) + "\n" + "".join(map(encode_row, events))).encode()


def loaded(rows, *, header=HEADER):
    return load(numbered(rows), header=header)
