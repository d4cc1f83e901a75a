"""A server of captures in memory, behind an httpx transport: the rules alone, without Django or a database."""

import json
import threading
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote

import httpx

from apps.captures.rules import (
    SOURCE_TYPE,
    Held,
    check_listing,
    check_request,
    interpret,
    outcome_of,
    payload_of,
)
from apps.core.errors import SaysoError

PREFIX = "/api/captures/sources"


@dataclass
class MemoryServer:
    """Keeps what it took; each scope has a journal of its own."""

    held: dict = field(default_factory=dict)
    heads: dict = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def transport(self):
        return httpx.MockTransport(self.answer)

    def answer(self, request):
        try:
            return self._answer(request)
        except SaysoError as error:
            return httpx.Response(error.own_status, json={"error": {"code": error.own_code, "message": error.message}})

    def _answer(self, request):
        path = unquote(request.url.path)
        query = {name: values[0] for name, values in parse_qs(request.url.query.decode()).items()}
        if request.method == "POST" and path in {PREFIX, "/v1/sources/content"}:
            return self.capture(json.loads(request.content))
        if request.method == "GET" and path == PREFIX:
            return self.list(query)
        if request.method == "GET" and path.startswith(f"{PREFIX}/"):
            return self.get(query["scope_id"], path.removeprefix(f"{PREFIX}/"))
        return httpx.Response(404, json={"error": {"code": "not_found"}})

    def capture(self, body):
        request = check_request(body)
        payload = payload_of(request)
        key = (request.scope_id, request.source_id)
        with self.lock:
            head = self.heads.get(request.scope_id, 0)
            outcome = outcome_of(payload, held=self.held.get(key), head=head)
            if outcome.name == "created":
                self.heads[request.scope_id] = outcome.position
                self.held[key] = Held(position=outcome.position, payload_sha256=payload.sha256, payload=payload.data)
        answer = {"outcome": outcome.name, "source": {"source_type": SOURCE_TYPE, "source_id": request.source_id}}
        status = 201 if outcome.name == "created" else 200
        coverage = vars(interpret(request.metadata))
        return httpx.Response(status, json={**answer, "position": outcome.position, "coverage": coverage})

    def get(self, scope_id, source_id):
        held = self.held.get((scope_id, source_id))
        if held is None or held.purged:
            return httpx.Response(404, json={"error": {"code": "not_found"}})
        return httpx.Response(200, json=self._shown(held))

    def list(self, query):
        after, limit = int(query.get("after", 0)), int(query["limit"]) if "limit" in query else None
        check_listing(after=after, limit=limit)
        found = [held for (scope_id, _), held in self.held.items() if scope_id == query["scope_id"]]
        found = sorted((held for held in found if held.position > after), key=lambda held: held.position)
        return httpx.Response(200, json={"sources": [self._shown(held) for held in found[:limit]]})

    def _shown(self, held):
        payload = json.loads(held.payload)
        return {
            "source": {"source_type": payload["source_type"], "source_id": payload["source_id"]},
            "position": held.position,
            "content": payload["content"],
            "metadata": payload["metadata"],
            "coverage": vars(interpret(payload["metadata"])),
        }
