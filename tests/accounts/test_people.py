"""Signing in, being throttled, signing out everywhere, and who belongs to a profile."""

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import CommandError, call_command

from apps.accounts import actions
from apps.accounts.models import Membership, Profile, User
from apps.accounts.queries import caller_of_session, labels_of
from apps.accounts.rules import LastOwner, LoginThrottled, MemberNotFound, login_block_ms
from apps.core.errors import Conflict, Denied, InvalidField
from tests import factories

pytestmark = pytest.mark.django_db
MINUTE = 60_000


def signed_in(user):
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.create()
    return store.session_key


@pytest.fixture
def profile():
    return factories.profile()


@pytest.fixture
def alice(profile):
    return factories.person("alice", default="owner")


class TestASession:
    def test_is_its_person(self, profile, alice):
        caller = caller_of_session(session_key=signed_in(alice))
        assert (caller.label, caller.role, caller.profile_name, caller.is_human) == ("alice", "owner", "default", True)

    def test_ends_with_sign_out_everywhere_and_a_new_one_begins(self, profile, alice):
        sessions = [signed_in(alice) for _ in range(3)]
        actions.sign_out_everywhere(user=alice)
        assert [caller_of_session(session_key=key) for key in sessions] == [None, None, None]
        assert caller_of_session(session_key=signed_in(alice)) is not None

    def test_ends_with_a_new_password(self, profile, alice):
        key = signed_in(alice)
        alice.set_password("something else entirely")
        alice.save()
        assert caller_of_session(session_key=key) is None

    def test_ends_when_the_person_is_disabled_or_leaves(self, profile, alice):
        key = signed_in(alice)
        User.objects.update(is_active=False)
        assert caller_of_session(session_key=key) is None
        User.objects.update(is_active=True)
        assert caller_of_session(session_key=key) is not None
        Membership.objects.all().delete()
        assert caller_of_session(session_key=key) is None

    @pytest.mark.parametrize("key", ["", "x", "0" * 32, "\x00", "é" * 40])
    def test_is_none_for_a_cookie_that_is_none(self, profile, alice, key):
        assert caller_of_session(session_key=key) is None

    def test_ends_at_the_logout(self, profile, alice):
        key = signed_in(alice)
        SessionStore(key).flush()
        assert caller_of_session(session_key=key) is None

    def test_names_a_profile_of_the_person_only(self, profile, alice):
        key = signed_in(alice)
        factories.profile("other")
        assert caller_of_session(session_key=key, profile_name="other") is None


class TestThrottling:
    def test_five_tries_are_free_then_the_wait_doubles_up_to_a_quarter_of_an_hour(self):
        assert [login_block_ms(n) for n in range(5)] == [0] * 5
        assert [login_block_ms(n) // MINUTE for n in (5, 6, 7, 8, 9, 50)] == [1, 2, 4, 8, 15, 15]

    def test_a_blocked_account_waits_and_is_told_how_long(self):
        for _ in range(5):
            actions.check_login_allowed(subjects=["user:alice"], now_ms=0)
            actions.note_login(subjects=["user:alice"], succeeded=False, now_ms=0)
        with pytest.raises(LoginThrottled) as caught:
            actions.check_login_allowed(subjects=["user:alice"], now_ms=MINUTE - 1)
        assert (caught.value.own_status, caught.value.extra["retry_after_s"]) == (429, 1)
        actions.check_login_allowed(subjects=["user:alice"], now_ms=MINUTE)
        actions.check_login_allowed(subjects=["user:bob"], now_ms=0)

    def test_an_address_is_blocked_whatever_the_name(self):
        for number in range(5):
            actions.note_login(subjects=[f"user:{number}", "address:1.2.3.4"], succeeded=False, now_ms=0)
        with pytest.raises(LoginThrottled):
            actions.check_login_allowed(subjects=["user:new", "address:1.2.3.4"], now_ms=0)

    def test_a_good_one_forgets_the_bad_ones(self):
        for _ in range(4):
            actions.note_login(subjects=["user:alice"], succeeded=False, now_ms=0)
        actions.note_login(subjects=["user:alice"], succeeded=True, now_ms=0)
        for _ in range(4):
            actions.note_login(subjects=["user:alice"], succeeded=False, now_ms=0)
        actions.check_login_allowed(subjects=["user:alice"], now_ms=0)

    def test_an_hour_without_a_failure_begins_anew(self):
        for moment in (0, 0, 0, 0, 3_600_001):
            actions.note_login(subjects=["user:alice"], succeeded=False, now_ms=moment)
        actions.check_login_allowed(subjects=["user:alice"], now_ms=3_600_001)


class TestMembers:
    def test_an_owner_gives_a_role(self, profile, alice):
        factories.person("bob")
        owner = factories.human(alice, of=profile)
        assert actions.set_member(by=owner, username="bob", role="viewer").role == "viewer"
        assert actions.set_member(by=owner, username="bob", role="decider").role == "decider"
        assert Membership.objects.count() == 2

    @pytest.mark.parametrize("role", ["decider", "viewer"])
    def test_nobody_else_does(self, profile, alice, role):
        bob = factories.person("bob", default=role)
        with pytest.raises(Denied):
            actions.set_member(by=factories.human(bob, of=profile), username="bob", role="owner")

    def test_an_unknown_person_or_role_is_refused(self, profile, alice):
        owner = factories.human(alice, of=profile)
        with pytest.raises(MemberNotFound):
            actions.set_member(by=owner, username="nobody", role="viewer")
        with pytest.raises(InvalidField):
            actions.set_member(by=owner, username="alice", role="king")

    def test_the_last_owner_stays(self, profile, alice):
        owner = factories.human(alice, of=profile)
        with pytest.raises(LastOwner):
            actions.set_member(by=owner, username="alice", role="viewer")
        with pytest.raises(LastOwner):
            actions.remove_member(by=owner, user_id=alice.pk, now_ms=0)

    def test_who_leaves_takes_the_tokens_along(self, profile, alice):
        bob = factories.person("bob", default="decider")
        token, _ = factories.token(bob, of=profile)
        actions.remove_member(by=factories.human(bob, of=profile), user_id=bob.pk, now_ms=7)
        token.refresh_from_db()
        assert token.revoked_at_ms == 7
        assert not Membership.objects.filter(user=bob).exists()


class TestProfiles:
    def test_a_name_is_taken_once(self, profile):
        with pytest.raises(Conflict):
            factories.profile()

    @pytest.mark.parametrize("name", ["", "A", "a b", "../x", "x" * 65, "é"])
    def test_a_name_is_plain(self, db, name):
        with pytest.raises(InvalidField):
            factories.profile(name)

    @pytest.mark.parametrize("zone", ["", "Nowhere/Land", "../etc/passwd", "UTC\x00"])
    def test_a_zone_is_known(self, db, zone):
        with pytest.raises(InvalidField):
            factories.profile(zone=zone)

    def test_only_an_owner_changes_policies_and_each_change_is_a_version(self, profile, alice):
        owner = factories.human(alice, of=profile)
        actions.set_policies(by=owner, policies={"update": "ask"})
        actions.set_policies(by=owner, policies={"update": "ask", "create": "ask"})
        row = Profile.objects.get()
        assert row.policies == {"update": "ask", "create": "ask"}
        assert row.policy_versions == {"update": 1, "create": 1}
        bob = factories.person("bob", default="decider")
        with pytest.raises(Denied):
            actions.set_policies(by=factories.human(bob, of=profile), policies={"update": "allow"})

    def test_delete_is_no_policy(self, profile, alice):
        with pytest.raises(InvalidField):
            actions.set_policies(by=factories.human(alice, of=profile), policies={"delete": "allow"})

    def test_the_command_makes_one_with_its_owner(self, db, capsys):
        factories.person("bob")
        call_command("create_profile", "home", owner="bob", time_zone="Asia/Shanghai")
        assert Membership.objects.get().role == "owner"
        assert Profile.objects.get().time_zone == "Asia/Shanghai"


class TestADisabledPerson:
    def test_is_signed_out_at_once_and_may_come_back(self, profile, alice):
        key = signed_in(alice)
        assert caller_of_session(session_key=key) is not None
        actions.set_active(user=alice, active=False)
        assert caller_of_session(session_key=key) is None
        call_command("disable_user", "alice", "--enable")
        alice.refresh_from_db()
        assert alice.is_active
        assert caller_of_session(session_key=key) is None, "the old sign-in stays ended"


class TestMakingATokenInThePage:
    def test_is_the_owner_s_right(self, profile, alice):
        bob = factories.person("bob", default="decider")
        wanted = {"user": bob, "profile": profile, "label": "x", "scopes": ["calendar.read"]}
        with pytest.raises(Denied):
            actions.create_token(**wanted, by=factories.human(bob, of=profile))
        token, _ = actions.create_token(**wanted, by=factories.human(alice, of=profile))
        assert token.user == bob


class TestMakingAPerson:
    def test_prints_a_password_that_signs_in(self, profile, capsys):
        call_command("create_user", "bob", profile="default", role="viewer")
        bob = User.objects.get(username="bob")
        assert bob.check_password(capsys.readouterr().out.strip())
        assert (bob.is_staff, bob.is_superuser) == (False, False)
        assert Membership.objects.get(user=bob).role == "viewer"

    def test_can_be_an_operator_of_no_profile(self, profile):
        call_command("create_user", "olga", operator=True)
        assert User.objects.get(username="olga").is_superuser
        assert not Membership.objects.filter(user__username="olga").exists()

    def test_is_refused_for_a_taken_or_odd_name_and_an_unknown_profile(self, profile, alice):
        for name in ("alice", "", "a b", "x" * 151, "a/b"):
            with pytest.raises(CommandError):
                call_command("create_user", name)
        with pytest.raises(CommandError):
            call_command("create_user", "bob", profile="nowhere")
        assert User.objects.count() == 1


class TestAPersonsOwnSettings:
    def test_do_not_undo_what_happened_meanwhile(self, profile, alice):
        stale = User.objects.get(pk=alice.pk)
        actions.sign_out_everywhere(user=alice)
        actions.set_person(user=stale, language="zh-hans")
        alice.refresh_from_db()
        assert (alice.session_epoch, alice.language) == (1, "zh-hans")


class TestLabels:
    def test_are_the_names_behind_references(self, profile, alice):
        token, _ = factories.token(alice, of=profile)
        refs = {f"user:{alice.pk}", f"token:{token.pk}", "token:gone", "server", "user:x"}
        assert labels_of(refs=refs) == {f"user:{alice.pk}": "alice", f"token:{token.pk}": "Agent"}
