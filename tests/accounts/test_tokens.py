"""Tokens: stored as a hash, bound to scopes, profile and time, ended at once."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from apps.accounts import actions
from apps.accounts.models import AccessToken, Membership, User
from apps.accounts.queries import DisabledUser, caller_of_token
from apps.accounts.rules import (
    SCOPES,
    MemberNotFound,
    ProfileUnavailable,
    TokenNotFound,
    check_decider,
    check_owner,
    check_scope,
    new_secret,
    secret_hash,
)
from apps.core.errors import Denied, InvalidField
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def profile():
    return factories.profile()


@pytest.fixture
def alice(profile):
    return factories.person("alice", default="owner")


class TestASecret:
    def test_is_nowhere_in_the_database(self, profile, alice):
        token, secret = factories.token(alice, of=profile)
        assert token.secret_hash == secret_hash(secret)
        with connection.cursor() as cursor:
            cursor.execute("select * from accounts_accesstoken")
            assert secret not in str(cursor.fetchall())

    def test_has_256_random_bits(self):
        assert len({new_secret() for _ in range(100)}) == 100
        assert len(new_secret()) >= len("sayso_") + 43

    def test_is_printed_once_by_the_command(self, profile, alice, capsys):
        call_command("create_token", user="alice", profile="default", label="Agent", scope=["calendar.read"])
        secret = capsys.readouterr().out.strip()
        assert factories.caller(secret).scopes == {"calendar.read"}


class TestATokenLetsIn:
    def test_as_what_it_was_made_for(self, profile, alice):
        _, secret = factories.token(alice, of=profile, scopes=["calendar.read", "calendar.delete"], session="s1")
        caller = factories.caller(secret)
        assert (caller.kind, caller.role, caller.profile_name, caller.session) == ("agent", "owner", "default", "s1")
        assert caller.scopes == {"calendar.read", "calendar.delete"}
        assert not caller.is_human
        check_scope(by=caller, scope="calendar.delete")
        with pytest.raises(Denied):
            check_scope(by=caller, scope="reminder.delete")

    @pytest.mark.parametrize("secret", ["", "sayso_", "sayso_x", "x" * 5000, "\x00", "é", "\ud800"])
    def test_nobody_with_an_unknown_one(self, profile, alice, secret):
        factories.token(alice, of=profile)
        assert caller_of_token(secret=secret, now_ms=0) is None

    def test_until_it_expires(self, profile, alice):
        _, secret = factories.token(alice, of=profile, expires_at_ms=1000)
        assert caller_of_token(secret=secret, now_ms=999) is not None
        assert caller_of_token(secret=secret, now_ms=1000) is None

    def test_until_it_is_revoked(self, profile, alice):
        token, secret = factories.token(alice, of=profile)
        owner = factories.human(alice, of=profile)
        actions.revoke_token(token_id=token.pk, by=owner, now_ms=5)
        assert caller_of_token(secret=secret, now_ms=6) is None
        with pytest.raises(TokenNotFound):
            actions.revoke_token(token_id=token.pk, by=owner, now_ms=7)

    def test_not_while_its_person_is_disabled(self, profile, alice):
        _, secret = factories.token(alice, of=profile)
        User.objects.update(is_active=False)
        with pytest.raises(DisabledUser):
            caller_of_token(secret=secret, now_ms=0)

    def test_not_after_its_person_left_the_profile(self, profile, alice):
        _, secret = factories.token(alice, of=profile)
        Membership.objects.all().delete()
        assert caller_of_token(secret=secret, now_ms=0) is None

    def test_with_the_role_that_its_person_has_now(self, profile, alice):
        _, secret = factories.token(alice, of=profile)
        Membership.objects.update(role="viewer")
        with pytest.raises(Denied):
            check_scope(by=factories.caller(secret), scope="calendar.delete")

    @pytest.mark.parametrize("path", ["/api/sessions", "/api/calendars", "/api/calendars/events?q=dentist"])
    def test_to_nothing_by_asking_for_the_head_alone(self, profile, alice, path):
        _, secret = factories.token(alice, of=profile, scopes=["confirmation.read"])
        client = Client(headers={"Authorization": f"Bearer {secret}"})
        assert (client.get(path).status_code, client.head(path).status_code) == (403, 403)

    def test_into_its_own_profile_only(self, profile, alice):
        factories.profile("other")
        Membership.objects.create(user=alice, profile=profile.__class__.objects.get(name="other"), role="owner")
        _, agent = factories.token(alice, of=profile)
        _, own = factories.token(alice, of=profile, kind="person")
        with pytest.raises(ProfileUnavailable):
            caller_of_token(secret=agent, now_ms=0, profile_name="other")
        found = caller_of_token(secret=own, now_ms=0, profile_name="other")
        assert (found[0].profile_name, found[0].kind) == ("other", "person_token")
        with pytest.raises(ProfileUnavailable):
            caller_of_token(secret=own, now_ms=0, profile_name="nowhere")


class TestMakingATokenIsRefused:
    def test_with_an_unknown_scope(self, profile, alice):
        with pytest.raises(InvalidField, match="scopes"):
            factories.token(alice, of=profile, scopes=["calendar.everything"])

    def test_for_somebody_outside_the_profile(self, profile, alice):
        with pytest.raises(MemberNotFound):
            factories.token(factories.person("bob"), of=profile)

    def test_by_a_token(self, profile, alice):
        for kind in ("agent", "person"):
            _, secret = factories.token(alice, of=profile, kind=kind)
            with pytest.raises(Denied):
                factories.token(alice, of=profile, by=factories.caller(secret))

    def test_by_a_viewer(self, profile, alice):
        vera = factories.person("vera", default="viewer")
        with pytest.raises(Denied):
            factories.token(vera, of=profile, by=factories.human(vera, of=profile))

    def test_by_somebody_of_another_profile(self, profile, alice):
        other = factories.profile("other")
        charlie = factories.person("charlie", other="owner")
        with pytest.raises((Denied, MemberNotFound)):
            factories.token(charlie, of=profile, by=factories.human(charlie, of=other))


class TestRoles:
    @pytest.mark.parametrize("role", ["owner", "decider", "viewer"])
    def test_decide_who_may(self, profile, alice, role):
        someone = factories.person("someone", default=role)
        caller = factories.human(someone, of=profile)
        may = {"owner": check_owner, "decider": check_decider}
        for name, check in may.items():
            if role == "owner" or (role == name == "decider"):
                check(by=caller)
            else:
                with pytest.raises(Denied):
                    check(by=caller)

    def test_a_viewer_only_reads(self, profile, alice):
        caller = factories.human(factories.person("vera", default="viewer"), of=profile)
        for scope in SCOPES:
            if scope.endswith(".read"):
                check_scope(by=caller, scope=scope)
            else:
                with pytest.raises(Denied):
                    check_scope(by=caller, scope=scope)

    @pytest.mark.parametrize("kind", ["agent", "person"])
    def test_no_token_is_a_decider_or_an_owner(self, profile, alice, kind):
        _, secret = factories.token(alice, of=profile, kind=kind)
        for check in (check_owner, check_decider):
            with pytest.raises(Denied):
                check(by=factories.caller(secret))

    def test_only_an_owner_ends_somebody_else_s_token(self, profile, alice):
        bob = factories.person("bob", default="decider")
        token, _ = factories.token(alice, of=profile)
        with pytest.raises(Denied):
            actions.revoke_token(token_id=token.pk, by=factories.human(bob, of=profile), now_ms=0)
        own, _ = factories.token(bob, of=profile)
        actions.revoke_token(token_id=own.pk, by=factories.human(bob, of=profile), now_ms=0)
        assert AccessToken.objects.filter(revoked_at_ms=None).count() == 1
