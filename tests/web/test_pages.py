"""What pages show to whom, and what they carry."""

import re

import pytest

from apps.accounts.models import AccessToken, Membership
from apps.confirmations.actions import submit
from apps.core import contracts
from apps.sessions.actions import create_session
from tests import factories
from tests.factories.contracts import ERASE
from tests.web.conftest import PASSWORD, browser, send

PAGES = ["/inbox/", "/calendar/", "/reminders/", "/sessions/", "/schedules/", "/captures/", "/tokens/", "/settings/"]


@pytest.fixture
def asked(house, monkeypatch):
    """A card in the profile of Alice and Bob."""
    monkeypatch.setitem(contracts._contracts, ERASE.name, ERASE)
    _, secret = factories.token(house["alice"], of=house["profile"])
    factories.workspace("old", of=house["profile"])
    outcome = submit(
        by=factories.caller(secret), contract=ERASE, arguments={"slug": "old"}, expires_ms=60_000, now_ms=10**12
    )
    return outcome.confirmation_id


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_for_people_who_are_signed_in(house, path):
    assert browser().get(path)["Location"] == f"/login/?next={path}"
    answer = browser("alice").get(path)
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["X-Frame-Options"] == "DENY"
    policy = answer["Content-Security-Policy"]
    nonces = re.findall(r"script-src 'nonce-([^']+)'", policy)
    assert len(nonces) == 1
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    scripts = re.findall(r"<script (?![^>]*application/json)[^>]*>", answer.content.decode())
    assert scripts != []
    assert all(f'nonce="{nonces[0]}"' in script for script in scripts)


def test_a_card_that_is_hidden_and_one_that_is_missing_look_alike(house, asked):
    assert browser("bob").get(f"/inbox/{asked}").status_code == 200
    charlie = browser("charlie")
    pages = {name: charlie.get(f"/inbox/{name}") for name in (asked, "0" * 32)}
    assert [page.status_code for page in pages.values()] == [404, 404]
    texts = {re.sub(rf"{name}|[0-9A-Za-z_+/-]{{22,}}=*", "", page.content.decode()) for name, page in pages.items()}
    assert len(texts) == 1


def test_a_session_that_is_hidden_and_one_that_is_missing_look_alike(house):
    owner = factories.human(house["alice"], of=house["profile"])
    row = create_session(by=owner, ref="trip-shown", title="Trip\u202e", now_ms=10**12)
    page = browser("alice").get("/sessions/trip-shown").content.decode()
    assert "<title>Trip[U+202E] · Sayso</title>" in page
    assert f'data-session-key="{row.pk}"' in page
    row.workspace.restricted = True
    row.workspace.save()
    bob = browser("bob")
    pages = {name: bob.get(f"/sessions/{name}") for name in ("trip-shown", "trip-never")}
    assert [answer.status_code for answer in pages.values()] == [404, 404]
    texts = {re.sub(rf"{name}|[0-9A-Za-z_+/-]{{22,}}=*", "", page.content.decode()) for name, page in pages.items()}
    assert len(texts) == 1
    assert ">default</option>" not in bob.get("/sessions/").content.decode()


def test_a_viewer_sees_no_cards(house, asked):
    Membership.objects.filter(user=house["bob"]).update(role="viewer")
    bob = browser("bob")
    assert bob.get(f"/inbox/{asked}").status_code == 404
    assert "Nothing waits for you" in bob.get("/inbox/").content.decode()


def test_a_receipt_is_for_the_people_of_its_profile(house):
    assert browser("alice").get("/receipts/none").status_code == 404


def test_only_owners_change_members_and_policies(house):
    bob = browser("bob")
    send(bob, "/settings/members", {"username": "charlie", "role": "owner"})
    send(bob, "/settings/profile", {"policy_list": "ask"})
    assert not Membership.objects.filter(user=house["charlie"], profile=house["profile"]).exists()
    house["profile"].refresh_from_db()
    assert house["profile"].policies.get("list") != "ask"
    alice = browser("alice")
    send(alice, "/settings/members", {"username": "charlie", "role": "viewer"})
    send(alice, "/settings/profile", {"policy_list": "ask"})
    house["profile"].refresh_from_db()
    assert house["profile"].policies["list"] == "ask"
    send(alice, f"/settings/members/{house['charlie'].pk}/remove", {})
    assert not Membership.objects.filter(user=house["charlie"], profile=house["profile"]).exists()


def test_the_last_owner_stays(house):
    send(browser("alice"), f"/settings/members/{house['alice'].pk}/remove", {})
    assert Membership.objects.get(user=house["alice"]).role == "owner"


def test_a_viewer_makes_no_token_and_nobody_ends_a_foreign_one(house):
    Membership.objects.filter(user=house["bob"]).update(role="viewer")
    send(browser("bob"), "/tokens/", {"label": "x", "scope": ["calendar.read"]})
    assert not AccessToken.objects.exists()
    token, _ = factories.token(house["charlie"], of=house["elsewhere"])
    send(browser("alice"), f"/tokens/{token.pk}/end", {})
    token.refresh_from_db()
    assert token.revoked_at_ms is None


def test_the_language_is_the_persons_own(house):
    client = browser("alice")
    assert '<html lang="en"' in client.get("/inbox/").content.decode()
    send(client, "/language/", {"language": "zh-hans"})
    page = client.get("/inbox/").content.decode()
    assert '<html lang="zh-hans"' in page
    assert "收件箱" in page
    assert client.cookies["django_language"].value == "zh-hans"
    # Another person on the same server is not spoken to in it.
    assert '<html lang="en"' in browser("bob").get("/inbox/").content.decode()


def test_a_person_with_several_profiles_chooses_one(house):
    Membership.objects.create(user=house["alice"], profile=house["elsewhere"], role="viewer")
    client = browser("alice")
    send(client, "/profile/", {"profile": "elsewhere"})
    assert "Tokens of elsewhere" in client.get("/tokens/").content.decode()
    send(client, "/profile/", {"profile": "never heard of"})
    assert "Tokens of elsewhere" in client.get("/tokens/").content.decode()


def test_health_needs_no_sign_in(db):
    client = browser()
    assert [client.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]


def test_health_is_told_under_every_name_and_a_page_is_not(db):
    """A container's probe asks 127.0.0.1, whatever the public name is."""
    elsewhere = browser(host="10.0.0.7:8000")
    assert [elsewhere.get(path).status_code for path in ("/healthz", "/readyz", "/login/")] == [200, 200, 400]


def test_the_admin_shows_every_record_and_changes_none(house):
    from django.contrib import admin

    house["alice"].is_staff = house["alice"].is_superuser = True
    house["alice"].save()
    alice = browser("alice")
    assert browser().get("/admin/")["Location"].startswith("/admin/login/")
    assert browser().get("/admin/login/")["Location"].startswith("/login/?next=/admin/")
    assert browser("bob").get("/admin/login/").status_code == 403
    names = {model._meta.app_label for model in admin.site._registry}
    assert {"accounts", "ledger", "confirmations", "agent_sessions", "devices", "calendars", "captures"} <= names
    for model, shown in admin.site._registry.items():
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert alice.get(path).status_code == 200, path
        assert "delete_selected" not in shown.get_actions(alice.get(path).wsgi_request)
        assert [alice.get(f"{path}add/").status_code, send(alice, f"{path}1/delete/", {"post": "yes"}).status_code] in (
            [403, 403],
            [403, 302],
        )
    user = f"/admin/accounts/user/{house['alice'].pk}/"
    page = alice.get(f"{user}change/").content.decode()
    assert "md5$" not in page
    assert send(alice, f"{user}delete/", {"post": "yes"}).status_code == 403
    assert PASSWORD not in page


def test_the_admin_disables_people_but_not_oneself(house):
    from apps.accounts.models import User

    User.objects.filter(username__in=["alice", "bob"]).update(is_staff=True)
    User.objects.filter(username="alice").update(is_superuser=True)
    alice, bob = browser("alice"), browser("bob")
    chosen = {"_selected_action": [house["alice"].pk, house["bob"].pk]}
    path = "/admin/accounts/user/"
    assert send(bob, path, {**chosen, "action": "disable"}).status_code == 403
    send(alice, path, {**chosen, "action": "disable"})
    assert dict(User.objects.values_list("username", "is_active")) == {"alice": True, "bob": False, "charlie": True}
    assert bob.get("/inbox/").status_code == 302
    send(alice, path, {**chosen, "action": "enable"})
    assert User.objects.get(username="bob").is_active


UNKNOWN_ZONE = [("en", "This is not a known time zone."), ("zh-hans", "没有这个时区。")]


@pytest.mark.parametrize(("language", "sentence"), UNKNOWN_ZONE)
def test_a_form_that_fails_says_so_on_its_own_page(house, language, sentence):
    house["alice"].language = language
    house["alice"].save()
    client = browser("alice")
    answer = send(client, "/settings/person", {"time_zone": "Mars/Base"})
    assert answer.url == "/settings/"
    assert sentence in client.get(answer.url).content.decode()


def test_languages_are_offered_under_their_own_names(house):
    client = browser("alice")
    send(client, "/settings/person", {"language": "zh-hans"})
    page = client.get("/settings/").content.decode()
    assert page.count(">English</option>") == page.count(">简体中文</option>") == 2
