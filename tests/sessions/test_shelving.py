"""Archiving and pinning: by either spelling, refused while something is active, accounting kept as text."""

import pytest

from apps.core import dependents
from apps.sessions.actions import create_session
from apps.sessions.models import ArchivedSession, DeletedSession, PinnedSession, WorkspaceEntry
from apps.sessions.queries.listing import session_page
from apps.sessions.rules import SessionExists
from apps.sessions.rules.ids import id_hash
from apps.sessions.rules.import_report import DeletedHere
from apps.sessions.rules.listing import Filters
from tests.sessions.place import NOW


def names(place, **filters):
    found, _ = session_page(by=place.owner, filters=Filters(**filters), limit=100, now_ms=NOW)
    return [row["id"] for row in found]


class TestArchiving:
    def test_puts_away_and_takes_back_however_often(self, place):
        place.session()
        for _ in range(2):
            answer = place.call("POST", "/api/sessions/s1/archive")
            assert (answer.status_code, answer.json()) == (200, {"id": "s1", "archived": True})
        assert names(place, archived=True) == ["s1"]
        for _ in range(2):
            assert place.call("POST", "/api/sessions/s1/unarchive").json() == {"id": "s1", "archived": False}
        assert names(place, archived=True) == []

    def test_is_refused_with_a_list_while_something_is_active(self, place, monkeypatch):
        session = place.session()
        active = [{"id": "t1", "label": "Water the ferns"}]
        mine = dependents.Dependent(
            owner="archive",
            name="plants",
            count=lambda owner_id: len(active),
            digest_part=lambda owner_id: active if owner_id == session.pk else [],
            refusal=lambda owner_id: "Schedules of this session are active." if active else "",
            remove=lambda **_: 0,
        )
        monkeypatch.setattr(dependents, "_dependents", [*dependents._dependents, mine])
        answer = place.call("POST", "/api/sessions/s1/archive")
        assert (answer.status_code, answer.json()) == (
            409,
            {"code": "archive_refused", "detail": "Schedules of this session are active.", "plants": active},
        )
        assert not ArchivedSession.objects.exists()
        assert place.call("POST", "/api/sessions/s1/pin").status_code == 200
        active.clear()
        assert place.call("POST", "/api/sessions/s1/archive").status_code == 200

    @pytest.mark.parametrize(("kept", "stored"), [("x", "session-x"), ("session-x", "x")])
    def test_knows_both_spellings(self, place, kept, stored):
        place.session(stored)
        ArchivedSession.objects.create(profile=place.profile, spelling=kept)
        PinnedSession.objects.create(profile=place.profile, spelling=kept)
        assert names(place, archived=True) == names(place, pinned=True) == [stored]
        place.call("POST", f"/api/sessions/{stored}/archive")
        assert ArchivedSession.objects.count() == 1
        place.call("POST", f"/api/sessions/{stored}/unarchive")
        place.call("POST", f"/api/sessions/{stored}/unpin")
        assert ArchivedSession.objects.count() == PinnedSession.objects.count() == 0

    def test_is_no_viewer_s_and_no_stranger_s(self, place):
        place.session()
        for door in ("archive", "unarchive", "pin", "unpin"):
            hidden = place.call("POST", f"/api/sessions/s1/{door}", by="charlies")
            missing = place.call("POST", f"/api/sessions/nothing/{door}")
            assert (hidden.status_code, hidden.json()) == (404, missing.json())


class TestMaking:
    def test_goes_into_the_workspace_that_is_named(self, place):
        place.copy("s1", slug="garden")
        assert place.call("POST", "/api/sessions", {"id": "s2", "workspace": "garden"}).status_code == 201
        assert set(names(place, workspace="garden")) == {"s1", "s2"}

    def test_finds_no_workspace_that_is_hidden_or_missing(self, place):
        place.copy("s1", slug="garden")
        place.restrict(place.bob, slug="garden")
        hidden = place.call("POST", "/api/sessions", {"id": "s2", "workspace": "garden"})
        missing = place.call("POST", "/api/sessions", {"id": "s2", "workspace": "nowhere"})
        assert (hidden.status_code, hidden.json()) == (404, missing.json())
        assert place.call("POST", "/api/sessions", {"id": "s2", "workspace": "garden"}, by="bobs").status_code == 201

    @pytest.mark.parametrize("workspace", [True, 5, [], {}, 1.5])
    def test_names_a_workspace_that_is_none(self, place, workspace):
        answer = place.call("POST", "/api/sessions", {"workspace": workspace})
        assert (answer.status_code, answer.json()["field"]) == (400, "workspace")


class TestTheList:
    def test_of_its_workspace_names_a_new_session(self, place):
        place.session("s1")
        assert list(WorkspaceEntry.objects.values_list("workspace__slug", "spelling")) == [("default", "s1")]

    @pytest.mark.parametrize("other", ["x", "session-x"])
    def test_takes_no_second_session_of_one_id(self, place, other):
        place.session("x")
        with pytest.raises(SessionExists):
            create_session(by=place.owner, ref=other, now_ms=NOW)

    def test_takes_no_session_in_another_workspace_either(self, place):
        place.copy("x", slug="imported")
        with pytest.raises(SessionExists):
            create_session(by=place.owner, ref="x", now_ms=NOW)

    def test_takes_no_id_that_a_person_deleted(self, place):
        hidden = id_hash(profile_id=place.profile.pk, ref="x")
        DeletedSession.objects.create(profile=place.profile, id_hash=hidden, confirmation_id="c")
        for ref in ("x", "session-x"):
            with pytest.raises(DeletedHere):
                create_session(by=place.owner, ref=ref, now_ms=NOW)
