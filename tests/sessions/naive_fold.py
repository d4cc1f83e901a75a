"""A second reading of logs, written from the contract alone and imported from nothing: slow, plain, from scratch."""

import json

PRODUCERS = {("sayso", "turn-delete"), ("dsh-agent-control", "turn-delete")}
SURFACE = {"user/message", "assistant/message", "system/message", "developer/message", "tool/result"}


def nodes_of(events):
    nodes = []
    for event in events:
        if event["type"] not in SURFACE:
            continue
        if event["surfaceOp"] == "append":
            nodes.append(event["seq"])
        else:
            first = nodes.index(event["surfaceOp"]["startSeq"])
            last = nodes.index(event["surfaceOp"]["endSeq"])
            nodes = [*nodes[:first], event["seq"], *nodes[last + 1 :]]
    return nodes


def seen_by_the_model(events):
    """Return the text of everything on the surface."""
    return json.dumps([events[seq]["data"] for seq in nodes_of(events)])


def origins(events, seq):
    found, seen, waiting = set(), set(), [seq]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        event = events[current]
        if event["type"] in SURFACE:
            if event["surfaceOp"] == "append":
                found.add(current)
            waiting += event.get("sourceEventSeqs", [])
    return found


def removed_turns(events):
    """Return the turns that a person removed, in order."""
    turns = []
    for seq, event in enumerate(events):
        data = event["data"]
        if event["type"] != "compaction/summary" or (data["provider"], data["model"]) not in PRODUCERS:
            continue
        name = data["compactionId"]
        after = [one for one in events[seq:] if one["type"] == "compaction/end" and one["data"]["compactionId"] == name]
        before = [one for one in events[:seq] if one["type"] == "compaction/start"]
        begun = any(one["data"]["compactionId"] == name and one["data"]["turn"] is None for one in before)
        follower = events[seq + 1] if seq + 1 < len(events) else {"type": ""}
        replaced = follower["type"] == "user/message" and follower["surfaceOp"] != "append"
        if begun and replaced and after and "error" not in after[0]["data"]:
            turn = turn_of(events, data["shadowedSeqs"])
            if turn not in turns:
                turns.append(turn)
    return turns


def turn_of(events, shadowed):
    for seq in shadowed:
        for one in [seq, *sorted(origins(events, seq))]:
            if events[one]["type"] in {"assistant/message", "tool/result"}:
                return events[one]["data"]["turn"]
    return None


def bracket_of(events, turn):
    kinds = dict.fromkeys(("turn/start", "turn/end"))
    for event in events:
        if event["type"] in kinds and event["data"]["turn"] == turn:
            kinds[event["type"]] = event["seq"]
    return kinds["turn/start"], kinds["turn/end"]


def open_things(events):
    turn = compaction = False
    for event in events:
        kind = event["type"]
        turn = kind == "turn/start" or (turn and kind != "turn/end")
        compaction = kind == "compaction/start" or (compaction and kind not in {"compaction/end", "session/end-seed"})
    return turn, compaction


def plan(events, message_id):
    """Return (start, end, sources) of a removal, or the code and the word of its refusal."""
    nodes = nodes_of(events)
    replies = [
        one for one in events if one["type"] == "assistant/message" and one["data"]["message"]["id"] == message_id
    ]
    if not replies:
        return "TARGET_NOT_FOUND", None
    target, turn = replies[0]["seq"], replies[0]["data"]["turn"]
    start, end = bracket_of(events, turn)
    if end is None:
        return "TURN_NOT_CLOSED", None
    turn_open, compaction_open = open_things(events)
    if turn_open or compaction_open:
        return "AGENT_BUSY", "open_turn" if turn_open else "open_compaction"
    own = {
        one["seq"]
        for one in events[start:end]
        if one["type"] in SURFACE - {"system/message"} and one["surfaceOp"] == "append"
    }
    if target not in nodes:
        return "TURN_COMPACTED", "not_on_surface"
    chosen, covered = [], set()
    for seq in nodes:
        sources = origins(events, seq)
        if not sources & own:
            continue
        if sources - own:
            return "TURN_COMPACTED", "shared_node"
        if seq not in own and not (events[seq]["type"] == "tool/result" and events[seq]["data"]["turn"] == turn):
            return "TURN_COMPACTED", "replaced_node"
        chosen.append(seq)
        covered |= sources
    if covered != own:
        return "TURN_COMPACTED", "partially_covered"
    if nodes.index(chosen[-1]) - nodes.index(chosen[0]) != len(chosen) - 1:
        return "TURN_COMPACTED", "not_contiguous"
    return chosen[0], chosen[-1], chosen
