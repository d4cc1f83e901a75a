import jwt
import pytest
from django.conf import settings

from apps.accounts.actions import remove_member
from apps.accounts.models import AccessToken
from apps.accounts.queries import DisabledUser, caller_of_token
from apps.accounts.rules import LoginThrottled, ProfileUnavailable, secret_hash
from apps.devices.actions import create_pairing_code, log_in_app, revoke_device
from apps.devices.models import Device, PairingCode
from apps.devices.queries import caller_on_socket, devices_of, token_claims
from apps.devices.rules import (
    CodeExpired,
    CodeInvalid,
    CodeUsed,
    DeviceNotFound,
    DeviceRefused,
    LoginInvalid,
    NoProfile,
    check_login,
)
from tests import factories

pytestmark = pytest.mark.django_db

NOW = 1_796_025_600_000
MINUTE = 60_000
DAY = 24 * 60 * MINUTE


@pytest.fixture
def home():
    return factories.profile("default", calendars="device")


@pytest.fixture
def alice(home):
    return factories.person("alice", default="owner")


@pytest.fixture
def at_browser(alice, home):
    return factories.human(alice, of=home)


def app(**members):
    return check_login({"device_code": "iphone", "device_name": "Phone", "authorization_code": "x", **members})


def pair(caller, *, now_ms=NOW, **members):
    _, code = create_pairing_code(by=caller, now_ms=now_ms)
    return log_in_app(login=app(authorization_code=code, **members), address="10.0.0.9", now_ms=now_ms)


class TestCode:
    def test_is_nowhere_in_the_database(self, at_browser):
        row, code = create_pairing_code(by=at_browser, now_ms=NOW)
        assert code not in str(PairingCode.objects.values().get())
        assert row.expires_at_ms == NOW + 5 * MINUTE

    def test_lets_one_app_in_once(self, at_browser):
        _, code = create_pairing_code(by=at_browser, now_ms=NOW)
        log_in_app(login=app(authorization_code=code), address="", now_ms=NOW)
        with pytest.raises(CodeUsed):
            log_in_app(login=app(authorization_code=code, device_code="other"), address="", now_ms=NOW)
        assert Device.objects.count() == 1

    def test_is_good_for_five_minutes(self, at_browser):
        _, code = create_pairing_code(by=at_browser, now_ms=NOW)
        with pytest.raises(CodeExpired):
            log_in_app(login=app(authorization_code=code), address="", now_ms=NOW + 5 * MINUTE)
        log_in_app(login=app(authorization_code=code), address="", now_ms=NOW + 5 * MINUTE - 1)

    def test_that_was_made_up_is_refused(self, at_browser):
        create_pairing_code(by=at_browser, now_ms=NOW)
        with pytest.raises(CodeInvalid):
            log_in_app(login=app(authorization_code="made up"), address="", now_ms=NOW)

    def test_of_a_disabled_person_is_refused_and_stays_unused(self, at_browser, alice):
        _, code = create_pairing_code(by=at_browser, now_ms=NOW)
        alice.is_active = False
        alice.save()
        with pytest.raises(DisabledUser):
            log_in_app(login=app(authorization_code=code), address="", now_ms=NOW)
        assert PairingCode.objects.get().used_at_ms is None

    def test_of_a_person_who_left_the_profile_is_refused(self, at_browser, home):
        bob = factories.person("bob", default="decider")
        _, code = create_pairing_code(by=factories.human(bob, of=home), now_ms=NOW)
        remove_member(by=at_browser, user_id=bob.pk, now_ms=NOW)
        with pytest.raises(NoProfile):
            log_in_app(login=app(authorization_code=code), address="", now_ms=NOW)

    def test_is_forgotten_a_day_after_its_end(self, at_browser):
        create_pairing_code(by=at_browser, now_ms=NOW)
        create_pairing_code(by=at_browser, now_ms=NOW + 2 * DAY)
        assert PairingCode.objects.count() == 1


class TestToken:
    def test_says_what_the_contract_wants(self, at_browser, alice):
        _, secret = pair(at_browser)
        assert jwt.get_unverified_header(secret)["alg"] == "HS256"
        claims = token_claims(secret=secret, now_ms=NOW)
        assert claims is not None
        jti = claims.pop("jti")
        assert jti
        assert claims == {
            "type": "app_access",
            "aud": "hermes-studio",
            "sub": str(alice.pk),
            "device_code": "iphone",
            "connection_type": "lan",
            "iat": NOW // 1000,
            "exp": (NOW + 30 * DAY) // 1000,
        }

    def test_is_stored_as_a_hash_and_may_only_be_a_device(self, at_browser):
        device, secret = pair(at_browser)
        row = AccessToken.objects.get(pk=device.token_id)
        assert (row.kind, row.scopes, row.secret_hash) == ("device", ["device"], secret_hash(secret))
        assert secret not in str(AccessToken.objects.values().get(pk=row.pk))
        found = caller_of_token(secret=secret, now_ms=NOW)
        assert found is not None
        assert (found[0].kind, found[0].scopes) == ("device", frozenset({"device"}))

    def test_ends_after_thirty_days(self, at_browser):
        _, secret = pair(at_browser)
        assert token_claims(secret=secret, now_ms=NOW + 30 * DAY - 1000) is not None
        assert token_claims(secret=secret, now_ms=NOW + 30 * DAY) is None
        assert caller_of_token(secret=secret, now_ms=NOW + 30 * DAY) is None

    @pytest.mark.parametrize(
        ("change", "key"),
        [({"aud": "another"}, "device_jwt"), ({"type": "refresh"}, "device_jwt"), ({}, "ledger_hmac")],
    )
    def test_that_somebody_else_signed_or_for_another_use_says_nothing(self, at_browser, change, key):
        _, secret = pair(at_browser)
        claims = token_claims(secret=secret, now_ms=NOW)
        assert claims is not None
        other = jwt.encode({**claims, **change}, settings.SAYSO_KEYS.key(key), algorithm="HS256")
        assert token_claims(secret=other, now_ms=NOW) is None

    def test_without_a_signature_says_nothing(self, at_browser):
        _, secret = pair(at_browser)
        claims = token_claims(secret=secret, now_ms=NOW)
        assert token_claims(secret=jwt.encode(claims or {}, "", algorithm="none"), now_ms=NOW) is None

    def test_opens_every_profile_of_its_person_and_no_other(self, at_browser, alice):
        factories.profile("work")
        factories.profile("charlies")
        factories.person("charlie", charlies="owner")
        _, secret = pair(at_browser)
        with pytest.raises(ProfileUnavailable):
            caller_on_socket(secret=secret, profile="charlies", now_ms=NOW)
        with pytest.raises(ProfileUnavailable):
            caller_on_socket(secret=secret, profile="work", now_ms=NOW)
        alice.memberships.create(profile=factories.Profile.objects.get(name="work"), role="viewer")
        assert caller_on_socket(secret=secret, profile="work", now_ms=NOW)[0].profile_name == "work"

    def test_of_an_agent_opens_no_phone_socket(self, alice, home):
        _, secret = factories.token(alice, of=home)
        with pytest.raises(DeviceRefused):
            caller_on_socket(secret=secret, profile="default", now_ms=NOW)


class TestPairingAgain:
    def test_kills_the_old_token_and_keeps_the_reference(self, at_browser):
        first, old = pair(at_browser)
        second, new = pair(at_browser, device_name="Renamed")
        assert (second.pk, second.token_id, second.identity.ref) == (first.pk, first.token_id, first.identity.ref)
        assert Device.objects.get().name == "Renamed"
        assert old != new
        assert caller_of_token(secret=old, now_ms=NOW) is None
        assert caller_of_token(secret=new, now_ms=NOW) is not None

    def test_leaves_the_phone_of_another_person_with_the_same_code_alone(self, at_browser, home):
        _, alices = pair(at_browser)
        bob = factories.person("bob", default="decider")
        _, bobs = pair(factories.human(bob, of=home))
        assert Device.objects.count() == 2
        assert caller_of_token(secret=alices, now_ms=NOW) is not None
        assert caller_of_token(secret=bobs, now_ms=NOW) is not None

    def test_after_a_revocation_makes_a_new_token(self, at_browser):
        first, old = pair(at_browser)
        revoke_device(by=at_browser, device_id=first.pk, now_ms=NOW)
        second, _ = pair(at_browser)
        assert second.pk == first.pk
        assert second.token_id != first.token_id
        assert caller_of_token(secret=old, now_ms=NOW) is None


class TestRevoking:
    def test_ends_the_token(self, at_browser, alice):
        device, secret = pair(at_browser)
        revoke_device(by=at_browser, device_id=device.pk, now_ms=NOW)
        assert caller_of_token(secret=secret, now_ms=NOW) is None
        assert list(devices_of(user_id=alice.pk)) == []

    def test_is_for_the_person_whose_phone_it_is(self, at_browser, home):
        device, secret = pair(at_browser)
        bob = factories.human(factories.person("bob", default="owner"), of=home)
        with pytest.raises(DeviceNotFound):
            revoke_device(by=bob, device_id=device.pk, now_ms=NOW)
        assert caller_of_token(secret=secret, now_ms=NOW) is not None

    def test_happens_once(self, at_browser):
        device, _ = pair(at_browser)
        revoke_device(by=at_browser, device_id=device.pk, now_ms=NOW)
        with pytest.raises(DeviceNotFound):
            revoke_device(by=at_browser, device_id=device.pk, now_ms=NOW)


class TestPassword:
    @pytest.fixture(autouse=True)
    def password(self, alice):
        alice.set_password(factories.PASSWORD)
        alice.save()

    def app(self, **members):
        return app(**{"authorization_code": "", "username": "alice", "password": factories.PASSWORD, **members})

    def test_lets_an_app_in_as_a_device(self):
        device, secret = log_in_app(login=self.app(), address="10.0.0.9", now_ms=NOW)
        assert device.token.kind == "device"
        found = caller_of_token(secret=secret, now_ms=NOW)
        assert found is not None
        assert found[0].kind == "device"

    @pytest.mark.parametrize("members", [{"password": "wrong"}, {"username": "nobody"}])
    def test_that_is_wrong_is_refused_alike(self, members):
        with pytest.raises(LoginInvalid):
            log_in_app(login=self.app(**members), address="10.0.0.9", now_ms=NOW)

    def test_of_a_disabled_person_is_refused_as_such(self, alice):
        alice.is_active = False
        alice.save()
        with pytest.raises(DisabledUser):
            log_in_app(login=self.app(), address="10.0.0.9", now_ms=NOW)

    def test_is_throttled_after_five_wrong_ones(self):
        for _ in range(5):
            with pytest.raises(LoginInvalid):
                log_in_app(login=self.app(password="wrong"), address="10.0.0.9", now_ms=NOW)
        with pytest.raises(LoginThrottled):
            log_in_app(login=self.app(), address="10.0.0.10", now_ms=NOW)
        log_in_app(login=self.app(), address="10.0.0.10", now_ms=NOW + MINUTE)
