"""The list of sessions: pages, filters, and a search that finds what was said and not how it is stored."""

import json

import pytest

from apps.core.serving import LaneHandler
from apps.core.values import new_id
from apps.sessions.actions import end_run, start_run
from apps.sessions.actions.appending import append_events
from apps.sessions.actions.leases import take_lease
from apps.sessions.models import SessionMark
from apps.sessions.queries import listing
from apps.sessions.queries.listing import session_page
from apps.sessions.rules.listing import Cursor, Filters, check_cursor
from tests.sessions.place import NOW


def said(text, *, seq=0):
    message = {"id": new_id(), "role": "user", "content": [{"type": "text", "text": text}], "source": {"kind": "user"}}
    return {"type": "user/message", "seq": seq, "time": NOW, "data": message, "surfaceOp": "append"}


def say(place, session, *texts):
    events = [said(text, seq=seq) for seq, text in enumerate(texts)]
    append_events(by=place.owner, session=session, expected_seq=0, events=events, now_ms=NOW)


def names(place, *, by=None, **filters):
    found, _ = session_page(by=by or place.owner, filters=Filters(**filters), limit=100, now_ms=NOW)
    return [row["id"] for row in found]


class TestPages:
    def test_go_on_from_the_newest_to_the_end(self, place):
        for number in range(5):
            place.session(f"s{number}", now_ms=NOW + number // 2)
        seen, path = [], "/api/sessions?limit=2"
        while path:
            page = place.call("GET", path).json()
            seen.append([row["id"] for row in page["sessions"]])
            path = page["next"] and f"/api/sessions?limit=2&before={page['next']}"
        assert [len(page) for page in seen] == [2, 2, 1]
        refs = [ref for page in seen for ref in page]
        assert len(set(refs)) == 5
        assert [int(ref[1:]) // 2 for ref in refs] == [2, 1, 1, 0, 0]

    def test_show_what_a_list_needs(self, place):
        say(place, place.session("s1", title="Ferns"), "Hello")
        (row,) = place.call("GET", "/api/sessions").json()["sessions"]
        assert row == {
            "id": "s1", "source": "cli", "title": "Ferns", "created_at_ms": NOW, "workspace": "default",
            "origin": "", "parent": "", "events": 1, "last_ms": NOW,
            "live": False, "running": False, "archived": False, "pinned": False, "label": "Ferns",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("live=yes", "live"), ("archived=1", "archived"), ("limit=0", "limit"), ("limit=101", "limit"),
            ("before=x", "before"), ("before=5", "before"), ("before=.", "before"), (f"q={'x' * 201}", "q"),
            (f"before={'9' * 30}.a", "before"),
        ],
    )  # fmt: skip
    def test_name_the_member_that_cannot_be_used(self, place, query, field):
        answer = place.call("GET", f"/api/sessions?{query}")
        assert (answer.status_code, answer.json()["field"]) == (400, field)


class TestFilters:
    def test_tell_live_and_running_ones(self, place):
        for ref in ("s1", "s2", "session-x"):
            place.session(ref)
        take_lease(by=place.caller(), ref="s1", now_ms=NOW)
        run = start_run(by=place.caller(), ref="s2", now_ms=NOW)
        assert (names(place, live=True), names(place, running=True)) == (["s1"], ["s2"])
        assert set(names(place, live=False)) == {"s2", "session-x"}
        assert names(place, live=False, running=False) == ["session-x"]
        end_run(by=place.caller(), ref="s2", run_id=run.pk, now_ms=NOW)
        assert names(place, running=True) == []
        expired, _ = session_page(by=place.owner, filters=Filters(live=True), limit=9, now_ms=NOW + 60_000)
        assert expired == []

    def test_take_a_copy_under_the_other_spelling_for_live_too(self, place):
        place.session("x")
        place.copy("session-x", slug="imported")
        take_lease(by=place.caller(), ref="x", now_ms=NOW)
        assert set(names(place, live=True)) == {"x", "session-x"}
        assert names(place, workspace="imported") == ["session-x"]

    def test_show_restricted_workspaces_to_their_members_alone(self, place):
        place.session("s1")
        place.copy("s2", slug="open")
        place.restrict(place.bob)
        assert names(place) == ["s2"]
        assert set(names(place, by=place.caller("bobs"))) == {"s1", "s2"}
        assert names(place, by=place.caller("charlies")) == []
        hidden, missing = place.call("GET", "/api/sessions/s1"), place.call("GET", "/api/sessions/nothing")
        assert (hidden.status_code, hidden.json()) == (missing.status_code, missing.json())
        for path in ("runs", "inbox"):
            assert place.call("GET", f"/api/sessions/s1/{path}").status_code == 404
        assert place.call("POST", "/api/sessions/s1/runs").status_code == 404
        run = start_run(by=place.caller("bobs"), ref="s1", now_ms=NOW)
        assert place.call("POST", f"/api/sessions/s1/runs/{run.pk}/end").json()["code"] == "run_not_found"


class Over:
    """A turn that is over as soon as it has begun."""

    def over(self):
        return True


class TestSearch:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("Water the ferns", "the FERNS"),
            ("Größe der Tür", "größe DER TÜR"),
            ("给蕨类植物浇水", "植物"),
            ("привет, мир", "ПРИВЕТ"),
            ("100% sure_thing!", "100% SURE_thing!"),
            ('a "quoted" \\ path\nnext', '"quoted" \\ path\nnext'),
            ("𐐨𐐩 𝔉 👩‍🚀", "👩‍🚀"),
        ],
    )
    def test_finds_what_was_said(self, place, text, words):
        say(place, place.session("s1"), "Nothing", text)
        say(place, place.session("s2"), "Something else")
        assert names(place, words=words) == ["s1"]

    @pytest.mark.parametrize(
        "words", ["type", "user/message", "role", "content", "kind", "surfaceOp", "100x", "sureXthing"]
    )
    def test_finds_nothing_in_how_it_is_stored(self, place, words):
        say(place, place.session("s1"), "100% sure_thing")
        assert names(place, words=words) == []

    def test_finds_titles_and_ids(self, place):
        place.session("fern-1")
        place.session("s2", title="Über Farne")
        assert (names(place, words="FERN"), names(place, words="über")) == (["fern-1"], ["s2"])

    def test_does_not_find_what_was_removed(self, place):
        session = place.session("s1")
        opened = {"type": "turn/start", "seq": 0, "time": NOW, "data": {"turn": 1}}
        append_events(
            by=place.owner, session=session, expected_seq=0, events=[opened, said("Water", seq=1)], now_ms=NOW
        )
        assert names(place, words="water") == ["s1"]
        SessionMark.objects.create(session=session, kind="removed", key="1", seq=2)
        assert names(place, words="water") == []

    def test_goes_on_where_its_turn_in_the_lane_ended(self, place, monkeypatch):
        for number in range(4):
            say(place, place.session(f"s{number}", now_ms=NOW + number), "Water")

        monkeypatch.setattr(listing, "Turn", Over)
        found: list[str] = []
        cursor: Cursor | None = None
        for _ in range(4):
            rows, cursor = session_page(
                by=place.owner, filters=Filters(words="water"), limit=100, before=cursor, now_ms=NOW
            )
            found += [row["id"] for row in rows]
        assert (found, cursor) == (["s3", "s2", "s1", "s0"], None)

    def test_goes_on_inside_a_long_session(self, place, monkeypatch):
        say(place, place.session("s1"), *["Nothing"] * 5, "Water", "Nothing")
        monkeypatch.setattr(listing, "Turn", Over)
        monkeypatch.setattr(listing, "CHUNK", 2)
        cursor: Cursor | None = None
        steps = []
        for _ in range(3):
            rows, cursor = session_page(
                by=place.owner, filters=Filters(words="water"), limit=100, before=cursor, now_ms=NOW
            )
            steps.append((len(rows), cursor and check_cursor(str(cursor)).seq))
        assert steps == [(0, 2), (0, 4), (1, None)]

    def test_of_many_turns_is_one_request(self, place, monkeypatch):
        for number in range(3):
            say(place, place.session(f"s{number}", now_ms=NOW + number), "Water")
        monkeypatch.setattr(listing, "Turn", Over)
        headers = [(b"authorization", f"Bearer {place.secrets['agent']}".encode())]
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/api/sessions",
            "query_string": b"q=water",
            "headers": headers,
        }
        answers = []
        while not answers or answers[-1].deferral is not None:
            answers.append(LaneHandler().answer(scope, b""))
            assert answers[-1].deferral is None or answers[-1].deferral.until_ms == NOW
        body = json.loads(answers[-1].body)
        assert (len(answers), [row["id"] for row in body["sessions"]], body["next"]) == (3, ["s2", "s1", "s0"], None)
