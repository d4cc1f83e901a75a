"""Signing in and out."""

import pytest
from django.contrib.sessions.models import Session

from apps.accounts.models import AccessToken, LoginFailure
from tests.web.conftest import PASSWORD, browser, send


def test_a_wrong_name_and_a_wrong_password_look_alike(house):
    pages = []
    for name in ("alice", "nobody"):
        answer = send(browser(), "/login/", {"username": name, "password": "wrong"})
        pages.append(answer.content.decode().replace(name, "X").partition("<form")[0])
        assert answer.status_code == 200
    strip = [page.partition('csrf-token" content="')[0] + page.partition("</title>")[2] for page in pages]
    assert strip[0] == strip[1]


def test_a_session_that_somebody_planted_is_not_the_one_that_is_signed_in(house):
    client = browser()
    client.session["planted"] = True
    client.session.save()
    before = client.session.session_key
    send(client, "/login/", {"username": "alice", "password": PASSWORD})
    assert client.session.session_key != before
    assert client.get("/inbox/").status_code == 200


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_nobody_is_sent_to_another_server(house, target):
    answer = send(browser(), "/login/", {"username": "alice", "password": PASSWORD, "next": target})
    assert answer["Location"] == "/inbox/"


def test_the_sixth_wrong_try_has_to_wait_even_with_the_right_password(house):
    client = browser()
    for _ in range(5):
        send(client, "/login/", {"username": "alice", "password": "wrong"})
    answer = send(client, "/login/", {"username": "alice", "password": PASSWORD})
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 60
    # The address waits too, whatever the account.
    assert send(client, "/login/", {"username": "bob", "password": PASSWORD}).status_code == 429


def test_a_good_sign_in_does_not_clear_the_address(house):
    client = browser()
    send(client, "/login/", {"username": "alice", "password": "wrong"})
    send(client, "/login/", {"username": "bob", "password": PASSWORD})
    assert LoginFailure.objects.count() == 2


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "null", "sec-fetch-site": "same-origin"}, 302),
        ({"origin": "null", "sec-fetch-site": "cross-site"}, 403),
        ({"origin": "null", "sec-fetch-site": "same-site"}, 403),
        ({"origin": "https://evil.example", "sec-fetch-site": "cross-site"}, 403),
    ],
)
def test_a_form_counts_only_from_our_own_page(house, headers, status):
    client = browser()
    assert send(client, "/login/", {"username": "alice", "password": PASSWORD}, **headers).status_code == status


def test_a_form_without_its_token_is_refused(house):
    client = browser("alice")
    headers = {"origin": "null", "sec-fetch-site": "same-origin"}
    assert client.post("/settings/sign-out-everywhere", {}, headers=headers).status_code == 403
    assert client.get("/inbox/").status_code == 200


def test_signing_out_ends_the_session(house):
    client = browser("alice")
    key = client.session.session_key
    assert client.get("/logout/").status_code == 405
    send(client, "/logout/", {})
    assert not Session.objects.filter(pk=key).exists()
    assert client.get("/inbox/")["Location"] == "/login/?next=/inbox/"


def test_another_password_ends_the_other_sign_ins(house):
    here, there = browser("alice"), browser("alice")
    new = "a much longer one"
    send(here, "/settings/password", {"old": PASSWORD, "new": new, "again": new})
    assert here.get("/inbox/").status_code == 200
    assert there.get("/inbox/").status_code == 302
    house["alice"].refresh_from_db()
    assert house["alice"].check_password(new)


def test_the_present_password_cannot_be_guessed_at_speed(house):
    client, new = browser("alice"), "a much longer one"
    for _ in range(12):
        send(client, "/settings/password", {"old": "a guess", "new": new, "again": new})
    send(client, "/settings/password", {"old": PASSWORD, "new": new, "again": new})
    assert "Too many failed tries" in client.get("/settings/").content.decode()
    house["alice"].refresh_from_db()
    assert house["alice"].check_password(PASSWORD)
    assert send(browser(), "/login/", {"username": "alice", "password": PASSWORD}).status_code == 302, (
        "signing in is free"
    )


@pytest.mark.parametrize("days", ["0", "00", "-1", "soon", "1.5", "²"])
def test_a_token_that_would_never_begin_or_never_end_by_mistake_is_not_made(house, days):
    client = browser("alice")
    before = AccessToken.objects.count()
    send(client, "/tokens/", {"label": "agent", "scope": "calendar.read", "days": days})
    assert "lasts a day or longer" in client.get("/tokens/").content.decode()
    assert AccessToken.objects.count() == before


def test_signing_out_everywhere_ends_all(house):
    here, there = browser("alice"), browser("alice")
    send(here, "/settings/sign-out-everywhere", {})
    assert [client.get("/inbox/").status_code for client in (here, there)] == [302, 302]


def test_the_browsers_zone_is_kept_once(house):
    client = browser("alice")
    for zone in ("Asia/Tokyo", "Europe/Paris"):
        send(client, "/settings/zone", {"time_zone": zone})
    house["alice"].refresh_from_db()
    assert house["alice"].time_zone == "Asia/Tokyo"
