"""Forks: a copy of a live session's beginning, with the refusals of section 1.6 in their order."""

import json

import pytest

from apps.core.errors import InvalidField
from apps.sessions.actions.appending import append_events
from apps.sessions.actions.forking import fork_session
from apps.sessions.actions.leases import take_lease
from apps.sessions.models import Session, WorkspaceEntry
from apps.sessions.queries.log import all_events, load_state, surface_nodes
from apps.sessions.rules import SessionExists, SessionNotFound
from apps.sessions.rules.shelving import BadBoundary, BoundaryInTurn, SourceNotLive, check_boundary
from apps.sessions.rules.validator import load
from tests.sessions.place import NOW
from tests.sessions.test_listing import said


def numbered(*events):
    return [{"seq": seq, "time": NOW, **event} for seq, event in enumerate(events)]


def message(text):
    return {key: value for key, value in said(text).items() if key not in ("seq", "time")}


LOG = numbered(
    message("Before"),
    {"type": "turn/start", "data": {"turn": 1}},
    message("Question"),
    {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "completed"}}},
    message("Between"),
    {"type": "turn/start", "data": {"turn": 2}},
    message("Again"),
)


@pytest.fixture
def source(place):
    session = place.session("s1", title="Ferns")
    append_events(by=place.owner, session=session, expected_seq=0, events=LOG, now_ms=NOW)
    take_lease(by=place.caller(), ref="s1", now_ms=NOW)
    return session


def fork(place, **members):
    return fork_session(by=place.caller(), ref="s1", now_ms=NOW + 5, **members)


class TestAFork:
    def test_copies_the_beginning_and_ends_it_with_the_marker(self, place, source):
        child = fork(place, child="f1", boundary=5)
        events = list(all_events(child))
        assert events[:5] == LOG[:5]
        assert events[5] == {"type": "session/end-seed", "seq": 5, "time": NOW + 5, "data": {"inherited": True}}
        assert len(events) == child.next_seq == 6
        assert surface_nodes(child) == [0, 2, 4]
        header = json.loads(child.header)
        assert header == {
            "version": 4, "id": "f1", "createdAt": NOW + 5, "isSeeded": True, "delegationDepth": 0,
            "parentSession": "s1",
        }  # fmt: skip
        assert (child.parent, child.origin) == ("s1", "")
        state, _ = load(events, header=header)
        assert state.dump() == load_state(child).dump()
        assert state.inherited == 5

    def test_lives_on_by_itself(self, place, source):
        child = fork(place, child="f1", boundary=4)
        more = [{**message("Own"), "seq": 5, "time": NOW}]
        append_events(by=place.owner, session=child, expected_seq=5, events=more, now_ms=NOW)
        source.refresh_from_db()
        assert source.next_seq == len(LOG)
        assert WorkspaceEntry.objects.filter(spelling="f1").count() == 1

    def test_of_a_fork_inherits_up_to_the_last_marker(self, place, source):
        fork(place, child="f1", boundary=4)
        take_lease(by=place.caller(), ref="f1", now_ms=NOW)
        grandchild = fork_session(by=place.caller(), ref="f1", now_ms=NOW, child="f2")
        assert load_state(grandchild).inherited == 5
        assert grandchild.parent == "f1"

    def test_of_nothing_is_a_session_with_the_marker_alone(self, place, source):
        assert [event["type"] for event in all_events(fork(place, boundary=0))] == ["session/end-seed"]


class TestRefusals:
    def test_come_in_their_order(self, place):
        with pytest.raises(SessionNotFound):
            fork(place, child="s2", boundary=99)
        session = place.session("s1")
        place.session("s2")
        append_events(by=place.owner, session=session, expected_seq=0, events=LOG, now_ms=NOW)
        with pytest.raises(SourceNotLive):
            fork(place, child="s2", boundary=99)
        take_lease(by=place.caller("other"), ref="s1", now_ms=NOW)
        with pytest.raises(SessionExists):
            fork(place, child="session-s2", boundary=99)
        with pytest.raises(BadBoundary):
            fork(place, child="f1", boundary=99)
        with pytest.raises(BoundaryInTurn):
            fork(place, child="f1", boundary=7)
        assert Session.objects.count() == 2

    @pytest.mark.parametrize(
        ("boundary", "inside"), [(1, False), (2, True), (3, True), (4, False), (5, False), (6, True)]
    )
    def test_hold_where_a_turn_is_open_at_the_boundary(self, place, source, boundary, inside):
        if inside:
            with pytest.raises(BoundaryInTurn):
                fork(place, boundary=boundary)
        else:
            assert fork(place, boundary=boundary).next_seq == boundary + 1

    def test_of_the_whole_log_hold_while_its_last_turn_is_open(self, place, source):
        with pytest.raises(BoundaryInTurn):
            fork(place)

    @pytest.mark.parametrize("boundary", [-1, True, "x", 1.5, 2**60, [], {}])
    def test_name_a_boundary_that_is_no_number(self, boundary):
        with pytest.raises(InvalidField, match="boundary"):
            check_boundary(boundary)


class TestOverHttp:
    def test_answers_with_the_new_session_once_for_each_key(self, place, source):
        key = {"Idempotency-Key": "k1"}
        first = place.call("POST", "/api/sessions/s1/fork", {"boundary": 4}, **key)
        again = place.call("POST", "/api/sessions/s1/fork", {"boundary": 4}, **key)
        assert (first.status_code, first.json()) == (201, again.json())
        assert Session.objects.count() == 2

    def test_refuses_with_the_code(self, place, source):
        answer = place.call("POST", "/api/sessions/s1/fork", {"boundary": 2})
        assert (answer.status_code, answer.json()["code"]) == (409, "boundary_in_turn")
        answer = place.call("POST", "/api/sessions/s1/fork", {"boundary": 80})
        assert (answer.status_code, answer.json()["code"]) == (422, "bad_boundary")
        assert place.call("POST", "/api/sessions/s1/fork", {"boundary": 1}, by="charlies").status_code == 404
