"""The doors of the stories: which request each ask is, and whether the server has it."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

Step = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request before its credential is added."""

    method: str
    path: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    def bytes(self) -> bytes:
        return b"" if self.body is None else json.dumps(self.body).encode()


def mobile_calendar(step: Step) -> Call:
    return post("/api/studio/mobile-calendar/request", step, step["body"])


def session_delete(step: Step) -> Call:
    return post("/api/agent-control/session/delete", step, step["body"])


def turn_delete(step: Step) -> Call:
    return post("/api/agent-control/turn/delete", step, step["body"])


def schedules_delete(step: Step) -> Call:
    return delete(f"/api/sessions/{part(step['session'])}/schedules/{part(step['id'])}", step)


def captures_purge(step: Step) -> Call:
    return delete(f"/api/captures/sources/{part(step['id'])}", step, scope_id=step["scope"])


def pages_delete(step: Step) -> Call:
    return delete(f"/api/pages/{part(step['id'])}", step)


def calendars_import(step: Step) -> Call:
    members = {"ics": step["ics"]} | ({"replace": step["replace"]} if "replace" in step else {})
    return post(f"/api/calendars/{part(step['calendar_id'])}/import", step, members)


def tools_call(step: Step) -> Call:
    """The envelope; what the story leaves out is filled."""
    envelope = {
        "toolName": step["tool"],
        "args": step.get("args", {}),
        "workspaceId": "default",
        "sessionId": step.get("session", "s1"),
        "runId": f"run_{secrets.token_hex(8)}",
        "toolCallId": f"call_{secrets.token_hex(8)}",
        "traceId": f"trace_{secrets.token_hex(8)}",
        "idempotencyKey": step.get("idempotency_key") or f"key_{secrets.token_hex(8)}",
        "dryRun": step.get("dry_run", False),
    }
    if "expires_in_s" in step:
        envelope["expires_in_s"] = step["expires_in_s"]
    return Call(method="POST", path="/api/tools/call", body=envelope, headers=headers(step, key=False))


def mcp_call(step: Step) -> Call:
    """The same tool as an MCP call, everything flat."""
    flat = {name: step[name] for name in ("prefer", "expires_in_s") if name in step}
    flat |= {"idempotencyKey": step.get("idempotency_key") or f"key_{secrets.token_hex(8)}"}
    arguments = {**step.get("args", {}), **flat}
    if "session" in step:
        arguments["sessionId"] = step["session"]
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": step["tool"], "arguments": arguments},
    }
    wanted = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    return Call(method="POST", path="/mcp", body=body, headers=wanted)


def test_erase(step: Step) -> Call:
    """The door of `tests.factories.urls`, which no vector names."""
    return delete(f"/api/test/{step.get('contract', 'erase_workspace')}/{part(step['id'])}", step)


def post(path: str, step: Step, members: dict[str, Any]) -> Call:
    lifetime = {"expires_in_s": step["expires_in_s"]} if "expires_in_s" in step else {}
    return Call(method="POST", path=path, body={**members, **lifetime}, headers=headers(step))


def delete(path: str, step: Step, **query: Any) -> Call:
    if "expires_in_s" in step:
        query["expires_in_s"] = step["expires_in_s"]
    return Call(method="DELETE", path=f"{path}?{urlencode(query)}" if query else path, headers=headers(step))


def headers(step: Step, *, key: bool = True) -> dict[str, str]:
    found = {"content-type": "application/json"}
    if "prefer" in step:
        found["prefer"] = step["prefer"]
    if key and "idempotency_key" in step:
        found["idempotency-key"] = step["idempotency_key"]
    return found


def part(value: Any) -> str:
    return quote(str(value), safe="")


DOORS: dict[str, Callable[[Step], Call]] = {
    "mobile_calendar": mobile_calendar,
    "agent_control.session_delete": session_delete,
    "agent_control.turn_delete": turn_delete,
    "schedules.delete": schedules_delete,
    "captures.purge": captures_purge,
    "pages.delete": pages_delete,
    "calendars.import": calendars_import,
    "tools.call": tools_call,
    "mcp.call": mcp_call,
    "test.erase": test_erase,
}
EXAMPLES: dict[str, str] = {
    "mobile_calendar": "/api/studio/mobile-calendar/request",
    "agent_control.session_delete": "/api/agent-control/session/delete",
    "agent_control.turn_delete": "/api/agent-control/turn/delete",
    "schedules.delete": "/api/sessions/s1/schedules/t1",
    "captures.purge": "/api/captures/sources/c1",
    "pages.delete": "/api/pages/p1",
    "calendars.import": "/api/calendars/c1/import",
    "tools.call": "/api/tools/call",
    "mcp.call": "/mcp",
    "test.erase": "/api/test/erase_workspace/w1",
}


def exists(door: str) -> bool:
    """Tell whether the project has a route for the door."""
    from django.urls import Resolver404, resolve

    for path in (EXAMPLES[door], f"{EXAMPLES[door]}/"):
        try:
            resolve(path)
        except Resolver404:
            continue
        return True
    return False


def doors_of(steps: list[Step]) -> set[str]:
    """Return the doors that a story needs."""
    found = {step["door"] for step in steps if step["do"] == "ask"}
    for step in steps:
        if step["do"] == "parallel":
            found |= doors_of(step["steps"])
    return found
