"""Runs the steps of a `capture` vector against any server that an httpx transport reaches."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import quote

import httpx

from apps.core.errors import SaysoError
from clients.python.sayso_client import CaptureClient, Checkpoints
from tests.conformance.captures_ops import expanded, wanted

PATH = "/api/captures/sources"
OUTCOMES = {201: "created", 200: "replayed", 409: "conflict", 422: "invalid", 404: "not_found"}


class Forced(httpx.BaseTransport):
    """Passes requests on and keeps them; a forced status answers in the server's place."""

    def __init__(self, inner):
        self.inner = inner
        self.requests = []
        self.status = None

    def handle_request(self, request):
        self.requests.append(json.loads(request.content))
        if self.status is not None:
            return httpx.Response(self.status, json={"error": {"code": "forced"}}, request=request)
        return self.inner.handle_request(request)


class Steps:
    """One run on an empty server: `transport` reaches it, `restart` ends and starts it and gives the transport anew."""

    def __init__(self, *, transport, restart, base_url="http://sayso.test", headers=None):
        self.restart_server = restart
        self.base_url, self.headers = base_url, headers or {}
        self.open = ExitStack()
        self.connect(transport)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open.close()

    def connect(self, transport):
        self.open.close()
        self.forced = Forced(transport)
        self.http = self.client(transport)
        self.captures = CaptureClient(http=self.client(self.forced))
        self.checkpoints = {}

    def client(self, transport):
        made = httpx.Client(transport=transport, base_url=self.base_url, headers=self.headers)
        return self.open.enter_context(made)

    def run(self, given, expect):
        """Take the steps in order; each must answer what is expected of it."""
        steps = expanded(given["steps"])
        assert len(steps) == len(expect["steps"])
        for step, expected in zip(steps, expanded(expect["steps"]), strict=True):
            found = getattr(self, step["do"])(step)
            facts = wanted(expected)
            assert {key: found.get(key) for key in facts} == facts, (step["do"], found)

    def capture(self, step):
        body = {"scope_id": step["scope"], "source_id": step["source_id"], "content": step["content"]}
        if "metadata" in step:
            body["metadata"] = step["metadata"]
        answer = self.http.post(PATH, json=body)
        return {**self.facts(answer), "outcome": OUTCOMES.get(answer.status_code), "http": answer.status_code}

    def facts(self, answer):
        body = answer.json()
        coverage = body.get("coverage") or {}
        code = (body.get("error") or {}).get("code")
        return {"position": body.get("position"), "coverage": coverage.get("status"), "code": code}

    def get(self, step):
        answer = self.http.get(f"{PATH}/{quote(step['source_id'], safe='')}", params={"scope_id": step["scope"]})
        outcome = "found" if answer.status_code == 200 else "not_found"
        found = {**self.facts(answer), "outcome": outcome, "http": answer.status_code}
        return {**found, **{name: answer.json().get(name) for name in ("content", "metadata")}}

    def list(self, step):
        names = {"scope": "scope_id", "after": "after", "limit": "limit"}
        params = {names[key]: value for key, value in step.items() if key in names and value is not None}
        answer = self.http.get(PATH, params=params)
        sources = answer.json().get("sources", [])
        return {
            "http": answer.status_code,
            "outcome": "listed" if answer.status_code == 200 else OUTCOMES.get(answer.status_code),
            "positions": [one["position"] for one in sources],
            "source_ids": [one["source"]["source_id"] for one in sources],
            "count": len(sources),
        }

    def restart(self, step):
        self.connect(self.restart_server())
        return {}

    def restart_client(self, step):
        self.checkpoints = {}
        return {}

    def at_once(self, steps):
        with ThreadPoolExecutor(len(steps)) as pool:
            answers = list(pool.map(self.capture, steps))
        positions = sorted({answer["position"] for answer in answers if answer["position"] is not None})
        return {**Counter(answer["outcome"] for answer in answers), "positions": positions}

    def capture_parallel(self, step):
        return self.at_once([step] * step["times"])

    def capture_parallel_distinct(self, step):
        ids = range(step["times"])
        return self.at_once([{"content": "x", "metadata": {}, **step, "source_id": f"s:{number}"} for number in ids])

    def capture_parallel_payloads(self, step):
        return self.at_once([{"metadata": {}, **step, "content": content} for content in step["contents"]])

    def hermes_send(self, step):
        return self.sent(step, self.captures.send_hermes)

    def gateway_send(self, step):
        return self.sent(step, self.captures.send_gateway)

    def sent(self, step, send):
        self.forced.requests.clear()
        self.forced.status = step.get("server_status")
        delivery = send(
            scope_id=step["scope"],
            source_id=step["source_id"],
            content=step["content"],
            metadata=step.get("metadata") or {},
        )
        assert delivery.attempts == len(self.forced.requests)
        second = self.forced.requests[1]["metadata"] if delivery.attempts > 1 else None
        return {**vars(delivery), "second_metadata": second}

    def precompress(self, step):
        self.forced.requests.clear()
        self.forced.status = step.get("server_status")
        checkpoints = self.checkpoints_of(step)
        found = {"raised": False, "error": None, "snapshot_advanced": False}
        try:
            result = checkpoints.run(session_id=step["session_id"], messages=step["messages"])
        except SaysoError as error:
            found |= {"raised": True, "error": error.own_code}
        else:
            found |= {**vars(result), **(vars(result.delivery) if result.delivery else {})}
        attempts = len(self.forced.requests)
        return {**found, "attempts": attempts, "sent": attempts > 0}

    def checkpoints_of(self, step):
        """Find the state of the stream; the mode and the fate of the extraction are the step's."""

        def extract(delivery):
            if step.get("extraction") == "fails":
                raise RuntimeError("the extraction fails")

        key = (step["scope"], step["stream"])
        known = self.checkpoints.get(key)
        made = Checkpoints(
            captures=self.captures, scope=lambda: key[0], stream=key[1], mode=step["mode"], extract=extract
        )
        if known is not None:
            made.snapshot = known.snapshot
        self.checkpoints[key] = made
        return made
