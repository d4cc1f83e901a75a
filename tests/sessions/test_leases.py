"""Leases: one holder at a time under either spelling, sixty seconds, let go by its holder alone."""

import threading

import pytest
from django.db import connection

from apps.accounts import actions as accounts
from apps.sessions.actions.leases import release_lease, renew_lease, take_lease
from apps.sessions.models import Lease
from apps.sessions.queries.leases import is_live, live_spellings
from apps.sessions.rules import SessionNotFound
from apps.sessions.rules.hosts import LEASE_MS, LeaseHeld, LeaseNotHeld
from tests.sessions.place import NOW


def live(place, ref="s1", now_ms=NOW):
    return is_live(profile_id=place.profile.pk, ref=ref, now_ms=now_ms)


class TestTaking:
    def test_makes_the_session_live_for_sixty_seconds(self, place):
        place.session()
        assert not live(place)
        lease = take_lease(by=place.caller(), ref="s1", now_ms=NOW)
        assert lease.expires_ms == NOW + 60_000
        assert live(place, now_ms=NOW + 59_999)
        assert not live(place, now_ms=NOW + 60_000)

    def test_by_another_token_is_refused_with_who_holds_it_and_for_how_long(self, place):
        place.session()
        take_lease(by=place.caller(), ref="s1", now_ms=NOW)
        with pytest.raises(LeaseHeld) as refused:
            take_lease(by=place.caller("other"), ref="s1", now_ms=NOW + 20_000)
        assert refused.value.extra == {"held_by": "Agent", "expires_ms": NOW + 60_000, "retry_after_s": 40}
        assert "40 s" in refused.value.message

    def test_again_by_the_same_token_goes_on_with_the_same_lease(self, place):
        place.session()
        first = take_lease(by=place.caller(), ref="s1", now_ms=NOW)
        again = take_lease(by=place.caller(), ref="s1", now_ms=NOW + 30_000)
        assert (again.lease_id, again.taken_ms) == (first.lease_id, NOW)
        assert again.expires_ms == NOW + 90_000

    def test_by_a_new_connection_of_the_same_token_leaves_the_old_one_without_it(self, place):
        place.session()
        old = take_lease(by=place.caller(), ref="s1", lease_id="", now_ms=NOW)
        new = take_lease(by=place.caller(), ref="s1", lease_id="", now_ms=NOW)
        assert old.lease_id != new.lease_id
        with pytest.raises(LeaseNotHeld):
            renew_lease(by=place.caller(), ref="s1", lease_id=old.lease_id, now_ms=NOW)
        assert not release_lease(by=place.caller(), ref="s1", lease_id=old.lease_id, now_ms=NOW)
        assert live(place)

    def test_after_it_ran_out_is_free_to_anybody(self, place):
        place.session()
        old = take_lease(by=place.caller(), ref="s1", now_ms=NOW)
        new = take_lease(by=place.caller("other"), ref="s1", now_ms=NOW + LEASE_MS)
        assert new.lease_id != old.lease_id
        with pytest.raises(LeaseNotHeld):
            renew_lease(by=place.caller(), ref="s1", lease_id=old.lease_id, now_ms=NOW + LEASE_MS)

    @pytest.mark.parametrize(("held", "asked"), [("x", "session-x"), ("session-x", "x")])
    def test_under_the_other_spelling_is_refused_too(self, place, held, asked):
        place.session(held)
        place.copy(asked, slug="imported")
        take_lease(by=place.caller(), ref=held, now_ms=NOW)
        with pytest.raises(LeaseHeld):
            take_lease(by=place.caller("other"), ref=asked, now_ms=NOW)
        assert live(place, asked)
        assert live_spellings(profile_id=place.profile.pk, now_ms=NOW) == {held}

    def test_of_a_session_whose_id_merely_ends_alike_is_another_matter(self, place):
        place.session("x")
        place.session("my-x")
        take_lease(by=place.caller(), ref="x", now_ms=NOW)
        assert not live(place, "my-x")
        take_lease(by=place.caller("other"), ref="my-x", now_ms=NOW)

    def test_by_two_at_the_same_moment_is_one_s(self, place):
        place.session()
        callers = [place.caller(), place.caller("other")]
        results = []
        together = threading.Barrier(2)

        def take(by):
            together.wait()
            try:
                results.append(take_lease(by=by, ref="s1", now_ms=NOW).holder)
            except LeaseHeld:
                results.append("refused")
            finally:
                connection.close()

        threads = [threading.Thread(target=take, args=(by,)) for by in callers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results.count("refused") == 1
        assert Lease.objects.get().holder in results


class TestEnding:
    def test_is_for_the_holder(self, place):
        place.session()
        take_lease(by=place.caller(), ref="s1", now_ms=NOW)
        assert not release_lease(by=place.caller("other"), ref="s1", now_ms=NOW)
        assert live(place)
        assert release_lease(by=place.caller(), ref="s1", now_ms=NOW)
        assert not live(place)
        assert not release_lease(by=place.caller(), ref="s1", now_ms=NOW)

    def test_follows_the_revocation_of_the_token(self, place):
        place.session()
        by = place.caller()
        take_lease(by=by, ref="s1", now_ms=NOW)
        accounts.revoke_token(token_id=by.token_id, by=place.owner, now_ms=NOW)
        assert not live(place)


class TestRights:
    def test_another_tenant_finds_nothing(self, place):
        place.session()
        for act in (take_lease, release_lease):
            with pytest.raises(SessionNotFound):
                act(by=place.caller("charlies"), ref="s1", now_ms=NOW)

    def test_a_restricted_workspace_is_its_members_alone(self, place):
        place.session()
        place.restrict(place.bob)
        with pytest.raises(SessionNotFound):
            take_lease(by=place.caller(), ref="s1", now_ms=NOW)
        take_lease(by=place.caller("bobs"), ref="s1", now_ms=NOW)


class TestOverHttp:
    def test_takes_holds_refuses_and_lets_go(self, place):
        place.session()
        taken = place.call("POST", "/api/sessions/s1/lease")
        assert (taken.status_code, taken.json()["expires_ms"]) == (200, NOW + 60_000)
        assert place.call("POST", "/api/sessions/s1/lease").json()["lease_id"] == taken.json()["lease_id"]
        refused = place.call("POST", "/api/sessions/s1/lease", by="other")
        assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (409, "lease_held", "60")
        assert place.call("DELETE", "/api/sessions/s1/lease", by="other").json()["released"] is False
        assert place.call("DELETE", "/api/sessions/s1/lease").json()["released"] is True
        assert place.call("POST", "/api/sessions/s1/lease", by="other").status_code == 200

    def test_tells_whether_a_session_is_closed(self, place):
        place.session()
        assert place.call("POST", "/api/sessions/s1/close").json() == {"session_id": "s1", "live": False}
        place.call("POST", "/api/sessions/s1/lease")
        assert place.call("POST", "/api/sessions/s1/close", by="other").json()["live"] is True

    @pytest.mark.parametrize("lease_id", [True, 5, [], {}, 1.5])
    def test_names_a_lease_id_that_is_none(self, place, lease_id):
        place.session()
        answer = place.call("POST", "/api/sessions/s1/lease", {"lease_id": lease_id})
        assert (answer.status_code, answer.json()["field"]) == (400, "lease_id")
