import pytest

from apps.devices import queries
from apps.devices.actions import create_pairing_code, log_in_app, revoke_device
from apps.devices.rules import ProfileNotHere, check_login
from apps.sessions.actions import create_session, end_run, start_run
from apps.sessions.rules import SessionNotFound
from tests import factories

pytestmark = pytest.mark.django_db

NOW = 1_796_025_600_000


class House:
    """Alice with a phone and a session."""

    def __init__(self):
        self.home = factories.profile("default", calendars="device")
        self.alice = factories.person("alice", default="owner")
        self.at_browser = factories.human(self.alice, of=self.home)
        self.session = create_session(by=self.at_browser, ref="s1", now_ms=NOW)
        self.device, self.phone = self.pair("iphone")

    def pair(self, device_code):
        _, code = create_pairing_code(by=self.at_browser, now_ms=NOW)
        login = check_login({"authorization_code": code, "device_code": device_code, "device_name": device_code})
        device, secret = log_in_app(login=login, address="", now_ms=NOW)
        return device, queries.caller_on_socket(secret=secret, profile="default", now_ms=NOW)[0]

    def start(self, by, now_ms=NOW, **members):
        return start_run(by=by, ref="s1", now_ms=now_ms, **members)

    @property
    def target(self):
        return queries.target_for(session=self.session, profile_id=self.home.pk)


@pytest.fixture
def house():
    return House()


class TestTarget:
    def test_is_the_phone_that_started_the_latest_run(self, house):
        run = house.start(house.phone)
        target = house.target
        assert (target.ref, target.device_code, target.run_id) == (house.device.identity.ref, "iphone", run.pk)
        assert (target.online, target.profile) == (False, "default")

    def test_is_nobody_before_a_run(self, house):
        assert house.target is None

    def test_moves_to_the_phone_of_the_next_run(self, house):
        house.start(house.phone)
        other, caller = house.pair("android")
        house.start(caller, now_ms=NOW + 1)
        assert house.target.device_id == other.device_id

    def test_goes_with_a_run_of_anybody_else(self, house):
        house.start(house.phone)
        house.start(house.at_browser, now_ms=NOW + 1)
        assert house.target is None

    @pytest.mark.parametrize("members", [{"background": True}, {"source": "workflow"}, {"from_elsewhere": True}])
    def test_goes_with_a_run_that_is_no_chat_on_this_phone(self, house, members):
        house.start(house.phone)
        house.start(house.phone, now_ms=NOW + 1, **members)
        assert house.target is None

    def test_stays_after_the_run(self, house):
        run = house.start(house.phone)
        end_run(by=house.phone, ref="s1", run_id=run.pk, now_ms=NOW)
        assert house.target is not None

    def test_goes_when_the_server_aborts(self, house):
        run = house.start(house.phone)
        end_run(by=house.at_browser, ref="s1", run_id=run.pk, state="aborted", now_ms=NOW)
        assert house.target is None

    def test_stays_the_same_when_the_phone_is_paired_again(self, house):
        house.start(house.phone)
        before = house.target
        house.pair("iphone")
        assert house.target.ref == before.ref

    def test_goes_with_a_revocation_even_after_pairing_anew(self, house):
        house.start(house.phone)
        revoke_device(by=house.at_browser, device_id=house.device.pk, now_ms=NOW)
        house.pair("iphone")
        assert house.target is None

    def test_goes_with_the_membership(self, house):
        house.start(house.phone)
        house.alice.memberships.all().delete()
        assert house.target is None

    def test_is_not_a_phone_of_somebody_who_only_looks(self, house):
        house.start(house.phone)
        assert house.target is not None
        house.alice.memberships.all().update(role="viewer")
        assert house.target is None

    def test_is_there_while_a_socket_is_open(self, house):
        house.start(house.phone)
        place = {"device_id": house.device.device_id, "profile_id": house.home.pk, "socket": "a"}
        queries.presence.enter(**place, actions=frozenset({"calendar.list"}))
        try:
            assert house.target.online
            assert house.target.actions == {"calendar.list"}
        finally:
            queries.presence.leave(**place)
        assert not house.target.online


class TestSessionOnSocket:
    def test_is_found_in_the_profile_of_the_socket(self, house):
        assert queries.session_on_socket(by=house.phone, ref="s1") == house.session

    def test_of_another_profile_of_the_person_is_named(self, house):
        work = factories.profile("work")
        house.alice.memberships.create(profile=work, role="owner")
        create_session(by=factories.human(house.alice, of=work), ref="s2", now_ms=NOW)
        with pytest.raises(ProfileNotHere) as caught:
            queries.session_on_socket(by=house.phone, ref="s2")
        assert caught.value.message == 'Profile "work" is not available on this connection'

    def test_of_somebody_else_is_like_a_missing_one(self, house):
        theirs = factories.profile("charlies")
        charlie = factories.person("charlie", charlies="owner")
        create_session(by=factories.human(charlie, of=theirs), ref="s3", now_ms=NOW)
        for ref in ("s3", "nowhere"):
            with pytest.raises(SessionNotFound) as caught:
                queries.session_on_socket(by=house.phone, ref=ref)
            assert caught.value.message == "Session not found"
