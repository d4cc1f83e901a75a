"""The endpoints: what is stored, read, listed, projected and refused, and what is never told."""

import json

import pytest

from apps.captures.models import Refused, Scope, Source
from apps.captures.rules import declare
from apps.ledger.models import LedgerEntry
from tests import factories
from tests.captures.world import PATH

DECLARED = {
    "kind": "hermes-turn",
    "powercontext_capture_coverage": declare(projection="hermes-turn-text.v1", losses=[]).as_object(),
}


@pytest.fixture
def foreign(world):
    """The headers of an agent of another profile."""
    other = factories.profile("other")
    _, secret = factories.token(factories.person("charlie", other="owner"), of=other)
    return {"Authorization": f"Bearer {secret}"}


class TestCapture:
    def test_says_created_then_replayed_then_conflict(self, world):
        body = {"scope_id": "main", "source_id": "s:1", "content": "Ana prefers tea.", "metadata": DECLARED}
        first, second = world.post(body), world.post(body)
        said = {
            "source": {"source_type": "content", "source_id": "s:1"},
            "position": 1,
            "coverage": {"status": "complete", "reasons": [], "problem": None},
        }
        assert (first.status_code, first.json()) == (201, {"outcome": "created", **said})
        assert (second.status_code, second.json()) == (200, {"outcome": "replayed", **said})
        third = world.post({**body, "content": "Ana prefers coffee."})
        assert third.status_code == 409
        sentence = "Another source was captured under this identity; nothing was changed."
        assert third.json() == {"error": {"code": "source_conflict", "message": sentence}}
        assert (Scope.objects.get().head, Source.objects.count()) == (1, 1)

    def test_takes_the_same_at_the_path_of_existing_plugins(self, world):
        body = {"scope_id": "main", "source_id": "s:1", "content": "x"}
        answer = world.post(body, path="/v1/sources/content")
        assert (answer.status_code, answer.json()["position"]) == (201, 1)
        assert world.post({**body, "metadata": None}).json()["outcome"] == "replayed"

    @pytest.mark.parametrize(
        "content", [" a\x00b\r\n\u2028\ufeff", "é", "e\u0301", "\U0001f600" * 200_000, '"\\', "[truncated 9 bytes]"]
    )
    def test_keeps_every_character(self, world, content):
        metadata = {"b": [1.0, 1, True, None, 10**40, 1e300, -0.0], "a": {"\x00": "\x7f"}}
        world.capture(content=content, metadata=metadata)
        found = json.loads(world.read().content)
        assert (found["content"], found["metadata"]) == (content, metadata)
        assert [type(one) for one in found["metadata"]["b"]] == [type(one) for one in metadata["b"]]
        assert world.capture(content=content, metadata=metadata, status=200)["outcome"] == "replayed"

    def test_keeps_the_metadata_as_it_was_sent_for_display(self, world):
        world.capture(metadata={"b": 1, "a": "上"})
        assert Source.objects.get().metadata == '{"b":1,"a":"上"}'

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            (b"", "body"),
            (b"{", "body"),
            (b"[]", None),
            (b'{"scope_id":"A","source_id":"s","content":"x","position":1}', "position"),
            (b'{"scope_id":"A","source_id":"s","content":"\\ud800"}', "content"),
            (b'{"scope_id":"A","source_id":"s\\u0000","content":"x"}', "source_id"),
            (b'{"scope_id":"A","source_id":"s","content":NaN}', "content"),
            (b'{"scope_id":"A","source_id":"s","content":"x","metadata":{"a":1e999}}', "metadata"),
            (b'{"scope_id":"A","source_id":"s","content":"x","metadata":{"a":Infinity}}', "metadata"),
            (
                b'{"scope_id":"A","source_id":"s","content":"x","metadata":{"a":' + b"[" * 200 + b"]" * 200 + b"}}",
                "metadata",
            ),
            (b'{"scope_id":"A","source_id":"s","content":"\xff"}', "body"),
        ],
    )
    def test_refuses_what_cannot_be_stored(self, world, body, field):
        answer = world.post(body)
        assert world.error(answer) == (422, "invalid_request")
        assert answer.json()["error"].get("field") == field
        assert not Source.objects.exists()

    def test_takes_metadata_as_deep_as_any_reader_can_follow(self, world):
        deep = json.loads("[" * 198 + "]" * 198)
        world.capture(metadata={"a": deep})
        assert world.listed()["sources"][0]["metadata"] == {"a": deep}

    def test_repeats_the_first_answer_for_an_idempotency_key(self, world):
        body = {"scope_id": "main", "source_id": "s:1", "content": "x"}
        headers = {"Idempotency-Key": "k1"}
        first, again = world.post(body, **headers), world.post(body, **headers)
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json() == again.json()
        other = world.post({**body, "content": "y"}, **headers)
        assert world.error(other) == (422, "idempotency_conflict")
        # A refusal leaves the key free.
        assert world.error(world.post({**body, "content": "y"}, **{"Idempotency-Key": "k2"})) == (
            409,
            "source_conflict",
        )
        assert world.post({**body, "source_id": "s:2"}, **{"Idempotency-Key": "k2"}).json()["position"] == 2

    def test_writes_a_row_of_the_ledger_for_what_it_stored_and_only_then(self, world):
        world.capture()
        world.capture(status=200)
        world.post({"scope_id": "main", "source_id": "s:1", "content": "other"})
        row = Source.objects.get()
        entry = LedgerEntry.objects.get(action="captures.source_captured")
        assert (entry.target, entry.digest) == (f"source:{row.pk}", row.payload_sha256)
        assert "Ana" not in entry.ids

    def test_notes_the_session_that_the_token_stands_for(self, world):
        profile = world.made.calendar.profile
        owner = factories.person("dora", default="owner")
        _, secret = factories.token(owner, of=profile, session="session-abc")
        body = {"scope_id": "main", "source_id": "s:1", "content": "x", "metadata": {"session_id": "another"}}
        world.post(body, Authorization=f"Bearer {secret}")
        assert world.read().json()["session_id"] == "abc"
        # It is no part of the payload: the same event through another token is the same.
        assert world.post(body).json()["outcome"] == "replayed"

    def test_needs_the_right(self, world):
        profile = world.made.calendar.profile
        viewer = factories.person("vera", default="viewer")
        _, reading = factories.token(viewer, of=profile)
        body = {"scope_id": "main", "source_id": "s:1", "content": "x"}
        assert world.error(world.post(body, Authorization=f"Bearer {reading}")) == (403, "permission_denied")
        assert world.error(world.post(body, Authorization="Bearer nothing")) == (401, "unauthorized")


class TestScopes:
    def test_of_another_profile_are_as_if_they_were_not_there(self, world, foreign):
        world.capture(source_id="theirs", content="secret")
        seen = [
            world.made.call("GET", f"{PATH}/{name}?scope_id={scope}", **foreign)
            for name, scope in (("theirs", "main"), ("nothing", "main"), ("theirs", "nowhere"))
        ]
        assert {(one.status_code, one.content, tuple(sorted(one.headers))) for one in seen} == {
            (404, seen[0].content, tuple(sorted(seen[0].headers)))
        }
        for path in (PATH, "/api/captures/evidence"):
            hidden, missing = (
                world.made.call("GET", f"{path}?scope_id={scope}", **foreign) for scope in ("main", "nowhere")
            )
            assert hidden.content.replace(b"main", b"nowhere") == missing.content
        purge = world.made.call("DELETE", f"{PATH}/theirs?scope_id=main", Prefer="wait=0", **foreign)
        assert (purge.status_code, purge.json()["code"]) == (404, "not_found")
        assert world.made.call("GET", "/api/captures/scopes", **foreign).json() == {"scopes": []}
        # Its own scope of that name begins at 1.
        mine = world.post({"scope_id": "main", "source_id": "theirs", "content": "x"}, **foreign)
        assert (mine.status_code, mine.json()["position"]) == (201, 1)

    def test_of_one_profile_share_nothing(self, world):
        world.capture(scope="A")
        answer = world.read(scope="B")
        assert world.error(answer) == (404, "not_found")
        assert answer.content == world.read("nothing", scope="A").content
        assert world.capture(scope="B")["position"] == 1
        assert world.listed("B")["sources"][0]["scope_id"] == "B"

    def test_are_listed_with_their_heads(self, world):
        for scope, number in (("b", 1), ("a", 1), ("a", 2)):
            world.capture(f"s:{number}", scope=scope)
        heads = [{"scope_id": "a", "head": 2}, {"scope_id": "b", "head": 1}]
        assert world.get("/api/captures/scopes").json() == {"scopes": heads}


class TestReading:
    @pytest.mark.parametrize("source_id", ["a/b", "a\nb", "..", "?x=1#y", "上 %2F+", "a" * 256])
    def test_finds_a_source_of_any_name(self, world, source_id):
        world.capture(source_id)
        assert world.read(source_id).json()["source"]["source_id"] == source_id

    def test_lists_in_order_and_in_parts(self, world):
        for number in range(1, 6):
            world.capture(f"s:{number}", content="x" * number)
        found = world.listed(after=1, limit=2)
        assert [one["position"] for one in found["sources"]] == [2, 3]
        assert found["next_after"] == 3
        assert world.listed(after=3)["next_after"] is None
        assert world.listed(after=9) == {"scope_id": "main", "sources": [], "next_after": None}

    def test_lists_no_more_at_once_than_an_answer_may_hold(self, world, monkeypatch):
        monkeypatch.setattr("apps.captures.queries.sources.LIST_BYTES", 3_000)
        for number in range(1, 5):
            world.capture(f"s:{number}", content="x" * 1_000)
        first = world.listed()
        assert ([one["position"] for one in first["sources"]], first["next_after"]) == ([1, 2], 2)
        rest = world.listed(after=2)
        assert ([one["position"] for one in rest["sources"]], rest["next_after"]) == ([3, 4], None)

    @pytest.mark.parametrize("query", ["after=-1", "limit=0", "after=x", "limit=1.5", f"after={'9' * 30}", "limit=-1"])
    def test_refuses_a_list_of_nothing(self, world, query):
        answer = world.made.call("GET", f"{PATH}?scope_id=main&{query}")
        assert world.error(answer) == (422, "invalid_request")
        assert answer.json()["error"]["field"] == query.partition("=")[0]

    @pytest.mark.parametrize("scope", ["", "%20", "x" * 257])
    def test_needs_a_scope(self, world, scope):
        for path in (PATH, f"{PATH}/s", "/api/captures/evidence", "/api/captures/conflicts"):
            answer = world.made.call("GET", f"{path}?scope_id={scope}&source_id=s")
            assert world.error(answer) == (422, "invalid_request")


class TestEvidence:
    def evidence(self, world, **query):
        return world.get("/api/captures/evidence", scope_id="main", **query)

    def test_is_whole_with_its_metadata_once(self, world):
        world.capture(metadata=DECLARED)
        found = self.evidence(world).json()
        assert found["evidence"] == [
            {
                "evidence_id": "content:1",
                "source_type": "content",
                "source_id": "s:1",
                "position": 1,
                "content": "Ana prefers tea.",
                "metadata": DECLARED,
            }
        ]
        assert (found["after"], found["next_after"], found["halvings"], found["budget"]) == (0, 1, 0, 24_000)

    def test_halves_until_it_fits_and_says_where_to_go_on(self, world):
        for number in range(1, 9):
            world.capture(f"s:{number}", content="x" * 400)
        found = self.evidence(world, budget=500).json()
        assert ([one["position"] for one in found["evidence"]], found["next_after"]) == ([1, 2], 2)
        assert found["halvings"] == 2
        assert found["tokens"] <= 500
        assert self.evidence(world, after=2, budget=500).json()["evidence"][0]["position"] == 3
        assert self.evidence(world, after=8).json()["next_after"] == 8

    def test_refuses_a_single_source_beyond_the_budget(self, world):
        world.capture(content="x" * 1_000)
        world.capture("s:2", content="y")
        answer = self.evidence(world, budget=100)
        assert world.error(answer) == (422, "evidence_over_budget")
        assert answer.json()["error"]["budget"] == 100
        assert world.error(self.evidence(world, budget=0)) == (422, "invalid_request")

    def test_steps_over_tombstones(self, world):
        for number in range(1, 5):
            world.capture(f"s:{number}", content="x" * 400)
        world.purge("s:2")
        world.purge("s:4")
        found = self.evidence(world).json()
        assert ([one["position"] for one in found["evidence"]], found["next_after"]) == ([1, 3], 4)
        found = self.evidence(world, budget=200).json()
        assert ([one["position"] for one in found["evidence"]], found["next_after"]) == ([1], 2)


class TestProject:
    def test_projects_and_stores_nothing(self, world):
        body = {"profile": "hermes-turn-text.v1", "session_id": "s1", "user": "hi\x00", "assistant": "ok"}
        answer = world.post(body, path="/api/captures/project")
        assert answer.status_code == 200
        found = answer.json()
        assert set(found) == {"captured", "text", "coverage", "metadata", "source_id"}
        assert found["text"] == "[user]\nhi\x00\n\n[assistant]\nok"
        assert found["source_id"].startswith("hermes-turn:")
        assert not Source.objects.exists()

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            (b'{"profile":"gateway-turn-text.v1","messages":[{"role":"user","content":"\\udc00"}]}', "messages"),
            (b'{"profile":"x"}', "profile"),
            (b'{"profile":"hermes-precompress-text.v1","mode":1}', "mode"),
            (b"[" * 5_000, "body"),
        ],
    )
    def test_names_what_cannot_be_read(self, world, body, field):
        answer = world.post(body, path="/api/captures/project")
        assert world.error(answer) == (422, "invalid_request")
        assert answer.json()["error"]["field"] == field


class TestConflicts:
    def test_are_shown_beside_what_is_stored(self, world):
        world.capture()
        for content in ("Ana prefers coffee.", "Ana prefers coffee.", "Ana prefers milk."):
            answer = world.post({"scope_id": "main", "source_id": "s:1", "content": content})
            assert world.error(answer) == (409, "source_conflict")
            assert b"tea" not in answer.content
        found = world.get("/api/captures/conflicts", scope_id="main", source_id="s:1").json()
        assert found["stored"]["content"] == "Ana prefers tea."
        assert [(one["content"], one["times"]) for one in found["refused"]] == [
            ("Ana prefers coffee.", 2),
            ("Ana prefers milk.", 1),
        ]

    def test_are_kept_up_to_a_number(self, world, monkeypatch):
        monkeypatch.setattr("apps.captures.actions.capturing.REFUSED_KEPT", 2)
        world.capture()
        for number in range(4):
            world.post({"scope_id": "main", "source_id": "s:1", "content": f"other {number}"})
        assert Refused.objects.count() == 2

    def test_are_not_there_for_others(self, world, foreign):
        world.capture()
        path = "/api/captures/conflicts?scope_id=main&source_id="
        hidden, missing = (world.made.call("GET", path + name, **foreign) for name in ("s:1", "nothing"))
        assert (hidden.status_code, hidden.content) == (missing.status_code, missing.content) == (404, missing.content)
