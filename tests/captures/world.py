"""A profile with an owner and an agent, and short ways to capture, read and purge."""

import json
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from tests.factories.calendars import World

PATH = "/api/captures/sources"


@dataclass
class CaptureWorld:
    """What a test acts in."""

    made: World

    def post(self, body, path=PATH, **headers):
        return self.made.post(path, body, **headers)

    def capture(self, source_id="s:1", content="Ana prefers tea.", scope="main", status=201, **members):
        answer = self.post({"scope_id": scope, "source_id": source_id, "content": content, **members})
        assert answer.status_code == status, answer.content
        return answer.json()

    def get(self, path, **query):
        return self.made.call("GET", f"{path}?{urlencode(query)}")

    def read(self, source_id="s:1", scope="main"):
        return self.get(f"{PATH}/{quote(source_id, safe='')}", scope_id=scope)

    def listed(self, scope="main", **query):
        answer = self.get(PATH, scope_id=scope, **query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def ask_purge(self, source_id="s:1", scope="main", **headers):
        headers.setdefault("Prefer", "respond-async")
        path = f"{PATH}/{quote(source_id, safe='')}?{urlencode({'scope_id': scope})}"
        return self.made.call("DELETE", path, **headers)

    def purge(self, source_id="s:1", scope="main"):
        asked = self.ask_purge(source_id, scope)
        assert asked.status_code == 202, asked.content
        row = self.made.decide(asked.json()["confirmation_id"])
        assert row.state == "executed", (row.state, row.code, row.outcome)
        return row

    def error(self, answer):
        return answer.status_code, json.loads(answer.content)["error"]["code"]
