"""Phones: paired through the real routes, connected to `/ws/device/`, answering what they are asked."""

import json
from typing import Any
from urllib.parse import quote

from tests.conformance.gate.browser import Person, Socket
from tests.conformance.gate.wire import fetch

ACTIONS = [
    *(f"calendar.{verb}" for verb in ("list", "create", "update", "delete")),
    *(f"reminder.{verb}" for verb in ("list", "create", "update", "complete", "delete")),
]
ENDS = {"success": "executed", "denied": "denied", "error": "failed"}


class Phone(Socket):
    """A paired phone."""

    def __init__(self, *, name: str, device_code: str, profile: str) -> None:
        super().__init__()
        self.name, self.device_code, self.profile = name, device_code, profile
        self.secret = ""
        self.requests: dict[str, dict[str, Any]] = {}

    def heard(self, frame: dict[str, Any]) -> None:
        event = str(frame.get("event", ""))
        if event.endswith(".requested"):
            kind = event.partition(".")[0]
            self.requests[frame[f"{kind}_request_id"]] = frame

    async def pair(self, origin: str, owner: Person) -> None:
        """Fetch a code as the person and sign in with it as the app."""
        json_type = {"content-type": "application/json"}
        headers = owner.headers(origin) | json_type | {"x-hermes-profile": self.profile}
        shown = await fetch(origin, "POST", "/api/app-connections/authorization-codes/lan", headers=headers, body=b"{}")
        assert shown.status in (200, 201), shown.text
        body = {
            "authorization_code": shown.json["authorization_code"],
            "device_code": self.device_code,
            "device_name": self.name,
            "profile": self.profile,
        }
        answer = await fetch(origin, "POST", "/api/auth/app-login", headers=json_type, body=json.dumps(body).encode())
        assert answer.status in (200, 201), answer.text
        self.secret = answer.json["token"]

    async def connect(self, origin: str) -> bool:
        """Open the socket (again)."""
        self.closed = False
        credential = {"authorization": f"Bearer {self.secret}"}
        if not await self.open(origin, f"/ws/device/?profile={quote(self.profile)}", headers=credential, page=None):
            return False
        return await self.say({"event": "hello", "actions": ACTIONS})

    def response(self, request_id: str, *, session: str, approve: bool) -> dict[str, Any]:
        """Return the frame that answers a request; one that was never shown is answered all the same."""
        request = self.requests.get(request_id, {})
        kind = request.get("capability", "calendar")
        frame: dict[str, Any] = {
            "event": f"{kind}.respond",
            "session_id": request.get("session_id", session),
            f"{kind}_request_id": request_id,
            "status": "success" if approve else "denied",
        }
        if approve:
            frame["result"] = {"item": {"id": request.get("item", {}).get("id", ""), "deleted": True}}
        return frame

    def result(self, request_id: str, start: int) -> str:
        """Say how the answer to a request went, from the frames that came after it."""
        for frame in self.frames[start:]:
            if str(frame.get("event", "")).endswith(".resolved") and request_id in frame.values():
                return ENDS.get(frame.get("status", ""), "refused") if frame.get("resolved") is True else "refused"
        return "refused"
